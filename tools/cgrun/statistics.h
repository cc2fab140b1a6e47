// What a report says about a buffer's elements.
#pragma once

#include <cgrt/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

namespace cgrun {

/// Exact where the type is an integer one; bool counts as 0 and 1.
using Extreme = std::variant<std::int64_t, std::uint64_t, double>;

struct Statistics {
  Extreme min;
  Extreme max;
  double mean = 0;
};

/// Nothing for a buffer without elements. A NaN among the elements makes all three NaN, as in
/// NumPy. The mean of integers is exact, that of floats summed with compensation, both then
/// rounded.
std::optional<Statistics> statistics(cgrt::ScalarType type, std::span<const std::byte> bytes);

} // namespace cgrun
