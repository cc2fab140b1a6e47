#include "graph_builder.h"

#include "unit/recording_graph.h"

#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <limits>

namespace cgrt {
namespace {

using format::BufferId;
using format::ExprId;
using format::Mode;
using format::Region;
using format::Value;
using ::testing::ElementsAre;
using testing::FakeCode;
using ::testing::HasSubstr;
using testing::Recorded;
using testing::RecordingGraph;

/// Buffers x and y of n f32 elements, z of n u16 elements, each at a made-up address; the kernel
/// work(k: u8, a: in f32[], b: inout f32[]).
class GraphBuilderTest : public ::testing::Test {
protected:
  GraphBuilderTest() {
    program_.files = {"g.cgraph"};
    program_.params.push_back({"n", ScalarType::I64, {}, {}});
    for (const auto &[name, type] :
         {std::pair{"x", ScalarType::F32}, {"y", ScalarType::F32}, {"z", ScalarType::U16}}) {
      program_.buffers.push_back(
          {name, type, MemorySpace::Device, CallerAccess::Private, {n_}, {}});
    }
    program_.kernels.push_back({"work",
                                "work",
                                {{"k", ScalarType::U8, false, Mode::In},
                                 {"a", ScalarType::F32, true, Mode::In},
                                 {"b", ScalarType::F32, true, Mode::InOut}},
                                {}});
  }

  ExprId number(std::int64_t value) { return program_.exprs.constant(Value::of(value)); }
  Region region(std::uint32_t buffer, ExprId offset, ExprId count) {
    return {BufferId{buffer}, {{offset, count}}};
  }
  Region whole(std::uint32_t buffer) { return region(buffer, number(0), n_); }

  format::KernelWork launch(ExprId grid, ExprId k, Region a, Region b) {
    const ExprId one = number(1);
    format::KernelWork work;
    work.kernel = {0};
    work.grid = {grid, one, one};
    work.block = {number(32), one, one};
    work.shared_bytes = number(64);
    work.cluster = {one, one, one};
    work.cooperative = number(0);
    work.priority = number(0);
    work.arguments = {k, a, b};
    return work;
  }

  void add(format::Work work, std::vector<format::Dependency> dependencies = {}) {
    const auto line = static_cast<std::uint32_t>(10 + graph_.nodes.size());
    graph_.nodes.push_back({std::move(work), std::move(dependencies), {{0}, line, 1}});
  }

  /// The nodes of `graph_`.
  std::vector<Recorded> build(std::int64_t n) {
    program_.graphs = {graph_};
    return static_cast<const RecordingGraph &>(*build_graphs(0, n).owned.back()).nodes;
  }

  BuiltGraphs build_graphs(std::uint32_t graph, std::int64_t n) {
    const Parameters parameters(program_, {{"n", n}});
    std::array<PlacedBuffer, 3> buffers;
    for (std::size_t i = 0; i < 3; ++i) {
      buffers[i] = {address(i, 0), {n}};
    }
    return GraphBuilder(program_, parameters, buffers, code_, testing::no_bindings, address(9, 0))
        .build({graph}, [] { return std::make_unique<RecordingGraph>(); });
  }

  std::string error(std::int64_t n) {
    try {
      build(n);
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidValue);
      return error.what();
    }
    return "no error";
  }

  static std::byte *address(std::size_t buffer, std::size_t offset) {
    return std::bit_cast<std::byte *>((buffer + 1) * 0x1000000 + offset);
  }

