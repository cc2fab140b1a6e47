// A file and what it imports, as syntax trees.
#pragma once

#include "ast/ast.h"
#include "diag/diagnostics.h"

#include <memory>
#include <string>
#include <vector>

namespace cgc {

/// Each file stands before those that import it, so the main file is the last one. Import::module
/// is an index into this. Addresses of trees stay valid.
using ModuleTrees = std::vector<std::unique_ptr<ast::File>>;

/// Parses `main` and everything it imports, each file once, and reads the files that kernels name.
/// A path is relative to the file it stands in, then to each of `include_folders`.
ModuleTrees load_modules(SourceFiles &files, FileId main,
                         const std::vector<std::string> &include_folders, Diagnostics &diagnostics);

} // namespace cgc
