// Order by data: the edges that conflicting accesses ask for, and no others.
#pragma once

#include "ir/module.h"

namespace cgc {

/// Gives every node its dependencies: an earlier node that touches the same buffer, where at least
/// one of the two writes. Edges that others imply are left out. Time is linear in nodes and edges
/// for graphs of bounded width.
void order_by_data(Module &module);

} // namespace cgc
