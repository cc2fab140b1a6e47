// Checked syntax trees to Graph IR: every statement becomes a node, in program order, without edges.
#pragma once

#include "diag/diagnostics.h"
#include "ir/module.h"
#include "sema/checked_file.h"

namespace cgc {

/// Leaves out the statements that sema found broken; the program must be one that can be lowered.
/// Reports what depends on values: shapes, ranges, geometry, memory that is written or read against
/// its declaration, overlapping arguments. What is not known before the parameters are becomes a
/// Check of the program.
Module lower(const CheckedProgram &checked, const SourceFiles &files, Diagnostics &diagnostics);

} // namespace cgc
