#include "format/scalar_type.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace cgrt::format {

namespace {

/// Rounds to a binary format of 16 bits with this many exponent and fraction bits.
std::uint16_t to_small_float(double value, int exponent_bits, int fraction_bits) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto infinity = static_cast<std::uint16_t>(((1U << exponent_bits) - 1U) << fraction_bits);
  if (std::isnan(value)) {
    return static_cast<std::uint16_t>(sign | infinity | (1U << (fraction_bits - 1)));
  }
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) {
    return static_cast<std::uint16_t>(sign | infinity);
  }
  if (magnitude == 0) {
    return sign; // frexp gives 0 no exponent of its own
  }
  // The spacing of representable numbers around the value; subnormals share the least exponent's.
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int unit = std::max(exponent - 1, 1 - bias) - fraction_bits;
  // nearbyint rounds halves to even. A carry into the next exponent comes out right by addition.
  const double steps = std::nearbyint(std::ldexp(magnitude, -unit));
  const int biased = unit + fraction_bits + bias;
  const auto fraction = static_cast<std::uint64_t>(steps);
  const std::uint64_t bits = fraction + (static_cast<std::uint64_t>(biased - 1) << fraction_bits);
  return static_cast<std::uint16_t>(sign | (bits >= infinity ? infinity : bits));
}

double from_small_float(std::uint16_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int all_ones = (1 << exponent_bits) - 1;
  const int exponent = (bits >> fraction_bits) & all_ones;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  double magnitude = 0;
  if (exponent == all_ones) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - bias - fraction_bits);
  } else {
    magnitude = std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  }
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

} // namespace

std::optional<ScalarType> parse_scalar_type(std::string_view text) {
  for (std::size_t i = 0; i < scalar_types.size(); ++i) {
    if (scalar_types[i].spelling == text) {
      return static_cast<ScalarType>(i);
    }
  }
  return std::nullopt;
}

std::uint16_t to_f16_bits(double value) {
  return to_small_float(value, 5, 10);
}
std::uint16_t to_bf16_bits(double value) {
  return to_small_float(value, 8, 7);
}
double from_f16_bits(std::uint16_t bits) {
  return from_small_float(bits, 5, 10);
}
double from_bf16_bits(std::uint16_t bits) {
  return from_small_float(bits, 8, 7);
}

} // namespace cgrt::format
