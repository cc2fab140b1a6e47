#include "parse/number.h"

#include <gtest/gtest.h>

#include <limits>

namespace cgc {
namespace {

using cgrt::format::Value;

TEST(Number, Integers) {
  EXPECT_EQ(parse_number("0"), Value::of(std::int64_t{0}));
  EXPECT_EQ(parse_number("1_048_576"), Value::of(std::int64_t{1048576}));
  EXPECT_EQ(parse_number("0xFf_0"), Value::of(std::int64_t{0xFF0}));
  EXPECT_EQ(parse_number("0b1010"), Value::of(std::int64_t{10}));
  EXPECT_EQ(parse_number("9223372036854775807"),
            Value::of(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(parse_number("9223372036854775808"), Value::of(std::uint64_t{1} << 63));
  EXPECT_FALSE(parse_number("18446744073709551616"));
}

TEST(Number, Floats) {
  EXPECT_EQ(parse_number("1.5"), Value::of(1.5));
  EXPECT_EQ(parse_number(".5"), Value::of(0.5));
  EXPECT_EQ(parse_number("1e-6"), Value::of(1e-6));
  EXPECT_EQ(parse_number("1_0.2_5e1"), Value::of(102.5));
  EXPECT_EQ(parse_number("1e-999"), Value::of(0.0));
  EXPECT_FALSE(parse_number("1e999"));
}

TEST(Number, OtherTextIsNone) {
  for (const char *text : {"", "x", "1x", "0x", "0b2", "--1", "1.5.2", "1e"}) {
    EXPECT_FALSE(parse_number(text)) << text;
  }
}

} // namespace
} // namespace cgc