  format::Program program_;
  ExprId n_ = program_.exprs.parameter({0}, ScalarType::I64);
  format::Graph graph_;
  FakeCode code_;
};

TEST_F(GraphBuilderTest, ResolvesALaunch) {
  add(launch(n_, number(200), region(0, number(4), number(6)), whole(1)));
  const std::vector<Recorded> nodes = build(100);
  ASSERT_EQ(nodes.size(), 1U);
  const auto &params = std::get<KernelParams>(nodes[0].params);
  EXPECT_EQ(params.function, &code_.functions[0]);
  EXPECT_EQ(params.grid.x, 100U);
  EXPECT_EQ(params.block.x, 32U);
  EXPECT_EQ(params.shared_bytes, 64U);
  EXPECT_THAT(params.arguments, ElementsAre(200, reinterpret_cast<std::uintptr_t>(address(0, 16)),
                                            reinterpret_cast<std::uintptr_t>(address(1, 0))));
  EXPECT_TRUE(nodes[0].enabled);
  EXPECT_EQ(nodes[0].label.text(), "kernel work");
  EXPECT_EQ(nodes[0].label.where().line, 10U);
}

TEST_F(GraphBuilderTest, ResolvesCopiesFillsAndDependencies) {
  add(format::FillWork{whole(2), number(65535)});
  add(format::CopyWork{region(0, number(2), number(3)), region(1, number(0), number(3))});
  add(format::CopyWork{whole(1), whole(0)}, {{{0}, {}}, {{1}, {}}});
  const std::vector<Recorded> nodes = build(10);
  ASSERT_EQ(nodes.size(), 3U);
  const auto &fill = std::get<FillParams>(nodes[0].params);
  EXPECT_EQ(fill.destination, address(2, 0));
  EXPECT_EQ(fill.pattern, 0xFFFFU);
  EXPECT_EQ(fill.element_bytes, 2U);
  EXPECT_EQ(fill.width, 10U);
  const auto &copy = std::get<CopyParams>(nodes[1].params);
  EXPECT_EQ(copy.destination, address(0, 8));
  EXPECT_EQ(copy.source, address(1, 0));
  EXPECT_EQ(copy.width, 12U);
  EXPECT_THAT(nodes[2].dependencies, ElementsAre(0, 1));
}

TEST_F(GraphBuilderTest, NodesWithNothingToDoAreDisabledWithLegalParams) {
  add(format::FillWork{whole(2), number(1)});
  add(format::CopyWork{whole(1), whole(0)}, {{{0}, {}}});
  add(launch(n_, number(1), whole(0), whole(1)), {{{1}, {}}});
  const std::vector<Recorded> nodes = build(0);
  ASSERT_EQ(nodes.size(), 3U);
  for (const Recorded &node : nodes) {
    EXPECT_FALSE(node.enabled);
  }
  EXPECT_THAT(nodes[2].dependencies, ElementsAre(1));
  const auto &fill = std::get<FillParams>(nodes[0].params);
  EXPECT_EQ(fill.destination, address(9, 0));
  EXPECT_EQ(fill.width, 1U);
  const auto &copy = std::get<CopyParams>(nodes[1].params);
  EXPECT_EQ(copy.width, 1U);
  EXPECT_NE(copy.destination, copy.source);
  EXPECT_EQ(std::get<KernelParams>(nodes[2].params).grid.x, 1U);
}

TEST_F(GraphBuilderTest, RefusesGeometryBeyondTheLimits) {
  add(format::FillWork{whole(2), number(1)});
  format::KernelWork work = launch(number(1), number(1), whole(0), whole(1));
  work.grid[1] = n_;
  add(work);
  EXPECT_EQ(error(65536),
            "g.cgraph:11: kernel work: grid.y is 65536; the limit is 65535 [geometry]");
  EXPECT_EQ(error(65535), "no error");
}

TEST_F(GraphBuilderTest, RefusesNegativeGeometry) {
  add(launch(program_.exprs.unary(format::ExprOp::Neg, n_), number(1), whole(0), whole(1)));
  EXPECT_THAT(error(1), HasSubstr("kernel work: grid.x is -1"));
}

TEST_F(GraphBuilderTest, RefusesScalarsOutsideTheirType) {
  add(launch(number(1), n_, whole(0), whole(1)));
  EXPECT_EQ(error(256), "g.cgraph:10: kernel work: argument k is 256, which u8 does not hold "
                        "[range]");
  EXPECT_EQ(error(255), "no error");
}

TEST_F(GraphBuilderTest, RefusesFillValuesOutsideTheElementType) {
  add(format::FillWork{whole(2), n_});
  EXPECT_EQ(error(65536), "g.cgraph:10: fill z: the value is 65536, which u16 does not hold "
                          "[range]");
}

TEST_F(GraphBuilderTest, RefusesRangesOutsideTheirBuffer) {
  add(format::CopyWork{region(0, number(8), number(3)), region(1, number(0), number(3))});
  EXPECT_EQ(error(10),
            "g.cgraph:10: copy x[8:11] <- y[0:3]: dimension 0 of x: 3 elements from 8 on are "
            "not within its 10 [range]");
  EXPECT_EQ(error(11), "no error");
}

TEST_F(GraphBuilderTest, RefusesNegativeAndHugeRangesWithoutOverflow) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const auto &[offset, count] :
       {std::pair<std::int64_t, std::int64_t>{-1, 1}, {0, -1}, {most, most}, {1, most}}) {
    graph_.nodes.clear();
    add(format::FillWork{region(2, number(offset), number(count)), number(0)});
    EXPECT_THAT(error(10), HasSubstr("[range]")) << offset << ", " << count;
  }
}

TEST_F(GraphBuilderTest, RefusesCopiesOfDifferentCounts) {
  add(format::CopyWork{region(0, number(0), number(4)), region(1, number(0), n_)});
  EXPECT_EQ(error(5), "g.cgraph:10: copy x[0:4] <- y: the destination's extents are [4], the "
                      "source's [5] [shape]");
}

TEST_F(GraphBuilderTest, RefusesOverlaps) {
  add(format::CopyWork{region(0, number(4), number(5)), region(0, number(0), number(5))});
  EXPECT_EQ(error(10),
            "g.cgraph:10: copy x[4:9] <- x[0:5]: the source and the destination overlap [alias]");
  graph_.nodes.clear();
  add(format::CopyWork{region(0, number(5), number(5)), region(0, number(0), number(5))});
  EXPECT_EQ(error(10), "no error");
  graph_.nodes.clear();
  add(launch(number(1), number(1), region(1, number(0), number(6)),
             region(1, number(5), number(5))));
  EXPECT_EQ(error(10), "g.cgraph:10: kernel work: arguments a and b overlap in y [alias]");
  graph_.nodes.clear();
  add(launch(number(1), number(1), region(1, number(0), number(5)),
             region(1, number(5), number(5))));
  EXPECT_EQ(error(10), "no error");
}

