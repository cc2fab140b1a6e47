#include "scalar_text.h"

#include "usage.h"

#include "parse/number.h"

#include "format/scalar_type.h"
#include "format/value.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace cgrun {

namespace {

using cgrt::format::Value;
using cgrt::format::ValueKind;

/// The value that stands behind an optional sign.
std::optional<Value> parse_signed(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  std::optional<Value> value = cgc::parse_number(text);
  if (text == "inf") {
    value = Value::of(std::numeric_limits<double>::infinity());
  } else if (text == "nan") {
    value = Value::of(std::numeric_limits<double>::quiet_NaN());
  }
  if (!value || !negative) {
    return value;
  }
  if (value->is_float()) {
    return Value::of(-value->as_double());
  }
  constexpr std::uint64_t greatest = std::uint64_t{1} << 63;
  return value->bits() <= greatest
             ? std::optional(Value::of(static_cast<std::int64_t>(-value->bits())))
             : std::nullopt;
}

std::optional<Value> parse(cgrt::ScalarType type, std::string_view text) {
  if (type == cgrt::ScalarType::Bool && (text == "true" || text == "false")) {
    return Value::of(text == "true");
  }
  const std::optional<Value> value = parse_signed(text);
  // An integer type takes no float, not even a whole one.
  return value && value->is_float() && !cgrt::format::is_float(type) ? std::nullopt : value;
}

cgrt::Scalar to_scalar(const Value &value) {
  switch (value.kind()) {
  case ValueKind::Bool:
    return value.truthy();
  case ValueKind::Int:
    return static_cast<std::int64_t>(value.bits());
  case ValueKind::Uint:
    return value.bits();
  case ValueKind::Float:
    break;
  }
  return value.as_double();
}

template <typename Float> std::string shortest(Float value) {
  if (std::isnan(value)) {
    return "nan"; // whatever its sign
  }
  std::array<char, 40> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

} // namespace

cgrt::Scalar parse_scalar(cgrt::ScalarType type, std::string_view text, const std::string &what) {
  const std::string type_name(cgrt::format::spelling(type));
  const std::optional<Value> value = parse(type, text);
  if (!value) {
    throw usage_error(what + ": '" + std::string(text) + "' is not a value of type " + type_name);
  }
  if (to_scalar_bits(*value, type).fault != cgrt::format::Fault::None) {
    throw usage_error(what + ": " + std::string(text) + " does not fit " + type_name);
  }
  return to_scalar(*value);
}

std::string scalar_text(double value) {
  return shortest(value);
}
std::string scalar_text(float value) {
  return shortest(value);
}

} // namespace cgrun
