// Checked syntax trees to Graph IR: every statement becomes a node, in program order, without
// edges.
#pragma once

#include "diag/diagnostics.h"
#include "ir/module.h"
#include "sema/checked_file.h"

#include <cstdint>

namespace cgc {

/// Leaves out the statements that sema found broken; the program must be one that can be lowered.
/// Reports what depends on values: shapes, ranges, geometry, memory that is written or read against
/// its declaration, overlapping arguments. What is not known before the parameters are becomes a
/// Check of the program. Loops and calls may come to `max_statements`; more is a mistake, and would
/// not fit any GPU.
Module lower(const CheckedProgram &checked, const SourceFiles &files, Diagnostics &diagnostics,
             std::uint64_t max_statements = 2'000'000);

} // namespace cgc
