// What graphs do to memory against its declaration.
#pragma once

#include "ir/statement_lowering.h"

namespace cgc {

/// `in` memory is never written; `out` memory is not read before this graph, or another one that
/// may have run earlier, has written it; reading private memory that nothing can have written is a
/// warning. `places` is parallel to the program's graphs.
void check_spaces(LoweringContext &context);

} // namespace cgc
