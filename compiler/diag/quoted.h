// Strings in IR and DOT text.
#pragma once

#include <string>
#include <string_view>

namespace cgc {

/// In double quotes, with `"`, `\` and line ends escaped.
std::string quoted(std::string_view text);

} // namespace cgc
