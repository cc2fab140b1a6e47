#include "bindings.h"

#include <algorithm>

namespace cgrt {

format::KernelId find_external_kernel(const format::Program &program, const std::string &name,
                                      const std::string &what) {
  const auto found =
      std::find_if(program.kernels.begin(), program.kernels.end(),
                   [&](const format::Kernel &it) { return it.external && it.name == name; });
  if (found == program.kernels.end()) {
    throw Error(ErrorCode::Usage, "there is no " + what + " " + name);
  }
  return {static_cast<std::uint32_t>(found - program.kernels.begin())};
}

void require_kernel(const format::Program &program, const Bindings &bindings,
                    const LoadedCode &code, const format::Node &node) {
  const format::KernelId id = format::external_kernel_of(program, node);
  if (!id.valid()) {
    return;
  }
  const Bindings::Kernel &bound = bindings.kernels[id.index];
  if (bindings.on_host ? bound.host == nullptr && !code.holds(id) : bound.function == nullptr) {
    const std::string &name = program[id].name;
    throw Error(ErrorCode::Usage,
                "kernel " + name +
                    " is not bound; the program that embeds cgrt does that with Instance::" +
                    (bindings.on_host ? "bind_host" : "bind_kernel") + "(\"" + name + "\", …)",
                program.locate(node.place));
  }
}

} // namespace cgrt
