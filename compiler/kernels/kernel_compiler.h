// The last phase before emission: compiles every kernel of a program for the wanted devices and
// appends the images.
#pragma once

#include "diag/diagnostics.h"
#include "format/program.h"

#include <string>
#include <vector>

namespace cgc {

/// A constant that kernel bodies see as `constexpr TYPE NAME = VALUE;`.
struct ConstantSource {
  std::string name;
  std::string type;  ///< C++ spelling
  std::string value; ///< C++ literal
};

/// The text of one kernel. Parallel to Program::kernels.
struct KernelSource {
  std::string_view body; ///< between the braces of `cuda { }`, exclusive
  SourceRange range;     ///< of `body`
  SourceRange name;      ///< of the kernel's name, for errors that belong to no line
};

struct KernelCompileOptions {
  bool cuda = false;
  bool host = false;
  /// "sm_90" and so on; cubin and PTX are made for each.
  std::vector<std::string> architectures = {"sm_90"};
};

/// What the compilers are given.
struct KernelUnit {
  const SourceFiles &files;
  const std::vector<ConstantSource> &constants;
  const std::vector<KernelSource> &sources;
};

/// Appends images to `program`. What goes wrong is reported at the kernel's line; the program then
/// has no image of that kind. Equal inputs give equal images.
void compile_kernels(cgrt::format::Program &program, const KernelUnit &unit,
                     const KernelCompileOptions &options, Diagnostics &diagnostics);

/// Whether NVRTC can be loaded; the reason otherwise.
bool cuda_compiler_available(std::string *why_not = nullptr);

} // namespace cgc
