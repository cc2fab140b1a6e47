// What graphs that launch, or are launched, from the device can hold.
#pragma once

#include "ir/lowering_context.h"

namespace cgc {

/// Reports what CUDA hangs on or refuses: branches and loops, nodes and priorities in graphs for
/// device launch, and more launches in one execution than it takes.
void check_launches(LoweringContext &context);

} // namespace cgc
