// Order by data: the edges that conflicting accesses and `after` ask for, and no others.
#pragma once

#include "diag/diagnostics.h"
#include "ir/module.h"

namespace cgc {

/// Gives every node its dependencies: an earlier node that may touch the same element, where at
/// least one of the two writes, and what an `after` names. Edges that others imply are left out.
/// An `after` may turn the order of nodes round; where that closes a circle, it is reported. Time
/// is linear in nodes and edges for graphs of bounded width.
void order_by_data(Module &module, Diagnostics &diagnostics);

} // namespace cgc
