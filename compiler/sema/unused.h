// The warning `[unused]`.
#pragma once

#include "sema/expr_check.h"

#include <set>
#include <tuple>
#include <unordered_set>

namespace cgc {

/// Warns of what the file declares and nothing reads, calls or waits for. A const counts as used
/// where a kernel's text has the word.
void report_unused(const CheckedFile &file,
                   const std::set<std::tuple<std::uint32_t, SymbolKind, std::uint32_t>> &used,
                   const std::unordered_set<const ast::Statement *> &used_labels,
                   const SourceFiles &files, Diagnostics &diagnostics);

} // namespace cgc
