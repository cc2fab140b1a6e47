#include "format/scalar_type.h"
#include "format/value.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace cgrt::format {
namespace {

TEST(ScalarType, SpellingsRoundTrip) {
  for (std::uint8_t i = 0; i < scalar_type_count; ++i) {
    const auto type = static_cast<ScalarType>(i);
    EXPECT_EQ(parse_scalar_type(spelling(type)), type);
  }
  EXPECT_FALSE(parse_scalar_type("i128"));
}

TEST(ScalarType, IntegerLimits) {
  EXPECT_EQ(least(ScalarType::I8), -128);
  EXPECT_EQ(greatest(ScalarType::I8), 127U);
  EXPECT_EQ(greatest(ScalarType::U16), 65535U);
  EXPECT_EQ(least(ScalarType::I64), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(greatest(ScalarType::U64), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(greatest(ScalarType::Bool), 1U);
}

/// Nearest value of a small float format by exhaustive comparison, ties to the even bit pattern.
template <typename FromBits> std::uint16_t nearest(double value, FromBits from_bits) {
  std::uint16_t best = 0;
  double distance = std::numeric_limits<double>::infinity();
  for (std::uint32_t bits = 0; bits < 0x8000; ++bits) {
    const double candidate = from_bits(static_cast<std::uint16_t>(bits));
    if (!std::isfinite(candidate)) {
      break;
    }
    const double gap = std::fabs(candidate - value);
    if (gap < distance || (gap == distance && bits % 2 == 0)) {
      best = static_cast<std::uint16_t>(bits);
      distance = gap;
    }
  }
  return best;
}

TEST(ScalarType, HalfRoundsToNearestEven) {
  EXPECT_EQ(to_f16_bits(1.0), 0x3C00);
  EXPECT_EQ(to_f16_bits(-2.0), 0xC000);
  EXPECT_EQ(to_f16_bits(65504.0), 0x7BFF);
  EXPECT_EQ(to_f16_bits(65520.0), 0x7C00); // halfway to the next power rounds to infinity
  EXPECT_EQ(to_f16_bits(65519.0), 0x7BFF);
  EXPECT_EQ(to_f16_bits(0x1p-24), 0x0001);
  EXPECT_EQ(to_f16_bits(0x1p-25), 0x0000);
  EXPECT_EQ(to_f16_bits(std::numeric_limits<double>::infinity()), 0x7C00);
  for (const double value : {0.1, 1.0 / 3, 3.14159, 1e-5, 6.1e-5, 1234.5, 2049.0, 2051.0, 5e-8}) {
    EXPECT_EQ(to_f16_bits(value), nearest(value, from_f16_bits)) << value;
  }
}

TEST(ScalarType, Bfloat16IsTheUpperHalfOfAFloat) {
  for (const float value : {1.0F, -3.5F, 1e30F, 1e-38F, 0.15625F}) {
    const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    const double exact = std::bit_cast<float>(static_cast<std::uint32_t>(upper) << 16);
    EXPECT_EQ(to_bf16_bits(exact), upper) << value;
    EXPECT_EQ(from_bf16_bits(upper), exact);
  }
}

TEST(ScalarType, SmallFloatsRoundTripThroughDouble) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto small = static_cast<std::uint16_t>(bits);
    if (!std::isnan(from_f16_bits(small))) {
      ASSERT_EQ(to_f16_bits(from_f16_bits(small)), small);
    }
    if (!std::isnan(from_bf16_bits(small))) {
      ASSERT_EQ(to_bf16_bits(from_bf16_bits(small)), small);
    }
  }
  EXPECT_TRUE(std::isnan(from_f16_bits(to_f16_bits(std::nan("")))));
}

TEST(Value, ConvertsToTypesThatHoldIt) {
  EXPECT_EQ(to_scalar_bits(Value::of(2.0), ScalarType::F32).bits,
            std::bit_cast<std::uint32_t>(2.0F));
  EXPECT_EQ(to_scalar_bits(Value::of(std::int64_t{-1}), ScalarType::I16).bits, 0xFFFFU);
  EXPECT_EQ(to_scalar_bits(Value::of(std::int64_t{1} << 40), ScalarType::I32).fault,
            Fault::OutOfRange);
  EXPECT_EQ(to_scalar_bits(Value::of(std::int64_t{-1}), ScalarType::U64).fault, Fault::OutOfRange);
  EXPECT_EQ(to_scalar_bits(Value::of(2.0), ScalarType::I32).fault, Fault::OutOfRange);
  EXPECT_EQ(to_scalar_bits(Value::of(true), ScalarType::I32).bits, 1U);
  // Rounded once: through double this integer would become 2^53 + 2^30 and then round up.
  const std::int64_t integer = (std::int64_t{1} << 54) + (std::int64_t{1} << 30) + 1;
  EXPECT_EQ(to_scalar_bits(Value::of(integer), ScalarType::F32).bits,
            std::bit_cast<std::uint32_t>(static_cast<float>(integer)));
}

} // namespace
} // namespace cgrt::format
