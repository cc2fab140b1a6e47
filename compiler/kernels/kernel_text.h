// The source text that both kernel compilers are given.
#pragma once

#include "kernels/code_unit.h"

#include <string>
#include <string_view>

namespace cgc {

/// The C++ spelling of a type in kernel code: "int", "long long", "__half".
std::string_view cpp_spelling(cgrt::ScalarType type);

/// Whether it is f16 or bf16, which are classes in kernel code.
bool is_small_float(cgrt::ScalarType type);

/// Whether a parameter or a text of the unit has this type.
bool uses_type(const CodeUnit &unit, cgrt::ScalarType type);

/// Whether its kernels are given graphs, or its text speaks of launching some.
bool launches_graphs(const CodeUnit &unit);

/// Whether a text of the unit includes a file.
bool includes_files(const CodeUnit &unit);

/// For the head of a unit that is no `.cu` file: type names (`i32`, `u64`, …; `f16` and `bf16` only
/// where the unit uses them, since they need the target's header), the scope's constants and, for
/// `cuda { }`, its file-scope blocks.
std::string shared_text(const CodeUnit &unit);

/// The `declaration` of a body that is CUDA C++.
inline constexpr std::string_view device_body = "static __device__ __forceinline__ void body(";

/// One kernel's body as a function in a namespace of its own; `declaration` is "static void body("
/// with what stands before the kernel's parameters:
///   namespace cgk_cg_saxpy_f32 {
///   using T = float;
///   #line 5 "/saxpy.cgraph"
///   static void body(int n, float a, const float *__restrict__ x, …) {
///   #line 9 "/saxpy.cgraph"
///   …
///   }
///   }
/// The `#line`s make the compilers' errors name the `.cgraph` line; columns are the file's, too.
/// Macros that the body defines end with it.
std::string body_function(const CodeUnit &unit, cgrt::format::KernelId kernel,
                          std::string_view declaration);

/// A `.cu` file's text, which names its own lines, then for each kernel in a line of its own a
/// check that the file has the function as it is declared:
///   using cgk_cg_scale = void (*)(int, const float *, float *); static_assert(…);
std::string source_text(const CodeUnit &unit);

/// A `source` kernel's function: "&scale<float, 4>", type parameters replaced.
std::string function_address(const CodeUnit &unit, cgrt::format::KernelId kernel);

/// `#line` for what is generated around a kernel, so that errors in it name the kernel's line.
std::string line_of_kernel(const CodeUnit &unit, cgrt::format::KernelId kernel);

/// A file's name as `#line` gives it, and as the compilers' logs repeat it. A relative name gets a
/// leading `/`: compilers complete relative names in debug information with the working directory,
/// and equal inputs must give equal images.
std::string line_name(std::string_view file_name);

/// The name in lines of an instance of a generic kernel, in a unit that names instances.
std::string line_name(std::string_view file_name, const cgrt::format::Kernel &instance);

/// The folder where the unit's includes are looked for first: that of its file.
std::string include_folder(const CodeUnit &unit);

/// "const float *" for an `in` buffer, "int" for a scalar.
std::string parameter_type(const cgrt::format::KernelParam &param);

/// "int n, float a, const float *__restrict__ x, float *__restrict__ y"; without the `__restrict__`
/// for a kernel whose arguments may overlap.
std::string parameter_list(const cgrt::format::Kernel &kernel);

/// "void (*)(int, float, const float *, float *)"
std::string function_type(const cgrt::format::Kernel &kernel);

/// "n, a, x, y"
std::string argument_list(const cgrt::format::Kernel &kernel);

} // namespace cgc
