// Overlap and coverage: constant boxes against a count of common elements, symbolic ones case by
// case.
#include "ir/region_relation.h"

#include "unit/expr_fixture.h"

#include <random>

namespace cgc {
namespace {

using cgrt::ScalarType;
using cgrt::format::BufferId;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::Region;

class RegionRelation : public testing::ExprFixture {
public:
  ExprId plus(ExprId a, std::int64_t value) {
    return program.exprs.binary(ExprOp::Add, a, number(value));
  }

  ExprId i = program.exprs.parameter({1}, ScalarType::I32);
};

TEST_F(RegionRelation, ConstantBoxesAreDecidedExactly) {
  std::mt19937 random(1);
  const auto below = [&](int bound) { return static_cast<int>(random() % unsigned(bound)); };
  constexpr int extent = 5;
  for (int round = 0; round < 2000; ++round) {
    std::array<std::array<std::array<int, 2>, 2>, 2> boxes{}; // box, dimension, begin and end
    std::array<Region, 2> regions;
    for (std::size_t box = 0; box < 2; ++box) {
      regions[box].buffer = BufferId{0};
      for (auto &[begin, end] : boxes[box]) {
        begin = below(extent);
        end = begin + below(extent - begin + 1); // may be empty
        regions[box].ranges.push_back({number(begin), number(end - begin)});
      }
    }
    int common = 0;
    int outside = 0; // elements of the second that the first lacks
    const auto inside = [&](std::size_t box, int x, int y) {
      const auto &[rows, columns] = boxes[box];
      return x >= rows[0] && x < rows[1] && y >= columns[0] && y < columns[1];
    };
    for (int x = 0; x < extent; ++x) {
      for (int y = 0; y < extent; ++y) {
        common += inside(0, x, y) && inside(1, x, y) ? 1 : 0;
        outside += inside(1, x, y) && !inside(0, x, y) ? 1 : 0;
      }
    }
    EXPECT_EQ(overlap(polynomials, regions[0], regions[1]),
              common > 0 ? Overlap::Yes : Overlap::No);
    if (covers(polynomials, regions[0], regions[1])) {
      EXPECT_EQ(outside, 0);
    } else {
      const auto &[rows, columns] = boxes[1];
      const bool empty = rows[0] == rows[1] || columns[0] == columns[1];
      EXPECT_TRUE(outside > 0 || empty);
    }
  }
}

TEST_F(RegionRelation, OtherBuffersAreElsewhere) {
  Region other = region(number(0), number(4));
  other.buffer = BufferId{1};
  EXPECT_EQ(overlap(polynomials, region(number(0), number(4)), other), Overlap::No);
}

TEST_F(RegionRelation, NeighboursInUnitsOfAnExtentAreApart) {
  const Region first = region(times(2, n), n);
  const Region second = region(times(3, n), n);
  const Region further = region(times(4, n), n);
  EXPECT_EQ(overlap(polynomials, first, second), Overlap::No); // one ends where the other begins
  EXPECT_EQ(overlap(polynomials, first, further), Overlap::Maybe); // if n were negative
  polynomials.assume_nonnegative(n);
  EXPECT_EQ(overlap(polynomials, first, further), Overlap::No);
  EXPECT_EQ(overlap(polynomials, first, second), Overlap::No);
  EXPECT_EQ(overlap(polynomials, second, first), Overlap::No);
  EXPECT_EQ(overlap(polynomials, first, region(times(2, n), times(2, n))), Overlap::Maybe); // n = 0
  EXPECT_TRUE(covers(polynomials, region(times(2, n), times(2, n)), second));
  EXPECT_FALSE(covers(polynomials, second, region(times(2, n), times(2, n))));
}

TEST_F(RegionRelation, OnlyTheDistanceOfBeginsCounts) {
  const Region here = region(i, number(4));
  EXPECT_EQ(overlap(polynomials, here, region(plus(i, 4), number(4))), Overlap::No);
  EXPECT_EQ(overlap(polynomials, here, region(plus(i, 3), number(4))), Overlap::Yes);
  EXPECT_EQ(overlap(polynomials, here, region(number(0), number(4))), Overlap::Maybe);
  EXPECT_TRUE(covers(polynomials, here, region(plus(i, 1), number(3))));
  EXPECT_FALSE(covers(polynomials, here, region(plus(i, 1), number(4))));
}

TEST_F(RegionRelation, NothingOverlapsWhatIsEmpty) {
  EXPECT_EQ(overlap(polynomials, region(number(1), number(0)), region(number(0), number(4))),
            Overlap::No);
  EXPECT_EQ(overlap(polynomials, region(i, number(0)), region(i, n)), Overlap::No);
}

TEST_F(RegionRelation, CountsBeyondEverySumAreNotWrappedAround) {
  const ExprId most = number(std::numeric_limits<std::int64_t>::max());
  EXPECT_NE(overlap(polynomials, region(most, most), region(number(0), number(1))), Overlap::Yes);
  EXPECT_NE(overlap(polynomials, region(plus(n, 1), most), region(times(2, n), most)), Overlap::No);
}

} // namespace
} // namespace cgc
