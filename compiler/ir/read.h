// IR text to Graph IR.
#pragma once

#include "diag/diagnostics.h"
#include "ir/module.h"

#include <optional>

namespace cgc {

/// Reads what print() with code writes; docs/ir.md describes it. The program is verified. Its files
/// are added to `files` with that much of their text that the kernels are made of; no file is
/// opened. The first error is reported, and nothing returned.
std::optional<Module> read_ir(SourceFiles &files, FileId file, Diagnostics &diagnostics);

} // namespace cgc
