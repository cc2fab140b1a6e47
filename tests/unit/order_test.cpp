#include "unit/text_compilation.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace cgc {
namespace {

using cgrt::format::Graph;
using testing::TextCompilation;

constexpr std::string_view head = R"(
kernel rw(a: in f32[8], b: inout f32[8]) grid(1) block(8) cuda { b[threadIdx.x] += a[threadIdx.x]; }
kernel w(b: out f32[8]) grid(1) block(8) cuda { b[threadIdx.x] = 0; }
kernel r(a: in f32[8], b: out f32[8]) grid(1) block(8) cuda { b[threadIdx.x] = a[threadIdx.x]; }
host in h: f32[8];
device a, b, c, d: f32[8];
)";

/// "3<-1(a)": node 3 comes after node 1 because of buffer a.
std::string edges(const TextCompilation &compilation) {
  std::string text;
  const auto &program = compilation.program();
  const auto &nodes = program.graphs.at(0).nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const auto &dependency : nodes[i].dependencies) {
      text += std::to_string(i) + "<-" + std::to_string(dependency.node.index) + "(" +
              program[dependency.buffer].name + ") ";
    }
  }
  return text;
}

std::string edges_of(const std::string &statements) {
  const TextCompilation compilation(std::string(head) + "graph main {" + statements + "}");
  EXPECT_EQ(compilation.errors(), "");
  return edges(compilation);
}

TEST(Order, ReadAfterWrite) {
  EXPECT_EQ(edges_of("w(a); r(a, b);"), "1<-0(a) ");
}

TEST(Order, WriteAfterRead) {
  EXPECT_EQ(edges_of("r(a, b); w(a);"), "1<-0(a) ");
}

TEST(Order, WriteAfterWrite) {
  EXPECT_EQ(edges_of("w(a); w(a);"), "1<-0(a) ");
}

TEST(Order, IndependentWorkAndReadersOfOneBufferAreNotOrdered) {
  EXPECT_EQ(edges_of("w(a); w(b);"), "");
  EXPECT_EQ(edges_of("r(a, b); r(a, c);"), "");
  EXPECT_EQ(edges_of("copy a <- h; copy b <- h;"), "");
}

TEST(Order, ImpliedEdgesAreLeftOut) {
  EXPECT_EQ(edges_of("w(a); r(a, b); r(b, c); rw(a, c);"), "1<-0(a) 2<-1(b) 3<-2(c) ");
  EXPECT_EQ(edges_of("w(a); r(a, b); r(a, c); w(a);"), "1<-0(a) 2<-0(a) 3<-1(a) 3<-2(a) ");
  EXPECT_EQ(edges_of("w(a); rw(a, b); rw(a, b); rw(a, b);"), "1<-0(a) 2<-1(b) 3<-2(b) ");
}

/// Random programs: any two conflicting nodes are connected by a path, and no edge can be removed.
TEST(Order, RandomProgramsAreOrderedExactly) {
  std::mt19937 random(7);
  const std::string names = "abcd";
  for (int round = 0; round < 100; ++round) {
    std::string statements;
    for (int k = 0; k < 30; ++k) {
      const std::size_t first = random() % 4;
      const std::size_t second = (first + 1 + random() % 3) % 4;
      const std::string x(1, names[first]);
      const std::string y(1, names[second]);
      constexpr int kinds = 4;
      switch (random() % kinds) {
      case 0:
        statements += "w(" + x + ");";
        break;
      case 1:
        statements += "rw(" + x + "," + y + ");";
        break;
      case 2:
        statements += "copy " + x + " <- " + y + ";";
        break;
      default:
        statements += "fill " + x + " <- 1;";
      }
    }
    const TextCompilation compilation(std::string(head) + "graph main {" + statements + "}");
    ASSERT_EQ(compilation.errors(), "");
    const auto &program = compilation.program();
    const auto &nodes = program.graphs[0].nodes;
    std::vector<std::set<std::size_t>> ancestors(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const auto &dependency : nodes[i].dependencies) {
        const std::size_t parent = dependency.node.index;
        ASSERT_FALSE(ancestors[i].contains(parent)) << "implied edge " << parent << " -> " << i;
        ancestors[i].insert(parent);
        ancestors[i].insert(ancestors[parent].begin(), ancestors[parent].end());
      }
      for (const auto &effect : effects_of(program, nodes[i])) {
        for (std::size_t j = 0; j < i; ++j) {
          for (const auto &other : effects_of(program, nodes[j])) {
            const bool conflict =
                effect.region.buffer == other.region.buffer && (effect.writes || other.writes);
            ASSERT_TRUE(!conflict || ancestors[i].contains(j)) << j << " and " << i;
          }
        }
      }
    }
  }
}

/// Chains, fans and wide layers stay cheap: what is remembered is bounded by what is live.
TEST(Order, ManyNodesOfEveryShapeAreOrdered) {
  std::string statements = "w(a);";
  constexpr int count = 20000;
  for (int k = 0; k < count; ++k) {
    statements += k % 2 == 0 ? "rw(a, b);" : "r(a, c);";
  }
  statements += "w(a);";
  const TextCompilation compilation(std::string(head) + "graph main {" + statements + "}");
  ASSERT_EQ(compilation.errors(), "");
  const auto &nodes = compilation.program().graphs[0].nodes;
  ASSERT_EQ(nodes.size(), static_cast<std::size_t>(count) + 2);
  // The last write follows the two chains' ends; everything else is implied.
  EXPECT_EQ(nodes.back().dependencies.size(), 2U);
}

} // namespace
} // namespace cgc
