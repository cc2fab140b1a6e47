#include "format/geometry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cgrt::format {
namespace {

using testing::HasSubstr;

std::string problem(std::array<std::int64_t, 3> grid, std::array<std::int64_t, 3> block,
                    std::int64_t shared = 0) {
  return geometry_problem({grid, block, shared}).value_or("");
}

TEST(Geometry, AcceptsTheLimitsThemselves) {
  EXPECT_EQ(problem({2147483647, 65535, 65535}, {1024, 1, 1}), "");
  EXPECT_EQ(problem({1, 1, 1}, {16, 1, 64}, 232448), "");
  EXPECT_EQ(problem({0, 1, 1}, {1, 1, 1}), "");
}

TEST(Geometry, NamesAxisValueAndLimit) {
  EXPECT_THAT(problem({1, 65536, 1}, {1, 1, 1}),
              testing::AllOf(HasSubstr("grid.y"), HasSubstr("65536"), HasSubstr("65535")));
  EXPECT_THAT(problem({1, 1, 1}, {1025, 1, 1}),
              testing::AllOf(HasSubstr("block.x"), HasSubstr("1025"), HasSubstr("1024")));
  EXPECT_THAT(problem({1, 1, 1}, {1, 1, 65}),
              testing::AllOf(HasSubstr("block.z"), HasSubstr("65"), HasSubstr("64")));
  EXPECT_THAT(problem({1, 1, 1}, {32, 32, 2}),
              testing::AllOf(HasSubstr("2048"), HasSubstr("1024")));
  EXPECT_THAT(problem({-1, 1, 1}, {1, 1, 1}), HasSubstr("grid.x is -1"));
  EXPECT_THAT(problem({1, 1, 1}, {0, 1, 1}), HasSubstr("block.x is 0"));
  EXPECT_THAT(problem({1, 1, 1}, {1, 1, 1}, 232449), HasSubstr("232449"));
}

} // namespace
} // namespace cgrt::format
