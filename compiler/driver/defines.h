// `-D NAME=VALUE`.
#pragma once

#include "sema/sema.h"

#include <llvm/Support/Error.h>

#include <string>
#include <vector>

namespace cgc {

/// VALUE is a number with an optional sign, true or false; NAME alone means 1, as for C compilers.
llvm::Expected<Defines> parse_defines(const std::vector<std::string> &texts);

/// An error for a name that is not a const of the file.
llvm::Error check_defines(const Defines &defines, const ast::File &file);

} // namespace cgc
