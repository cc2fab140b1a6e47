// `after`: edges, the order of nodes that they turn round, and what they imply.
#include "unit/text_compilation.h"

#include <gtest/gtest.h>

namespace cgc {
namespace {

using testing::TextCompilation;

/// "a c<-a(x) b": the fills by the buffer they fill, in the graph's order, with their dependencies;
/// the buffer in brackets is the reason for the edge.
std::string order(const std::string &statements) {
  const TextCompilation compilation("device a, b, c, d: f32[4]; kernel k(x: in f32[4], y: out "
                                    "f32[4]) grid(1) block(1) cuda { } "
                                    "def two(x: out f32[4], y: out f32[4]) { fill x <- 0; fill y "
                                    "<- 0; } graph main {" +
                                    statements + "}");
  EXPECT_EQ(compilation.errors(), "");
  const auto &program = compilation.program();
  const auto &nodes = program.graphs.back().nodes;
  const auto name = [&](const cgrt::format::Node &node) {
    for (const auto &effect : effects_of(program, node)) {
      if (effect.writes) {
        return program[effect.region.buffer].name;
      }
    }
    return std::string("?");
  };
  std::string text;
  for (const auto &node : nodes) {
    text += (text.empty() ? "" : " ") + name(node);
    for (const auto &dependency : node.dependencies) {
      text += "<-" + name(nodes[dependency.node.index]);
      text += dependency.buffer.valid() ? "(" + program[dependency.buffer].name + ")" : "";
    }
  }
  return text;
}

TEST(After, AddsAnEdgeBackwards) {
  EXPECT_EQ(order("L: fill a <- 0; fill b <- 0; fill c <- 0 after L;"), "a b c<-a");
}

TEST(After, ALabelFurtherDownTurnsNodesRound) {
  EXPECT_EQ(order("fill a <- 0 after L; fill b <- 0; L: fill c <- 0;"), "b c a<-c");
}

TEST(After, SeveralLabels) {
  EXPECT_EQ(order("K: fill a <- 0; L: fill b <- 0; fill c <- 0 after K, L;"), "a b c<-a<-b");
}

TEST(After, WhatDataImpliesIsLeftOut) {
  EXPECT_EQ(order("K: fill a <- 0; k(a, b); fill b <- 1 after K;"), "a b<-a(a) b<-b(b)");
  // The edge exists already, and says why.
  EXPECT_EQ(order("K: fill a <- 0; k(a, b) after K;"), "a b<-a(a)");
}

TEST(After, ANewEdgeMakesAnOldOneRedundant) {
  // c follows b by `after`, and b follows a: the edge from a to c by data goes.
  EXPECT_EQ(order("fill a <- 0; L: k(a, b); k(a, c) after L;"), "a b<-a(a) c<-b");
}

TEST(After, BlocksAreAllTheirNodes) {
  EXPECT_EQ(order("L: { fill a <- 0; fill b <- 0; } fill c <- 0 after L;"), "a b c<-a<-b");
  EXPECT_EQ(order("L: fill a <- 0; { fill b <- 0; fill c <- 0; } after L;"), "a b<-a c<-a");
  EXPECT_EQ(order("L: for i in 0..2 { fill a[i] <- 0; } fill c <- 0 after L;"), "a a c<-a<-a");
  EXPECT_EQ(order("L: two(a, b); fill c <- 0 after L;"), "a b c<-a<-b");
}

TEST(After, OnlyTheEndsOfChainsAreJoined) {
  EXPECT_EQ(order("L: { fill a <- 0; k(a, b); } fill c <- 0 after L;"), "a b<-a(a) c<-b");
  EXPECT_EQ(order("L: fill a <- 0; { fill b <- 0; k(b, c); } after L;"), "a b<-a c<-b(b)");
}

TEST(After, InnerStatementsReachOuterLabels) {
  EXPECT_EQ(order("L: fill a <- 0; { fill b <- 0 after L; fill c <- 0; }"), "a b<-a c");
  EXPECT_EQ(order("{ fill b <- 0 after L; fill c <- 0; } L: fill a <- 0;"), "c a b<-a");
  EXPECT_EQ(order("for i in 0..2 { L: fill a[i] <- 0; fill b[i] <- 0 after L; }"),
            "a b<-a a b<-a"); // the iteration's own label
}

TEST(After, EmptyBlocksJoinNothing) {
  EXPECT_EQ(order("L: for i in 0..0 { fill a <- 0; } fill b <- 0 after L;"), "b");
}

} // namespace
} // namespace cgc
