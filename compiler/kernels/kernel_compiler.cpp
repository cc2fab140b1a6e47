#include "kernels/kernel_compiler.h"

#include "kernels/nvrtc.h"
#include "kernels/targets.h"

namespace cgc {

void compile_kernels(cgrt::format::Program &program, const KernelUnit &unit,
                     const KernelCompileOptions &options, Diagnostics &diagnostics) {
  if (program.kernels.empty()) {
    return;
  }
  const std::size_t errors_before = diagnostics.error_count();
  if (options.cuda) {
    compile_for_cuda(program, unit, options.architectures, diagnostics);
  }
  // The second compiler would report the first one's errors again in other words.
  if (options.host && diagnostics.error_count() == errors_before) {
    compile_for_host(program, unit, diagnostics);
  }
}

bool cuda_compiler_available(std::string *why_not) {
  llvm::Expected<Nvrtc> nvrtc = Nvrtc::load();
  if (nvrtc) {
    return true;
  }
  const std::string why = llvm::toString(nvrtc.takeError());
  if (why_not != nullptr) {
    *why_not = why;
  }
  return false;
}

} // namespace cgc
