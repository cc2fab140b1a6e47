// Constants in IR text.
#pragma once

#include "ir/ir_parser.h"

#include "format/value.h"

namespace cgc {

/// `bool true`, `int -3`, `uint 7` or `float 0.5`, which are next.
cgrt::format::Value read_constant(IrParser &parser);

} // namespace cgc
