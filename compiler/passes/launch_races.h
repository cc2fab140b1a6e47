// Races with what kernels launch.
#pragma once

#include "diag/diagnostics.h"
#include "ir/module.h"

namespace cgc {

/// Looks at the finished edges. What `detach` and `sibling` launch runs beside everything that does
/// not come before the launch, and what `sibling` launches beside tails, too: reports each such
/// pair that may touch the same element, one of them writing.
void check_launch_races(const Module &module, Diagnostics &diagnostics);

} // namespace cgc
