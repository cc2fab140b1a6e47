// The order that `after` asks for.
#pragma once

#include "diag/diagnostics.h"
#include "ir/module.h"

namespace cgc {

/// Adds the edges of Module::after to graphs whose other edges are there, puts their nodes into an
/// order in which every edge points backwards, and leaves out what other edges imply. Reports edges
/// that close a circle; the graph then stays as it is. Module::after is empty afterwards.
void order_by_after(Module &module, Diagnostics &diagnostics);

} // namespace cgc
