// Facts about scalar types: size, spelling, class, and conversion of host values to their bits.
#pragma once

#include <cgrt/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace cgrt::format {

enum class ScalarClass : std::uint8_t { Bool, Signed, Unsigned, Float };

inline constexpr std::uint8_t scalar_type_count = 13;

std::uint32_t size_of(ScalarType type);
std::string_view spelling(ScalarType type);
ScalarClass class_of(ScalarType type);
inline bool is_float(ScalarType type) {
  return class_of(type) == ScalarClass::Float;
}

/// The type named by `text`, or nothing.
std::optional<ScalarType> parse_scalar_type(std::string_view text);

/// Least and greatest value of an integer type (Bool: 0 and 1). Undefined for floats.
std::int64_t least(ScalarType integer);
std::uint64_t greatest(ScalarType integer);

/// IEEE binary16 and bfloat16 bits of `value`, rounded to nearest even.
std::uint16_t to_f16_bits(double value);
std::uint16_t to_bf16_bits(double value);
double from_f16_bits(std::uint16_t bits);
double from_bf16_bits(std::uint16_t bits);

} // namespace cgrt::format
