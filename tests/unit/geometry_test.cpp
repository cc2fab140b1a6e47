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

TEST(Geometry, TheGridIsAMultipleOfTheCluster) {
  const auto of_cluster = [](std::array<std::int64_t, 3> grid,
                             std::array<std::int64_t, 3> cluster) {
    return geometry_problem({grid, {32, 1, 1}, 0, cluster}).value_or("");
  };
  EXPECT_EQ(of_cluster({8, 6, 3}, {4, 2, 1}), "");
  EXPECT_EQ(of_cluster({0, 2, 1}, {8, 1, 1}), "");
  EXPECT_EQ(of_cluster({7, 1, 1}, {2, 1, 1}), "grid.x is 7, not a multiple of the cluster's 2");
  EXPECT_EQ(of_cluster({2, 2, 4}, {2, 1, 3}), "grid.z is 4, not a multiple of the cluster's 3");
  EXPECT_EQ(of_cluster({9, 1, 1}, {9, 1, 1}), "cluster.x is 9; the limit is 8");
  EXPECT_EQ(of_cluster({8, 8, 8}, {4, 2, 2}), "the cluster has 16 blocks; the limit is 8");
  EXPECT_EQ(of_cluster({8, 1, 1}, {1, 0, 1}), "cluster.y is 0; it must be at least 1");
}

} // namespace
} // namespace cgrt::format
