#include "format/program.h"

#include <gmock/gmock.h>

namespace cgrt::format {
namespace {

using ::testing::ElementsAre;

/// Buffers x and y of [n, 4] f32 elements.
class ProgramTest : public ::testing::Test {
protected:
  ProgramTest() {
    program_.params.push_back({"n", ScalarType::I64, {}, {}});
    for (const char *name : {"x", "y"}) {
      Buffer buffer;
      buffer.name = name;
      buffer.shape = {n_, number(4)};
      program_.buffers.push_back(std::move(buffer));
    }
  }

  ExprId number(std::int64_t value) { return program_.exprs.constant(Value::of(value)); }
  Region box(std::uint32_t buffer, Range rows, Range columns) {
    return {{buffer}, {rows, columns}};
  }
  Region whole(std::uint32_t buffer) {
    return box(buffer, {number(0), n_}, {number(0), number(4)});
  }

  std::string text(Work work, std::string name = {}) {
    return describe(program_, {std::move(work), {}, {}, std::move(name)});
  }

  Program program_;
  ExprId n_ = program_.exprs.parameter({0}, ScalarType::I64);
};

TEST_F(ProgramTest, AWholeBufferNeedsNoRanges) {
  EXPECT_EQ(text(CopyWork{whole(0), whole(1)}), "copy x <- y");
  EXPECT_TRUE(is_whole(program_, whole(0)));
  EXPECT_FALSE(is_whole(program_, box(0, {number(0), n_}, {number(1), number(3)})));
  EXPECT_FALSE(is_whole(program_, box(0, {n_, n_}, {number(0), number(4)})));
}

TEST_F(ProgramTest, SlicesAreSaidAsFarAsTheyAreKnown) {
  const Region row = box(0, {number(3), number(1)}, {number(0), number(4)});
  EXPECT_EQ(text(CopyWork{row, whole(1)}), "copy x[3, 0:4] <- y");
  const Region columns = box(1, {number(0), n_}, {number(1), number(2)});
  EXPECT_EQ(text(FillWork{columns, number(0)}), "fill y[:, 1:3]");
  const ExprId half = program_.exprs.binary(ExprOp::Div, n_, number(2));
  EXPECT_EQ(text(FillWork{box(1, {half, half}, {number(2), number(1)}), number(0)}),
            "fill y[…:…, 2]");
  EXPECT_EQ(text(FillWork{box(1, {number(2), half}, {half, number(1)}), number(0)}),
            "fill y[2:…, …]");
}

TEST_F(ProgramTest, ANodesOwnNameComesFirst) {
  EXPECT_EQ(text(CopyWork{whole(0), whole(1)}, "load"), "load");
}

TEST_F(ProgramTest, AChildDoesWhatItsGraphDoes) {
  Graph inner;
  inner.name = "inner";
  inner.entry = false;
  inner.nodes.push_back({CopyWork{whole(0), whole(1)}, {}, {}});
  Graph outer;
  outer.name = "outer";
  outer.entry = false;
  outer.nodes.push_back({ChildWork{{0}}, {}, {}});
  outer.nodes.push_back({ChildWork{{0}}, {}, {}});
  program_.graphs = {inner, outer};
  EXPECT_EQ(text(ChildWork{{1}}), "child outer");
  std::vector<std::pair<std::uint32_t, bool>> effects; // buffer, writes
  for (const Effect &effect : effects_of(program_, {ChildWork{{1}}, {}, {}})) {
    EXPECT_NE(effect.reads, effect.writes);
    effects.emplace_back(effect.region.buffer.index, effect.writes);
  }
  EXPECT_THAT(effects, ElementsAre(std::pair(0U, true), std::pair(1U, false)));
}

// Two uses of each graph by the next one: 2^40 paths lead to the first.
TEST_F(ProgramTest, EffectsOfNestedChildrenDoNotMultiply) {
  for (std::uint32_t depth = 0; depth < 41; ++depth) {
    Graph graph;
    graph.entry = false;
    for (int use = 0; use < 2; ++use) {
      if (depth == 0) {
        graph.nodes.push_back({FillWork{whole(0), number(1)}, {}, {}});
      } else {
        graph.nodes.push_back({ChildWork{{depth - 1}}, {}, {}});
      }
    }
    program_.graphs.push_back(std::move(graph));
  }
  EXPECT_EQ(effects_of(program_, {ChildWork{{40}}, {}, {}}).size(), 2U);
}

} // namespace
} // namespace cgrt::format
