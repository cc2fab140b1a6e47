// Names and types: every error that does not depend on the parameters' values or on what stands
// before a statement.
#pragma once

#include "ast/ast.h"
#include "diag/diagnostics.h"
#include "sema/checked_file.h"

#include <map>
#include <string>

namespace cgc {

/// Values given on the command line for file-scope consts of the main file.
using Defines = std::map<std::string, ast::Value>;

/// The trees must outlive the result. Warns of names that nothing uses.
CheckedProgram check(const ModuleTrees &trees, const SourceFiles &files, const Defines &defines,
                     Diagnostics &diagnostics);

} // namespace cgc
