// Names and types: every error that does not depend on the parameters' values or on what stands
// before a statement.
#pragma once

#include "ast/ast.h"
#include "diag/diagnostics.h"
#include "sema/checked_file.h"

#include <map>
#include <string>

namespace cgc {

/// Values given on the command line for file-scope consts.
using Defines = std::map<std::string, ast::Value>;

/// `file` must outlive the result.
CheckedFile check(const ast::File &file, const Defines &defines, Diagnostics &diagnostics);

} // namespace cgc
