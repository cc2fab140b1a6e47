#include "format/scalar_type.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace cgrt::format {

namespace {

struct TypeInfo {
  std::string_view spelling;
  std::uint32_t bytes;
  ScalarClass type_class;
};

constexpr std::array<TypeInfo, scalar_type_count> types = {{
#define CGRT_SCALAR_TYPE(name, text, size, type_class) {text, size, ScalarClass::type_class},
#include "format/scalar_type.def"
}};

#define CGRT_SCALAR_TYPE(name, text, size, type_class)                                             \
  static_assert(types[static_cast<std::size_t>(ScalarType::name)].spelling == (text));
#include "format/scalar_type.def"

const TypeInfo &info(ScalarType type) {
  return types[static_cast<std::size_t>(type)];
}

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

std::uint32_t size_of(ScalarType type) {
  return info(type).bytes;
}
std::string_view spelling(ScalarType type) {
  return info(type).spelling;
}
ScalarClass class_of(ScalarType type) {
  return info(type).type_class;
}

std::optional<ScalarType> parse_scalar_type(std::string_view text) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].spelling == text) {
      return static_cast<ScalarType>(i);
    }
  }
  return std::nullopt;
}

std::int64_t least(ScalarType integer) {
  if (class_of(integer) != ScalarClass::Signed) {
    return 0;
  }
  return std::numeric_limits<std::int64_t>::min() >> (64 - 8 * size_of(integer));
}

std::uint64_t greatest(ScalarType integer) {
  switch (class_of(integer)) {
  case ScalarClass::Bool:
    return 1;
  case ScalarClass::Signed:
    return std::numeric_limits<std::uint64_t>::max() >> (65 - 8 * size_of(integer));
  default:
    return std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * size_of(integer));
  }
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
