// The proof that a graph's edges order every conflicting pair of nodes.
#pragma once

#include "diag/diagnostics.h"
#include "ir/module.h"

namespace cgc {

/// Looks at the finished edges alone, whoever made them. Reports each pair of statements with nodes
/// that may touch the same element, one of them writing, and that no path of edges joins; the same
/// for hidden state, and for conditions and what sets them. Looks at explicit graphs, or at `all`.
/// Takes time linear in nodes and conflicts for graphs of bounded width.
void check_races(Module &module, bool all, const SourceFiles &files, Diagnostics &diagnostics);

} // namespace cgc
