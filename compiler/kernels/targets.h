// The two kernel compilers behind compile_kernels().
#pragma once

#include "kernels/kernel_compiler.h"

namespace cgc {

/// NVRTC, loaded with dlopen. Appends a Cubin and a Ptx image for each architecture.
void compile_for_cuda(cgrt::format::Program &program, const KernelUnit &unit,
                      const std::vector<std::string> &architectures, Diagnostics &diagnostics);

/// The system's C++ compiler. Appends one HostSharedObject image.
void compile_for_host(cgrt::format::Program &program, const KernelUnit &unit,
                      Diagnostics &diagnostics);

} // namespace cgc
