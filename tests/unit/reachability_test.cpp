#include "ir/reachability.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace cgc {
namespace {

using Nodes = std::vector<std::uint32_t>;

TEST(Reachability, DropsWhatAChainImplies) {
  Reachability reachability;
  reachability.add(Nodes{});
  reachability.add(Nodes{0});
  reachability.add(Nodes{1});
  EXPECT_EQ(reachability.reduce(Nodes{0, 1, 2}), Nodes{2});
  EXPECT_EQ(reachability.reduce(Nodes{}), Nodes{});
}

TEST(Reachability, KeepsIndependentBranches) {
  Reachability reachability;
  reachability.add(Nodes{});     // 0
  reachability.add(Nodes{0});    // 1
  reachability.add(Nodes{0});    // 2
  reachability.add(Nodes{1, 2}); // 3
  reachability.add(Nodes{2});    // 4
  EXPECT_EQ(reachability.reduce(Nodes{0, 1, 2}), (Nodes{1, 2}));
  EXPECT_EQ(reachability.reduce(Nodes{1, 2, 3}), Nodes{3});
  EXPECT_EQ(reachability.reduce(Nodes{1, 4}), (Nodes{1, 4}));
  EXPECT_EQ(reachability.reduce(Nodes{2, 3, 4}), (Nodes{3, 4}));
}

/// Random graphs against the definition: an edge stays when no path of other edges implies it.
TEST(Reachability, EqualsTheDefinitionOnRandomGraphs) {
  std::minstd_rand random(1);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t size = 2 + static_cast<std::uint32_t>(random() % 40);
    const std::uint32_t density = 1 + static_cast<std::uint32_t>(random() % 6);
    Reachability reachability;
    std::vector<std::set<std::uint32_t>> ancestors(size);
    for (std::uint32_t node = 0; node < size; ++node) {
      std::set<std::uint32_t> wanted;
      for (std::uint32_t k = 0; node > 0 && k < density; ++k) {
        wanted.insert(static_cast<std::uint32_t>(random() % node));
      }
      Nodes expected;
      for (const std::uint32_t candidate : wanted) {
        bool implied = false;
        for (const std::uint32_t other : wanted) {
          implied = implied || ancestors[other].contains(candidate);
        }
        if (!implied) {
          expected.push_back(candidate);
        }
      }
      const Nodes kept = reachability.reduce(Nodes(wanted.begin(), wanted.end()));
      ASSERT_EQ(kept, expected) << "round " << round << " node " << node;
      reachability.add(kept);
      for (const std::uint32_t predecessor : kept) {
        ancestors[node].insert(predecessor);
        ancestors[node].insert(ancestors[predecessor].begin(), ancestors[predecessor].end());
      }
      const Reachability::Ancestors found(reachability, node);
      for (std::uint32_t earlier = 0; earlier < node; ++earlier) {
        ASSERT_EQ(found.contains(earlier), ancestors[node].contains(earlier));
        ASSERT_EQ(reachability.precedes(earlier, node), ancestors[node].contains(earlier));
      }
    }
  }
}

} // namespace
} // namespace cgc
