// String literals.
#pragma once

#include "diag/diagnostics.h"

#include <string>
#include <string_view>

namespace cgc {

/// What `text`, a literal with its quotes that stands at `range`, means. Reports escapes that the
/// language does not have.
std::string string_value(std::string_view text, const SourceRange &range, Diagnostics &diagnostics);

} // namespace cgc
