// Child graphs: their nodes stand where the child node stands.
#include "device_under_test.h"
#include "hand_made.h"

#include <gmock/gmock.h>

namespace conformance {

using cgrt::format::ChildWork;
using cgrt::format::CopyWork;
using cgrt::format::FillWork;
using cgrt::format::GraphId;
using testing::Each;
using testing::HasSubstr;

using Words = std::vector<std::uint32_t>;

cgrt::Device place(bool host, std::uint64_t seed) {
  return host ? cgrt::Device::host({seed, 0}) : cgrt::Device::cuda(0);
}

class ChildTest : public DeviceUnderTest {};
class KernelChildTest : public KernelsUnderTest {};
CONFORMANCE_SUITE(ChildTest);
CONFORMANCE_SUITE(KernelChildTest);

constexpr std::uint64_t seeds = 20;

// A, then a child of three nodes without edges, then B: at every launch all three see what A wrote,
// and B what they wrote.
TEST_P(ChildTest, AllItsRootsComeAfterWhatItDependsOn) {
  constexpr std::int64_t elements = 1000;
  HandMade made;
  const auto in = made.buffer("in", {elements});
  const auto middle = made.buffer("middle", {elements});
  const auto parts = made.buffer("parts", {3, elements});
  const auto out = made.buffer("out", {3, elements});
  const auto child = made.graph("child", false);
  for (std::int64_t part = 0; part < 3; ++part) {
    made.node(CopyWork{made.box(parts, {{part, 1}, {0, elements}}), made.whole(middle)});
  }
  made.graph("main");
  const auto before = made.node(CopyWork{made.whole(middle), made.whole(in)});
  const auto inside = made.node(ChildWork{GraphId{child}}, {before});
  made.node(CopyWork{made.whole(out), made.whole(parts)}, {inside});
  const cgrt::Program program = made.finish();
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    cgrt::Instance instance(program, place(is_host(), seed));
    cgrt::Executable graph = instance.executable();
    for (std::uint32_t launch = 1; launch <= 50; ++launch) {
      write_words(instance, "in", Words(elements, launch));
      graph.launch();
      ASSERT_THAT(read_words(instance, "out"), Each(launch)) << "seed " << seed;
    }
  }
}

TEST_P(ChildTest, AnEmptyChildPassesTheOrderOn) {
  HandMade made;
  const auto x = made.buffer("x", {1});
  const auto y = made.buffer("y", {1});
  const auto empty = made.graph("empty", false);
  const auto holder = made.graph("holder", false);
  made.node(ChildWork{GraphId{empty}});
  made.graph("main");
  const auto first = made.node(FillWork{made.whole(x), made.number(3)});
  const auto between = made.node(ChildWork{GraphId{empty}}, {first});
  const auto nested = made.node(ChildWork{GraphId{holder}}, {between});
  made.node(CopyWork{made.whole(y), made.whole(x)}, {nested});
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    cgrt::Instance instance(made.finish(), place(is_host(), seed));
    write_words(instance, "x", {0});
    cgrt::Executable graph = instance.executable();
    graph.launch();
    EXPECT_EQ(read_words(instance, "y"), Words{3}) << "seed " << seed;
  }
}

TEST_P(ChildTest, ChildrenAreNoEntries) {
  HandMade made;
  made.graph("inner", false);
  made.graph("main");
  made.node(ChildWork{GraphId{0}});
  const cgrt::Program program = made.finish();
  ASSERT_EQ(program.graphs().size(), 1U);
  EXPECT_EQ(program.graphs()[0].name, "main");
  cgrt::Instance instance(program, place(is_host(), 0));
  EXPECT_THROW(instance.executable("inner"), cgrt::Error);
}

KernelText increment_kernel() {
  return {"increment", {output("x", ScalarType::U32)}, "x[0] += 1;"};
}

// An inner graph adds 1, a middle one holds it twice, the outer one the middle one twice and the
// inner one once: every launch adds 5.
TEST_P(KernelChildTest, OneGraphServesManyNodesAtAnyDepth) {
  HandMade made(compile({increment_kernel()}, target()));
  const auto x = made.buffer("x", {1});
  const auto inner = made.graph("inner", false);
  made.node(made.launch(0, {made.whole(x)}));
  const auto middle = made.graph("middle", false);
  const auto once = made.node(ChildWork{GraphId{inner}});
  made.node(ChildWork{GraphId{inner}}, {once});
  made.graph("main");
  const auto first = made.node(ChildWork{GraphId{middle}});
  const auto second = made.node(ChildWork{GraphId{inner}}, {first});
  made.node(ChildWork{GraphId{middle}}, {second});
  cgrt::Instance instance(made.finish(), place(is_host(), 0));
  write_words(instance, "x", {100});
  cgrt::Executable graph = instance.executable();
  for (int launch = 0; launch < 10; ++launch) {
    graph.launch();
  }
  EXPECT_EQ(read_words(instance, "x"), Words{150});
}

