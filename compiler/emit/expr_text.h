// Expressions as a person would write them.
#pragma once

#include "format/program.h"

#include <string>

namespace cgc {

/// "ceildiv(n, 256)"; cut with "…" where it would be longer than `most` characters.
std::string expr_text(const cgrt::format::Program &program, cgrt::format::ExprId id,
                      std::size_t most = 60);

} // namespace cgc
