#include "parse/number.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

namespace cgc {

using cgrt::format::Value;

namespace {

std::optional<Value> parse_integer(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char *end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc{} || stop != end) {
    return std::nullopt;
  }
  constexpr std::uint64_t greatest_signed = std::numeric_limits<std::int64_t>::max();
  return value <= greatest_signed ? Value::of(static_cast<std::int64_t>(value)) : Value::of(value);
}

} // namespace

std::optional<Value> parse_number(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    return parse_integer(std::string_view(digits).substr(2), 16);
  }
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B')) {
    return parse_integer(std::string_view(digits).substr(2), 2);
  }
  if (digits.find_first_of(".eE") == std::string::npos) {
    return parse_integer(digits, 10);
  }
  double value = 0;
  const char *end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) {
    return std::nullopt;
  }
  if (error == std::errc::result_out_of_range) {
    // Too small rounds to 0 as in C++; too large is no value.
    const bool tiny =
        digits.find("e-") != std::string::npos || digits.find("E-") != std::string::npos;
    return tiny ? std::optional(Value::of(0.0)) : std::nullopt;
  }
  return Value::of(value);
}

} // namespace cgc