// Nodes with nothing to do, at three depths: the kernels would add to x, were they run as they
// stand.
TEST_P(KernelChildTest, NodesWithNothingToDoStayOffInsideChildren) {
  HandMade made(compile({increment_kernel()}, target()));
  const auto n = made.param("n");
  const auto x = made.buffer("x", {1});
  const auto y = made.buffer("y", {3});
  const auto idle = [&] {
    auto work = made.launch(0, {made.whole(x)});
    work.grid[0] = n;
    return work;
  };
  const auto mark = [&](std::int64_t at) {
    return FillWork{made.box(y, {{at, 1}}), made.number(at + 1)};
  };
  const auto inner = made.graph("inner", false);
  made.node(mark(0), {made.node(idle())});
  const auto middle = made.graph("middle", false);
  made.node(idle());
  made.node(ChildWork{GraphId{inner}}, {0});
  made.node(mark(1), {1});
  made.graph("main");
  made.node(ChildWork{GraphId{middle}});
  made.node(idle(), {0});
  made.node(mark(2), {1});
  const cgrt::Program program = made.finish();
  for (const std::int64_t grid : {0, 1}) {
    cgrt::Instance instance(program, place(is_host(), 0), {{"n", grid}});
    write_words(instance, "x", {7});
    write_words(instance, "y", {0, 0, 0});
    cgrt::Executable graph = instance.executable();
    graph.launch();
    EXPECT_EQ(read_words(instance, "x"), Words{grid == 0 ? 7U : 10U});
    EXPECT_EQ(read_words(instance, "y"), (Words{1, 2, 3}));
  }
}

TEST_P(KernelChildTest, AFailureInsideIsTheInnerNodes) {
  if (!is_host()) {
    GTEST_SKIP() << "a failure on a GPU ends its context";
  }
  HandMade made(compile({{"broken", {}, "assert(false);"}}, target()));
  const auto inner = made.graph("inner", false);
  made.node(made.launch(0, {}));
  made.graph("main");
  made.node(ChildWork{GraphId{inner}});
  cgrt::Instance instance(made.finish(), place(true, 0));
  cgrt::Executable graph = instance.executable();
  graph.launch();
  try {
    graph.wait();
    ADD_FAILURE() << "no error";
  } catch (const cgrt::Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("kernel broken: "));
  }
}

TEST_P(KernelChildTest, LaunchAttributesDoNotChangeTheResult) {
  HandMade made(
      compile({{"count", {output("x", ScalarType::U32)}, "atomicAdd(x, 1u);"}}, target()));
  const auto x = made.buffer("x", {1});
  auto clustered = made.launch(0, {made.whole(x)});
  clustered.grid[0] = made.number(6);
  clustered.cluster[0] = made.number(2);
  auto cooperative = made.launch(0, {made.whole(x)});
  cooperative.grid[0] = made.number(4);
  cooperative.cooperative = made.number(1);
  auto urgent = made.launch(0, {made.whole(x)});
  urgent.priority = made.number(-1000);
  made.graph("main");
  made.node(clustered);
  made.node(cooperative, {0});
  made.node(urgent, {1});
  cgrt::Instance instance(made.finish(), place(is_host(), 0));
  write_words(instance, "x", {0});
  cgrt::Executable graph = instance.executable();
  graph.launch();
  EXPECT_EQ(read_words(instance, "x"), Words{11});
}

TEST_P(KernelChildTest, GeometryFromParamsIsCheckedOnEveryDevice) {
  HandMade made(compile({increment_kernel()}, target()));
  const auto n = made.param("n");
  const auto x = made.buffer("x", {1});
  auto work = made.launch(0, {made.whole(x)});
  work.grid[1] = n;
  work.cluster[1] = made.number(3);
  made.graph("main");
  made.node(work);
  const cgrt::Program program = made.finish();
  const auto refusal = [&](std::int64_t grid) -> std::string {
    cgrt::Instance instance(program, place(is_host(), 0), {{"n", grid}});
    try {
      instance.executable();
    } catch (const cgrt::Error &error) {
      EXPECT_EQ(error.code(), cgrt::ErrorCode::InvalidValue);
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(refusal(65535), "no error");
  EXPECT_EQ(refusal(7),
            "kernel increment: grid.y is 7, not a multiple of the cluster's 3 [geometry]");
  EXPECT_EQ(refusal(65538), "kernel increment: grid.y is 65538; the limit is 65535 [geometry]");
}

} // namespace conformance
