#include "ir/constant_source.h"

#include "kernels/kernel_text.h"

#include "format/scalar_type.h"

#include <array>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>

namespace cgc {

using cgrt::ScalarType;
using cgrt::format::Value;
using cgrt::format::ValueKind;

namespace {

std::string integer_literal(const Value &value) {
  if (value.kind() == ValueKind::Uint) {
    return value.text() + "ULL";
  }
  const auto integer = static_cast<std::int64_t>(value.bits());
  if (integer == std::numeric_limits<std::int64_t>::min()) {
    return "(-9223372036854775807LL - 1)"; // its magnitude is no literal
  }
  const bool fits_int = integer >= std::numeric_limits<int>::min() + 1LL &&
                        integer <= std::numeric_limits<int>::max();
  return value.text() + (fits_int ? "" : "LL");
}

/// Hexadecimal, so that no digit is lost; what no literal says stands as its bits, since NVRTC has
/// no other words for it.
std::string float_literal(double value) {
  std::array<char, 64> text{};
  if (std::isfinite(value)) {
    std::snprintf(text.data(), text.size(), "%a", value);
  } else {
    std::snprintf(text.data(), text.size(), "__builtin_bit_cast(double, 0x%" PRIx64 "ULL)",
                  std::bit_cast<std::uint64_t>(value));
  }
  return text.data();
}

std::string natural_type(const Value &value) {
  switch (value.kind()) {
  case ValueKind::Bool:
    return "bool";
  case ValueKind::Float:
    return "double";
  case ValueKind::Uint:
    return "unsigned long long";
  case ValueKind::Int:
    break;
  }
  return integer_literal(value).find('L') == std::string::npos ? "int" : "long long";
}

} // namespace

std::string cpp_literal(const Value &value) {
  return value.is_float()                  ? float_literal(value.as_double())
         : value.kind() == ValueKind::Bool ? value.text()
                                           : integer_literal(value);
}

ConstantSource make_constant_source(const std::string &name, const Value &value,
                                    std::optional<ScalarType> type) {
  // A rounded 16-bit float is a float exactly, and needs no class that is no literal type.
  if (type == ScalarType::F16 || type == ScalarType::BF16) {
    type = ScalarType::F32;
  }
  const std::string cpp_type = type ? std::string(cpp_spelling(*type)) : natural_type(value);
  return {name, cpp_type, "static_cast<" + cpp_type + ">(" + cpp_literal(value) + ")"};
}

} // namespace cgc
