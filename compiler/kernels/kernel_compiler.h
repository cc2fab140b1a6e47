// The last phase before emission: compiles every kernel of a program for the wanted devices and
// appends the images.
#pragma once

#include "diag/diagnostics.h"
#include "format/program.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cgc {

/// A constant that kernel bodies see as `constexpr TYPE NAME = VALUE;`.
struct ConstantSource {
  std::string name;
  std::string type;  ///< C++ spelling
  std::string value; ///< C++ literal
};

/// C++ text and where it stands; the text lies in the SourceFiles, or in cgc itself.
struct CodeText {
  std::string_view text;
  SourceRange range;
};

/// What the kernels of one source file share.
struct CodeScope {
  std::vector<ConstantSource> constants;
  std::vector<CodeText> blocks; ///< its file-scope `cuda { }`, between the braces, in order
};

enum class BodyKind : std::uint8_t { Cuda, Source, Binary, External };

/// The code of one kernel. Parallel to Program::kernels.
struct KernelSource {
  std::uint32_t scope = 0; ///< into KernelUnit::scopes
  BodyKind kind = BodyKind::Cuda;
  CodeText body;           ///< of `cuda { }`, between the braces; the whole file for `source`
  std::string cuda_symbol; ///< source: the function, maybe a template instance, "scale<float, 4>";
                           ///< binary: its symbol
  std::vector<std::byte> binary; ///< cubin, PTX or fatbin
  /// Type parameters of a generic kernel's instance.
  std::vector<std::pair<std::string, cgrt::ScalarType>> types;
  std::optional<CodeText> host; ///< `host { }`, between the braces
  SourceRange name;             ///< of the kernel's name, for errors that belong to no line
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
  const std::vector<CodeScope> &scopes;
  const std::vector<KernelSource> &sources;
};

/// Appends images to `program`. What goes wrong is reported at the kernel's line; the program then
/// has no image of that kind. Equal inputs give equal images.
void compile_kernels(cgrt::format::Program &program, const KernelUnit &unit,
                     const KernelCompileOptions &options, Diagnostics &diagnostics);

/// Whether NVRTC can be loaded; the reason otherwise.
bool cuda_compiler_available(std::string *why_not = nullptr);

} // namespace cgc
