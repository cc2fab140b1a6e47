#include "passes/access_index.h"

#include "unit/expr_fixture.h"

#include <algorithm>
#include <random>
#include <set>

namespace cgc {
namespace {

using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::Region;

class AccessIndexTest : public testing::ExprFixture {
public:
  ExprId in_units(std::int64_t value) { return times(value, n); }

  std::set<std::uint32_t> near(AccessIndex &accesses, const Region &region) {
    std::set<std::uint32_t> found;
    accesses.visit_near(region, [&](const Access &access) {
      EXPECT_TRUE(found.insert(access.node.index).second) << "visited twice";
      return false;
    });
    return found;
  }

  AccessIndex index{polynomials, 0};
};

TEST_F(AccessIndexTest, FindsAllThatOverlapInBothUnits) {
  std::mt19937 random(3);
  for (const bool symbolic : {false, true}) {
    AccessIndex all(polynomials, 0);
    std::vector<std::pair<int, int>> spans;
    const auto make = [&] {
      const int begin = static_cast<int>(random() % 1000);
      const int count = 1 + static_cast<int>(random() % (random() % 4 == 0 ? 500 : 9));
      return std::pair(begin, begin + count);
    };
    const auto place = [&](int value) { return symbolic ? in_units(value) : number(value); };
    const auto region_of = [&](const std::pair<int, int> &span) {
      return region(place(span.first), place(span.second - span.first));
    };
    for (std::uint32_t node = 0; node < 300; ++node) {
      spans.push_back(make());
      all.add({{node}, region_of(spans.back())});
    }
    for (int query = 0; query < 200; ++query) {
      const auto wanted = make();
      const auto found = near(all, region_of(wanted));
      for (std::uint32_t node = 0; node < spans.size(); ++node) {
        if (spans[node].first < wanted.second && wanted.first < spans[node].second) {
          EXPECT_TRUE(found.contains(node));
        }
      }
    }
  }
}

TEST_F(AccessIndexTest, LooksAtFewOfMany) {
  constexpr std::uint32_t many = 10000;
  for (std::uint32_t node = 0; node < many; ++node) {
    index.add({{node}, region(number(10 * node), number(10))});
  }
  EXPECT_LT(near(index, region(number(50000), number(10))).size(), 10U);
}

TEST_F(AccessIndexTest, OtherUnitsAndOddPlacesAreAlwaysLookedAt) {
  index.add({{0}, region(number(100), number(4))});
  index.add({{1}, region(in_units(7), in_units(1))});
  index.add({{2}, region(program.exprs.binary(ExprOp::Add, n, number(1)), number(4))});
  EXPECT_EQ(near(index, region(number(0), number(4))), (std::set<std::uint32_t>{1, 2}));
  EXPECT_EQ(near(index, region(in_units(0), in_units(1))), (std::set<std::uint32_t>{0, 2}));
  EXPECT_EQ(near(index, region(n, number(1))), (std::set<std::uint32_t>{0, 1, 2}));
}

TEST_F(AccessIndexTest, ForgetsWhatItIsToldTo) {
  index.add({{0}, region(number(0), number(4))});
  index.add({{1}, region(number(2), number(4))});
  index.add({{2}, region(n, number(4))});
  index.visit_near(region(number(0), number(8)),
                   [](const Access &access) { return access.node.index != 1; });
  EXPECT_EQ(near(index, region(number(0), number(8))), (std::set<std::uint32_t>{1}));
}

TEST_F(AccessIndexTest, PlacesNearTheEndsOfI64DoNotOverflow) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  index.add({{0}, region(number(most - 4), number(4))});
  index.add({{1}, region(number(0), number(most))});
  index.add({{2}, region(number(2), number(most))}); // its end does not fit: looked at always
  EXPECT_EQ(near(index, region(number(most - 2), number(1))), (std::set<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(near(index, region(number(0), number(1))), (std::set<std::uint32_t>{1, 2}));
}

} // namespace
} // namespace cgc
