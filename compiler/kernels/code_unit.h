// What one run of a compiler is given.
#pragma once

#include "kernels/kernel_compiler.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cgc {

/// A translation unit: kernels whose code a compiler sees together.
struct CodeUnit {
  enum class Kind : std::uint8_t {
    Bodies, ///< `cuda { }` of one scope, behind what that scope shares
    Source, ///< those named in one `.cu` file
    Host,   ///< `host { }` of one scope
  };

  const cgrt::format::Program &program;
  const KernelUnit &all;
  Kind kind = Kind::Bodies;
  std::uint32_t scope = 0;                     ///< a `.cu` file sees nothing of it
  std::vector<cgrt::format::KernelId> kernels; ///< ascending, at least one
  /// Whether `#line`s in a generic kernel's code say which instance it is: for errors, since line
  /// information in an image should name the plain file.
  bool names_instances = false;

  const KernelSource &source(cgrt::format::KernelId kernel) const {
    return all.sources[kernel.index];
  }
  const CodeScope &shared() const { return all.scopes[scope]; }
  /// The `.cu` file of a Source unit, whole.
  const CodeText &file() const { return source(kernels.front()).body; }
};

/// Whether it has instances of generic kernels, so that naming them changes its text.
bool has_instances(const CodeUnit &unit);

/// The most kernels in a unit of bodies: enough for the compiler's start not to count, few enough
/// for several cores to share a program. Not a matter of the machine, so that bundles are the same
/// everywhere.
inline constexpr std::size_t max_kernels_per_unit = 10;

/// What NVRTC compiles: all kernels but external ones and those with a binary.
std::vector<CodeUnit> cuda_units(const cgrt::format::Program &program, const KernelUnit &all);

/// What the system's C++ compiler compiles: `host { }` where a kernel has one, else what NVRTC
/// would.
std::vector<CodeUnit> host_units(const cgrt::format::Program &program, const KernelUnit &all);

} // namespace cgc