TEST_F(GraphBuilderTest, ResolvesLaunchAttributes) {
  format::KernelWork work = launch(n_, number(1), whole(0), whole(1));
  work.cluster[0] = number(2);
  work.cooperative = number(1);
  work.priority = number(-3);
  add(work);
  const std::vector<Recorded> nodes = build(6);
  const auto &params = std::get<KernelParams>(nodes.at(0).params);
  EXPECT_EQ(params.cluster.x, 2U);
  EXPECT_EQ(params.cluster.y, 1U);
  EXPECT_TRUE(params.cooperative);
  EXPECT_EQ(params.priority, -3);
  EXPECT_EQ(error(7), "g.cgraph:10: kernel work: grid.x is 7, not a multiple of the cluster's 2 "
                      "[geometry]");
  const std::vector<Recorded> nothing = build(0);
  EXPECT_FALSE(nothing.at(0).enabled);
  EXPECT_EQ(std::get<KernelParams>(nothing.at(0).params).grid.x, 2U) << "legal for the cluster";
}

TEST_F(GraphBuilderTest, RefusesAttributesOutsideTheirRange) {
  format::KernelWork work = launch(number(1), number(1), whole(0), whole(1));
  work.cooperative = n_;
  add(work);
  EXPECT_EQ(error(2), "g.cgraph:10: kernel work: cooperative is 2, which bool does not hold "
                      "[range]");
  EXPECT_EQ(error(1), "no error");
  graph_.nodes.clear();
  work.cooperative = number(0);
  work.priority = n_;
  add(work);
  EXPECT_EQ(error(std::int64_t{1} << 31),
            "g.cgraph:10: kernel work: the priority is 2147483648, which i32 does not hold "
            "[range]");
}

TEST_F(GraphBuilderTest, ANodesOwnNameStandsInErrors) {
  add(launch(n_, number(1), whole(0), whole(1)));
  graph_.nodes[0].name = "relax";
  EXPECT_EQ(error(-1), "g.cgraph:10: relax: grid.x is -1; it must be at least 0 [geometry]");
}

// Graphs "inner" (a fill of z), "unused", "outer" (inner twice) and "main" (outer, then inner).
TEST_F(GraphBuilderTest, BuildsEachChildOnceBeforeItsUsers) {
  const auto child = [](std::uint32_t index) { return format::ChildWork{format::GraphId{index}}; };
  const auto graph = [](std::string name, std::vector<format::Work> works) {
    format::Graph made;
    made.name = std::move(name);
    made.entry = made.name == "main";
    for (format::Work &work : works) {
      made.nodes.push_back({std::move(work), {}, {}});
    }
    return made;
  };
  program_.graphs = {graph("inner", {format::FillWork{whole(2), number(1)}}),
                     graph("unused", {format::FillWork{whole(0), number(1)}}),
                     graph("outer", {child(0), child(0)}), graph("main", {child(2), child(0)})};
  EXPECT_THAT(verify(program_), ElementsAre());
  const std::vector<std::unique_ptr<DeviceGraph>> built = build_graphs(3, 0).owned;
  ASSERT_EQ(built.size(), 3U);
  const auto nodes = [&](std::size_t index) {
    return static_cast<const RecordingGraph &>(*built[index]).nodes;
  };
  const auto graph_of = [](const Recorded &node) {
    EXPECT_TRUE(node.enabled);
    return std::get<ChildParams>(node.params).graph;
  };
  ASSERT_EQ(nodes(0).size(), 1U);
  EXPECT_FALSE(nodes(0)[0].enabled) << "it fills nothing";
  ASSERT_EQ(nodes(1).size(), 2U);
  EXPECT_EQ(graph_of(nodes(1)[0]), built[0].get());
  EXPECT_EQ(graph_of(nodes(1)[1]), built[0].get());
  ASSERT_EQ(nodes(2).size(), 2U);
  EXPECT_EQ(graph_of(nodes(2)[0]), built[1].get());
  EXPECT_EQ(graph_of(nodes(2)[1]), built[0].get());
  EXPECT_EQ(nodes(2)[0].label.text(), "child outer");
}

TEST_F(GraphBuilderTest, NamesTheExpressionThatHasNoValue) {
  const ExprId product = program_.exprs.binary(format::ExprOp::Mul, n_, n_);
  add(launch(product, number(1), whole(0), whole(1)));
  EXPECT_EQ(error(std::int64_t{1} << 32),
            "g.cgraph:10: kernel work: grid.x: the result does not fit 64 bits [range]");
}

} // namespace
} // namespace cgrt
