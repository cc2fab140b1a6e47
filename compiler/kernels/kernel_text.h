// The source text that both kernel compilers are given.
#pragma once

#include "kernels/kernel_compiler.h"

#include <string>
#include <string_view>

namespace cgc {

/// The C++ spelling of a type in kernel code: "int", "long long", "__half".
std::string_view cpp_spelling(cgrt::ScalarType type);

/// Whether a parameter of the program's kernels or a body's text has this type.
bool uses_type(const cgrt::format::Program &program, const KernelUnit &unit, cgrt::ScalarType type);

/// Type names (`i32`, `u64`, …; `f16` and `bf16` only where a body says them, since they need the
/// target's header) and the file's constants, for the head of the program.
std::string types_and_constants(const KernelUnit &unit);

/// One kernel's body as a device function in a namespace of its own:
///   namespace cgk_cg_saxpy {
///   #line 5 "/saxpy.cgraph"
///   static __device__ __forceinline__ void body(int n, float a, const float *__restrict__ x, …) {
///   #line 9 "/saxpy.cgraph"
///   …
///   }
///   }
/// The `#line`s make the compilers' errors name the `.cgraph` line; columns are the file's, too.
/// Macros that the body defines end with it.
std::string body_function(const cgrt::format::Program &program, cgrt::format::KernelId kernel,
                          const KernelUnit &unit);

/// `#line` for what is generated around a kernel, so that errors in it name the kernel's line.
std::string line_of_kernel(const KernelSource &source, const SourceFiles &files);

/// A file's name as `#line` gives it, and as the compilers' logs repeat it. A relative name gets a
/// leading `/`: compilers complete relative names in debug information with the working directory,
/// and equal inputs must give equal images.
std::string line_name(std::string_view file_name);

/// "int n, float a, const float *__restrict__ x, float *__restrict__ y"
std::string parameter_list(const cgrt::format::Kernel &kernel);

/// Every kernel of the program.
std::vector<cgrt::format::KernelId> all_kernels(const cgrt::format::Program &program);

/// "n, a, x, y"
std::string argument_list(const cgrt::format::Kernel &kernel);

} // namespace cgc
