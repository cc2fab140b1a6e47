// Parse tree to syntax tree.
#pragma once

#include "ast/ast.h"
#include "diag/diagnostics.h"

#include "CGraphParser.h"

namespace cgc {

/// Leaves out what has a syntax error in it, and poisons the names in such declarations.
ast::File build_ast(CGraphParser::FileContext &tree, const SourceFiles &files, FileId file,
                    Diagnostics &diagnostics);

} // namespace cgc
