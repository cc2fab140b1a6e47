// CUDA's shared memory in host code. `__shared__` is `static thread_local` there, since all threads
// of a block run on one worker thread; what that cannot say is written into the declarations.
#pragma once

#include <string>
#include <string_view>

namespace cgc {

/// Rewrites declarations with `__shared__` in kernel bodies; each line keeps its number.
///   extern __shared__ float s[];   a reference to the block's dynamic shared memory
///   __shared__ float t[256];       also made undefined (bytes 0xFF) when a block first comes to it
/// Comments, literals and preprocessor directives stay as they are; a declaration made by a macro
/// is not found.
std::string rewrite_shared_memory(std::string_view text);

} // namespace cgc
