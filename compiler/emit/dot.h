// Graphviz output.
#pragma once

#include "format/program.h"

#include <string>

namespace cgc {

/// One digraph for each graph of the program, one after the other: a node for each graph node with
/// its label, kernel, geometry and source line; each edge with the buffer that causes it as
/// tooltip.
std::string emit_dot(const cgrt::format::Program &program);

} // namespace cgc
