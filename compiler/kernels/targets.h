// The two compilers behind compile_kernels(). Each is prepared, then its runs, which know nothing
// of each other, go on all cores, then their results are taken in a fixed order.
#pragma once

#include "kernels/code_unit.h"

#include <functional>
#include <memory>
#include <vector>

namespace cgc {

/// Code for one kind of device in the making.
class TargetBuild {
public:
  virtual ~TargetBuild() = default;
  /// To be called once each, on any threads, before finish().
  virtual std::vector<std::function<void()>> jobs() = 0;
  /// Appends the images, or reports what went wrong.
  virtual void finish(cgrt::format::Program &program, Diagnostics &diagnostics) = 0;
};

/// NVRTC, loaded with dlopen: a Cubin and a Ptx image of each unit for each architecture, and the
/// kernels' binaries. Null with an error reported where it cannot be used. What is given must
/// outlive the build.
std::unique_ptr<TargetBuild> build_for_cuda(const cgrt::format::Program &program,
                                            const KernelUnit &all,
                                            const std::vector<std::string> &architectures,
                                            Diagnostics &diagnostics);

/// The system's C++ compiler: a HostSharedObject image of each unit.
std::unique_ptr<TargetBuild> build_for_host(const cgrt::format::Program &program,
                                            const KernelUnit &all, Diagnostics &diagnostics);

} // namespace cgc
