// Graph IR: the program as it will be in the bundle, and the kernels' text beside it.
#pragma once

#include "kernels/kernel_compiler.h"

#include "format/program.h"

#include <string>
#include <vector>

namespace cgc {

struct Module {
  cgrt::format::Program program;
  std::vector<CodeScope> scopes;            ///< one for each source file with kernels
  std::vector<KernelSource> kernel_sources; ///< parallel to Program::kernels
};

/// The program as text: one line for each thing, expressions numbered. docs/ir.md describes it.
std::string print(const Module &module);

} // namespace cgc
