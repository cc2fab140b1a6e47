// Number literals, in the language's spelling; also used for `-D NAME=VALUE`.
#pragma once

#include "format/value.h"

#include <optional>
#include <string_view>

namespace cgc {

/// An unsigned decimal, 0x or 0b integer or a float, with `_` between digits. Integers beyond i64
/// are Uint. Nothing where the text is no number or does not fit 64 bits.
std::optional<cgrt::format::Value> parse_number(std::string_view text);

} // namespace cgc
