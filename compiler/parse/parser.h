// Text to syntax tree.
#pragma once

#include "ast/ast.h"
#include "diag/diagnostics.h"

namespace cgc {

/// Reports every syntax error. The tree holds all declarations and statements without one.
ast::File parse(const SourceFiles &files, FileId file, Diagnostics &diagnostics);

} // namespace cgc
