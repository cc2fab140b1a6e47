#include "ir/ir_constant.h"

#include <bit>
#include <charconv>
#include <cmath>

namespace cgc {

using cgrt::format::Value;

namespace {

/// A NaN stands as its bits.
double float_value(IrParser &parser) {
  const std::string_view text = parser.token().text;
  std::uint64_t bits = 0;
  if (text.starts_with("0x") && text.size() <= 18 &&
      std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16).ptr ==
          text.data() + text.size() &&
      std::isnan(std::bit_cast<double>(bits))) {
    parser.advance();
    return std::bit_cast<double>(bits);
  }
  return parser.number<double>(parser.at_word("inf") ? IrTokenKind::Word : IrTokenKind::Number,
                               "a float, or the bits of a NaN");
}

} // namespace

Value read_constant(IrParser &parser) {
  if (parser.accept_word("bool")) {
    const bool value = parser.at_word("true");
    if (!value && !parser.at_word("false")) {
      parser.fail("true or false");
    }
    parser.advance();
    return Value::of(value);
  }
  if (parser.accept_word("int")) {
    return Value::of(parser.number<std::int64_t>(IrTokenKind::Number, "an i64"));
  }
  if (parser.accept_word("uint")) {
    return Value::of(parser.number<std::uint64_t>(IrTokenKind::Number, "a u64"));
  }
  parser.expect_word("float");
  return Value::of(float_value(parser));
}

} // namespace cgc
