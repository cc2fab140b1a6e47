// Facts about scalar types: size, spelling, class, and conversion of host values to their bits.
#pragma once

#include <cgrt/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace cgrt::format {

enum class ScalarClass : std::uint8_t { Bool, Signed, Unsigned, Float };

inline constexpr std::uint8_t scalar_type_count = 13;

struct ScalarTypeInfo {
  std::string_view spelling;
  std::uint32_t bytes;
  ScalarClass type_class;
};

inline constexpr std::array<ScalarTypeInfo, scalar_type_count> scalar_types = {{
#define CGRT_SCALAR_TYPE(name, text, size, type_class) {text, size, ScalarClass::type_class},
#include "format/scalar_type.def"
}};

#define CGRT_SCALAR_TYPE(name, text, size, type_class)                                             \
  static_assert(scalar_types[static_cast<std::size_t>(ScalarType::name)].spelling == (text));
#include "format/scalar_type.def"

inline const ScalarTypeInfo &info(ScalarType type) {
  return scalar_types[static_cast<std::size_t>(type)];
}
inline std::uint32_t size_of(ScalarType type) {
  return info(type).bytes;
}
inline std::string_view spelling(ScalarType type) {
  return info(type).spelling;
}
inline ScalarClass class_of(ScalarType type) {
  return info(type).type_class;
}
inline bool is_float(ScalarType type) {
  return class_of(type) == ScalarClass::Float;
}

/// The type named by `text`, or nothing.
std::optional<ScalarType> parse_scalar_type(std::string_view text);

/// Least and greatest value of an integer type (Bool: 0 and 1). Undefined for floats.
inline std::int64_t least(ScalarType integer) {
  return class_of(integer) != ScalarClass::Signed
             ? 0
             : std::numeric_limits<std::int64_t>::min() >> (64 - 8 * info(integer).bytes);
}
inline std::uint64_t greatest(ScalarType integer) {
  constexpr std::uint64_t ones = std::numeric_limits<std::uint64_t>::max();
  switch (class_of(integer)) {
  case ScalarClass::Bool:
    return 1;
  case ScalarClass::Signed:
    return ones >> (65 - 8 * info(integer).bytes);
  default:
    return ones >> (64 - 8 * info(integer).bytes);
  }
}

/// IEEE binary16 and bfloat16 bits of `value`, rounded to nearest even.
std::uint16_t to_f16_bits(double value);
std::uint16_t to_bf16_bits(double value);
double from_f16_bits(std::uint16_t bits);
double from_bf16_bits(std::uint16_t bits);

} // namespace cgrt::format
