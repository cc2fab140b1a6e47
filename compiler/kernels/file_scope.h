// What kernel code may declare at file scope.
#pragma once

#include "kernels/kernel_compiler.h"

#include <string>
#include <string_view>
#include <vector>

namespace cgc {

/// A variable that C++ text defines outside functions.
struct FileScopeVariable {
  std::string name;
  std::size_t offset = 0; ///< of the name in the text
  bool is_shared = false; ///< `__shared__`: each block's own
};

/// The variables of CUDA C++ text that device code could change or that are `__shared__`: neither
/// constants nor `__constant__`; in namespaces and classes too, but not those inside functions.
/// What macros declare is not seen.
std::vector<FileScopeVariable> mutable_variables(std::string_view text);

/// Refuses shared memory that is declared outside of functions: the host device has none there.
void check_file_scope(const CodeText &code, Diagnostics &diagnostics);

/// The mutable `static` variables inside of functions; `inside_function`: the text is one's body.
std::vector<FileScopeVariable> static_locals(std::string_view text, bool inside_function);

/// Refuses mutable variables that outlive a launch, in bodies and in file-scope `cuda { }`: writing
/// one is an effect that no kernel declares.
void check_blocks(const KernelUnit &unit, Diagnostics &diagnostics);

} // namespace cgc
