#include "input.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace cgrun {
namespace {

using cgrt::ScalarType;

template <typename T> std::vector<T> make(ScalarType type, std::size_t count, const char *source) {
  const cgrt::BufferView view{type, cgrt::MemorySpace::Host, {count}, count * sizeof(T)};
  const std::vector<std::byte> bytes = Input({"b", source}).contents(view);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::string problem(const char *source) {
  try {
    make<float>(ScalarType::F32, 1, source);
  } catch (const cgrt::Error &error) {
    EXPECT_EQ(error.code(), cgrt::ErrorCode::Usage);
    return error.message();
  }
  return "no error";
}

TEST(InputTest, CountsUp) {
  EXPECT_EQ(make<float>(ScalarType::F32, 3, "iota"), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(make<std::int64_t>(ScalarType::I64, 3, "iota"), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(make<std::uint8_t>(ScalarType::Bool, 3, "iota"), (std::vector<std::uint8_t>{0, 1, 0}));
  EXPECT_EQ(make<std::uint16_t>(ScalarType::F16, 2, "iota"),
            (std::vector<std::uint16_t>{0, 0x3C00}));
  EXPECT_EQ(make<std::uint8_t>(ScalarType::U8, 258, "iota")[257], 1);
}

TEST(InputTest, RepeatsOneValue) {
  EXPECT_EQ(make<float>(ScalarType::F32, 2, "ones"), (std::vector<float>{1, 1}));
  EXPECT_EQ(make<double>(ScalarType::F64, 2, "zeros"), (std::vector<double>{0, 0}));
  EXPECT_EQ(make<std::int16_t>(ScalarType::I16, 2, "-3"), (std::vector<std::int16_t>{-3, -3}));
  EXPECT_EQ(make<std::uint16_t>(ScalarType::BF16, 1, "1.5"), (std::vector<std::uint16_t>{0x3FC0}));
  EXPECT_EQ(make<std::uint8_t>(ScalarType::Bool, 1, "true"), (std::vector<std::uint8_t>{1}));
}

// Vigna's splitmix64 from seed 0 begins with these outputs.
TEST(InputTest, RandomIsTheSameEverywhere) {
  EXPECT_EQ(
      make<std::uint64_t>(ScalarType::U64, 3, "random"),
      (std::vector<std::uint64_t>{0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F}));
  EXPECT_EQ(make<std::uint8_t>(ScalarType::U8, 2, "random:0"),
            (std::vector<std::uint8_t>{0xE2, 0x6E}));
  EXPECT_EQ(make<std::uint8_t>(ScalarType::Bool, 2, "random:0"), (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(make<double>(ScalarType::F64, 1, "random:0")[0], 0xE220A8397B1DC8p-56);
  EXPECT_EQ(make<float>(ScalarType::F32, 1, "random:0")[0], 0xE220A8p-24F);
  EXPECT_NE(make<float>(ScalarType::F32, 1, "random:1"), make<float>(ScalarType::F32, 1, "random"));
}

TEST(InputTest, RandomFloatsLieInTheUnitInterval) {
  for (const float value : make<float>(ScalarType::F32, 10000, "random:7")) {
    EXPECT_GE(value, 0.0F);
    EXPECT_LT(value, 1.0F);
  }
  // In 16 bits 1.0 is 0x3C00 and 0x3F80: all below.
  for (const std::uint16_t bits : make<std::uint16_t>(ScalarType::F16, 10000, "random:7")) {
    EXPECT_LT(bits, 0x3C00);
  }
  for (const std::uint16_t bits : make<std::uint16_t>(ScalarType::BF16, 10000, "random:7")) {
    EXPECT_LT(bits, 0x3F80);
  }
}

TEST(InputTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(problem("iotas"), "--in b: 'iotas' is not a value of type f32");
  EXPECT_NE(problem("random:x").find("is not a seed"), std::string::npos);
  EXPECT_NE(problem("randomly").find("is not a value"), std::string::npos);
  EXPECT_NE(problem("missing.npy").find("cannot read missing.npy"), std::string::npos);
  EXPECT_NE(problem("/").find("cannot read /"), std::string::npos);
}

} // namespace
} // namespace cgrun
