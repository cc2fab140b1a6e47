// What the text of kernels includes.
#pragma once

#include "diag/source.h"

namespace cgc {

/// Adds to the inputs of `files` what their `#include` lines name in the folders where kernels'
/// compilers look, and what those files include. A line in a comment or under `#if` counts; a name
/// that a macro makes is not seen.
void add_included_files(SourceFiles &files);

} // namespace cgc
