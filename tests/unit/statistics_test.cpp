#include "statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace cgrun {
namespace {

using cgrt::ScalarType;

template <typename T> std::optional<Statistics> of(ScalarType type, const std::vector<T> &values) {
  return statistics(type, std::as_bytes(std::span(values)));
}

TEST(StatisticsTest, AreExactForIntegers) {
  constexpr auto greatest = std::numeric_limits<std::uint64_t>::max();
  const auto wide = of<std::uint64_t>(ScalarType::U64, {greatest, greatest, 0});
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->min, Extreme(std::uint64_t{0}));
  EXPECT_EQ(wide->max, Extreme(greatest));
  EXPECT_EQ(wide->mean, 2.0 * 18446744073709551615.0 / 3.0);
  const auto small = of<std::int8_t>(ScalarType::I8, {-128, 127});
  EXPECT_EQ(small->min, Extreme(std::int64_t{-128}));
  EXPECT_EQ(small->mean, -0.5);
}

TEST(StatisticsTest, CountBools) {
  const auto result = of<std::uint8_t>(ScalarType::Bool, {1, 0, 1, 1});
  EXPECT_EQ(result->min, Extreme(std::int64_t{0}));
  EXPECT_EQ(result->max, Extreme(std::int64_t{1}));
  EXPECT_EQ(result->mean, 0.75);
}

TEST(StatisticsTest, ReadSmallFloats) {
  EXPECT_EQ(of<std::uint16_t>(ScalarType::F16, {0x3C00, 0xC000})->min, Extreme(-2.0));
  EXPECT_EQ(of<std::uint16_t>(ScalarType::BF16, {0x3F80, 0x4040})->max, Extreme(3.0));
}

TEST(StatisticsTest, DoNotLoseSmallTerms) {
  EXPECT_EQ(of<double>(ScalarType::F64, {1e16, 1.0, 1.0, -1e16})->mean, 0.5);
}

TEST(StatisticsTest, NanMakesAllNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<float> &values : {std::vector{nan, 1.0F, 2.0F}, {1.0F, nan, 2.0F}}) {
    const auto result = of(ScalarType::F32, values);
    EXPECT_TRUE(std::isnan(std::get<double>(result->min)));
    EXPECT_TRUE(std::isnan(std::get<double>(result->max)));
    EXPECT_TRUE(std::isnan(result->mean));
  }
}

TEST(StatisticsTest, KeepInfinities) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto result = of<float>(ScalarType::F32, {1.0F, infinity, 2.0F});
  EXPECT_EQ(result->max, Extreme(double{infinity}));
  EXPECT_EQ(result->mean, double{infinity});
}

TEST(StatisticsTest, AreNothingForEmptyBuffers) {
  EXPECT_FALSE(of<float>(ScalarType::F32, {}));
}

} // namespace
} // namespace cgrun
