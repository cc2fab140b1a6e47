#include "scalar_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace cgrun {
namespace {

using cgrt::Scalar;
using cgrt::ScalarType;

Scalar parse(ScalarType type, const char *text) {
  return parse_scalar(type, text, "--set p");
}

std::string problem(ScalarType type, const char *text) {
  try {
    parse(type, text);
  } catch (const cgrt::Error &error) {
    EXPECT_EQ(error.code(), cgrt::ErrorCode::Usage);
    return error.message();
  }
  return "no error";
}

TEST(ScalarTextTest, ReadsIntegers) {
  EXPECT_EQ(parse(ScalarType::I32, "42"), Scalar(std::int64_t{42}));
  EXPECT_EQ(parse(ScalarType::I32, "-0x80000000"), Scalar(std::int64_t{-2147483648}));
  EXPECT_EQ(parse(ScalarType::U8, "0b1111_1111"), Scalar(std::int64_t{255}));
  EXPECT_EQ(parse(ScalarType::I64, "-9223372036854775808"),
            Scalar(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(parse(ScalarType::U64, "18446744073709551615"),
            Scalar(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(parse(ScalarType::I32, "1_000_000"), Scalar(std::int64_t{1000000}));
  EXPECT_EQ(parse(ScalarType::I32, "010"), Scalar(std::int64_t{10}));
}

TEST(ScalarTextTest, RefusesWhatIsNoInteger) {
  for (const char *text : {"", "-", "+-1", "--1", "1.5", "1e3", "0x", "1 ", " 1", "ten",
                           "-9223372036854775809", "18446744073709551616"}) {
    EXPECT_EQ(problem(ScalarType::I64, text),
              "--set p: '" + std::string(text) + "' is not a value of type i64");
  }
}

TEST(ScalarTextTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(problem(ScalarType::U8, "256"), "--set p: 256 does not fit u8");
  EXPECT_EQ(problem(ScalarType::I8, "128"), "--set p: 128 does not fit i8");
  EXPECT_EQ(problem(ScalarType::U32, "-1"), "--set p: -1 does not fit u32");
  EXPECT_EQ(problem(ScalarType::I64, "9223372036854775808"),
            "--set p: 9223372036854775808 does not fit i64");
}

TEST(ScalarTextTest, ReadsFloats) {
  EXPECT_EQ(parse(ScalarType::F32, "-1.5e-3"), Scalar(-1.5e-3));
  EXPECT_EQ(parse(ScalarType::F64, ".5"), Scalar(0.5));
  EXPECT_EQ(parse(ScalarType::F64, "+3.0"), Scalar(3.0));
  EXPECT_EQ(parse(ScalarType::F16, "-1_000"), Scalar(std::int64_t{-1000}));
  EXPECT_EQ(parse(ScalarType::F64, "-inf"), Scalar(-std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(std::isnan(std::get<double>(parse(ScalarType::F32, "nan"))));
  for (const char *text : {"", "--1", "1e", "1e999", "one", "1.5x"}) {
    EXPECT_NE(problem(ScalarType::F64, text), "no error") << text;
  }
}

TEST(ScalarTextTest, ReadsBools) {
  EXPECT_EQ(parse(ScalarType::Bool, "true"), Scalar(true));
  EXPECT_EQ(parse(ScalarType::Bool, "0"), Scalar(std::int64_t{0}));
  EXPECT_EQ(problem(ScalarType::Bool, "2"), "--set p: 2 does not fit bool");
  EXPECT_EQ(problem(ScalarType::Bool, "yes"), "--set p: 'yes' is not a value of type bool");
}

TEST(ScalarTextTest, WritesTheShortestText) {
  EXPECT_EQ(scalar_text(0.1F), "0.1");
  EXPECT_EQ(scalar_text(0.1), "0.1");
  EXPECT_EQ(scalar_text(2097151.0F), "2097151");
  EXPECT_EQ(scalar_text(-std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(scalar_text(-std::numeric_limits<double>::infinity()), "-inf");
}

} // namespace
} // namespace cgrun
