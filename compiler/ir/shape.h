// Sizes of buffers as expressions.
#pragma once

#include "format/program.h"

namespace cgc {

/// The number of elements of a buffer.
cgrt::format::ExprId element_count(cgrt::format::Program &program, cgrt::format::BufferId buffer);

/// All of a buffer.
cgrt::format::Region whole_region(cgrt::format::Program &program, cgrt::format::BufferId buffer);

} // namespace cgc
