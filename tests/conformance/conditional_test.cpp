// Branches and loops that kernels decide on the device.
#include "device_under_test.h"
#include "hand_made.h"

#include <gmock/gmock.h>

namespace conformance {

using cgrt::format::ChildWork;
using cgrt::format::ConditionalType;
using cgrt::format::ConditionId;
using cgrt::format::CopyWork;
using cgrt::format::FillWork;
using cgrt::format::GraphId;

using Words = std::vector<std::uint32_t>;

class ConditionalTest : public KernelsUnderTest {
protected:
  cgrt::Device place(std::uint64_t seed = 0) const {
    return is_host() ? cgrt::Device::host({seed, 0}) : cgrt::Device::cuda(0);
  }
};
CONFORMANCE_SUITE(ConditionalTest);

/// A kernel that may set a condition.
KernelText deciding(const std::string &name, std::vector<KernelParam> params,
                    const std::string &parameters, const std::string &body) {
  return {name, std::move(params),
          "#ifdef __CUDACC_RTC__\n"
          "extern \"C\" __device__ void cudaGraphSetConditional(unsigned long long, unsigned);\n"
          "#endif\n"
          "__global__ void " +
              name + "(" + parameters + ") { " + body + " }\n",
          name};
}

/// Sets a condition to x[0].
KernelText decide() {
  return deciding("decide", {scalar("h", ScalarType::U64), input("x", ScalarType::U32)},
                  "unsigned long long h, const unsigned *x", "cudaGraphSetConditional(h, x[0]);");
}

/// Subtracts 1 from x[0] and sets a condition to what is left.
KernelText count_down() {
  return deciding("count_down", {scalar("h", ScalarType::U64), output("x", ScalarType::U32)},
                  "unsigned long long h, unsigned *x", "cudaGraphSetConditional(h, --x[0]);");
}

KernelText increment() {
  return {"increment", {output("x", ScalarType::U32)}, "x[0] += 1;"};
}

// The value that chooses a body, for one and for two bodies of an If, and for a Switch.
TEST_P(ConditionalTest, TheValueChoosesTheBody) {
  constexpr std::uint32_t none = 99;
  struct Choice {
    ConditionalType type;
    std::uint32_t bodies;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> chosen; // by value
  };
  for (const Choice &choice : std::vector<Choice>{
           {ConditionalType::If, 1, {{0, none}, {1, 0}, {0xFFFFFFFF, 0}}},
           {ConditionalType::If, 2, {{0, 1}, {1, 0}, {2, 0}}},
           {ConditionalType::Switch, 1, {{0, 0}, {1, none}}},
           {ConditionalType::Switch, 40, {{0, 0}, {39, 39}, {40, none}, {0xFFFFFFFF, none}}}}) {
    HandMade made(compile({decide()}, target()));
    const auto x = made.buffer("x", {1});
    const auto y = made.buffer("y", {1});
    const ConditionId condition = made.condition();
    Words bodies;
    for (std::uint32_t i = 0; i < choice.bodies; ++i) {
      bodies.push_back(made.graph("body" + std::to_string(i), false));
      made.node(FillWork{made.whole(y), made.number(i)});
    }
    made.graph("main");
    made.node(made.launch(0, {condition, made.whole(x)}));
    made.conditional(choice.type, condition, bodies, {0});
    cgrt::Instance instance(made.finish(), place());
    cgrt::Executable graph = instance.executable();
    for (const auto &[value, body] : choice.chosen) {
      write_words(instance, "x", {value});
      write_words(instance, "y", {none});
      graph.launch();
      EXPECT_EQ(read_words(instance, "y"), Words{body})
          << "value " << value << " of " << choice.bodies;
    }
  }
}

TEST_P(ConditionalTest, AWhileRunsUntilItsValueIs0) {
  HandMade made(compile({count_down(), increment(), decide()}, target()));
  const auto x = made.buffer("x", {1});
  const auto y = made.buffer("y", {1});
  const ConditionId condition = made.condition();
  const auto body = made.graph("body", false);
  made.node(made.launch(1, {made.whole(y)}));
  made.node(made.launch(0, {condition, made.whole(x)}));
  made.graph("main");
  made.node(made.launch(2, {condition, made.whole(x)}));
  made.conditional(ConditionalType::While, condition, {body}, {0});
  cgrt::Instance instance(made.finish(), place());
  cgrt::Executable graph = instance.executable();
  for (const std::uint32_t iterations : {3U, 0U, 1U, 200U, 0U}) {
    write_words(instance, "x", {iterations});
    write_words(instance, "y", {0});
    graph.launch();
    EXPECT_EQ(read_words(instance, "y"), Words{iterations});
  }
}

// Whatever the launch before has left in it.
TEST_P(ConditionalTest, AConditionBeginsEachLaunchWithItsInitialValue) {
  HandMade made(compile({count_down()}, target()));
  const auto x = made.buffer("x", {1});
  const ConditionId condition = made.condition(1);
  const auto body = made.graph("body", false);
  made.node(made.launch(0, {condition, made.whole(x)}));
  made.graph("main");
  made.conditional(ConditionalType::While, condition, {body});
  cgrt::Instance instance(made.finish(), place());
  cgrt::Executable graph = instance.executable();
  for (int launch = 0; launch < 3; ++launch) {
    write_words(instance, "x", {5});
    graph.launch();
    EXPECT_EQ(read_words(instance, "x"), Words{0});
  }
}

// 4 times 3 iterations: the inner condition is set again for each outer iteration.
TEST_P(ConditionalTest, LoopsNest) {
  HandMade made(compile({count_down(), increment(), decide()}, target()));
  const auto outer_count = made.buffer("outer", {1});
  const auto inner_count = made.buffer("inner", {1});
  const auto three = made.buffer("three", {1});
  const auto y = made.buffer("y", {1});
  const ConditionId outer = made.condition();
  const ConditionId inner = made.condition();
  const auto inner_body = made.graph("inner_body", false);
  made.node(made.launch(1, {made.whole(y)}));
  made.node(made.launch(0, {inner, made.whole(inner_count)}));
  const auto outer_body = made.graph("outer_body", false);
  made.node(CopyWork{made.whole(inner_count), made.whole(three)});
  made.node(made.launch(2, {inner, made.whole(inner_count)}), {0});
  made.conditional(ConditionalType::While, inner, {inner_body}, {1});
  made.node(made.launch(0, {outer, made.whole(outer_count)}));
  made.graph("main");
  made.node(made.launch(2, {outer, made.whole(outer_count)}));
  made.conditional(ConditionalType::While, outer, {outer_body}, {0});
  cgrt::Instance instance(made.finish(), place());
  cgrt::Executable graph = instance.executable();
  for (int launch = 1; launch <= 2; ++launch) {
    write_words(instance, "outer", {4});
    write_words(instance, "three", {3});
    write_words(instance, "y", {0});
    graph.launch();
    EXPECT_EQ(read_words(instance, "y"), Words{12}) << "launch " << launch;
  }
}

TEST_P(ConditionalTest, ABodyTakesEveryKindOfNode) {
  HandMade made(compile({decide(), increment()}, target()));
  const auto one = made.buffer("one", {1});
  const auto in = made.buffer("in", {8}, ScalarType::U32, cgrt::MemorySpace::Host);
  const auto out = made.buffer("out", {8}, ScalarType::U32, cgrt::MemorySpace::Host);
  const auto x = made.buffer("x", {8});
  const auto y = made.buffer("y", {8});
  const ConditionId condition = made.condition();
  const ConditionId nested = made.condition();
  const auto first = [&](std::uint32_t buffer) { return made.box(buffer, {{0, 1}}); };
  const auto child = made.graph("child", false);
  made.node(made.launch(1, {first(y)}));
  const auto inner = made.graph("inner", false);
  made.node(made.launch(1, {first(y)}));
  const auto empty = made.graph("empty", false);
  const auto body = made.graph("body", false);
  made.node(CopyWork{made.whole(x), made.whole(in)});
  made.node(CopyWork{made.whole(y), made.whole(x)}, {0});
  made.node(FillWork{made.box(y, {{1, 2}}), made.number(70)}, {1});
  made.node(made.launch(1, {first(y)}), {2});
  made.node(ChildWork{GraphId{child}}, {3});
  made.node(made.launch(0, {nested, made.whole(one)}));
  made.conditional(ConditionalType::If, nested, {inner, empty}, {4, 5});
  made.node(CopyWork{made.whole(out), made.whole(y)}, {6});
  made.graph("main");
  made.node(made.launch(0, {condition, made.whole(one)}));
  made.conditional(ConditionalType::If, condition, {body}, {0});
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    cgrt::Instance instance(made.finish(), place(seed));
    write_words(instance, "one", {1});
    write_words(instance, "in", {10, 11, 12, 13, 14, 15, 16, 17});
    cgrt::Executable graph = instance.executable();
    graph.launch();
    graph.wait();
    EXPECT_EQ(read_words(instance, "out"), (Words{13, 70, 70, 13, 14, 15, 16, 17}));
  }
}

// Grids of 0 in a body and in a child there do nothing, and begin to when the param changes; so do
// what a condition is compared with and what a body adds.
TEST_P(ConditionalTest, ParamsChangeBetweenLaunches) {
  HandMade made(
      compile({deciding("below",
                        {scalar("h", ScalarType::U64), input("x", ScalarType::U32),
                         scalar("n", ScalarType::U32)},
                        "unsigned long long h, const unsigned *x, unsigned n",
                        "cudaGraphSetConditional(h, x[0] < n);"),
               {"add", {output("x", ScalarType::U32), scalar("n", ScalarType::U32)}, "x[0] += n;"}},
              target()));
  const auto n = made.param("n");
  const auto step = made.param("step");
  const auto grid = made.param("grid");
  const auto x = made.buffer("x", {1});
  const auto y = made.buffer("y", {4});
  const ConditionId condition = made.condition();
  const auto at = [&](std::int64_t index) { return made.box(y, {{index, 1}}); };
  const auto guarded = [&](std::int64_t index) {
    auto work = made.launch(1, {at(index), made.number(1)});
    work.grid[0] = grid;
    return work;
  };
  const auto child = made.graph("child", false);
  made.node(guarded(0));
  const auto body = made.graph("body", false);
  made.node(made.launch(1, {made.whole(x), step}));
  made.node(guarded(1));
  made.node(ChildWork{GraphId{child}});
  made.node(FillWork{at(2), step});
  made.node(made.launch(0, {condition, made.whole(x), n}), {0});
  made.graph("main");
  made.node(FillWork{made.whole(x), made.number(0)});
  made.node(made.launch(0, {condition, made.whole(x), n}), {0});
  made.conditional(ConditionalType::While, condition, {body}, {1});
  made.node(ChildWork{GraphId{child}}, {2});
  cgrt::Instance instance(made.finish(), place(), {{"n", 10}, {"step", 1}, {"grid", 0}});
  cgrt::Executable graph = instance.executable();
  const auto run = [&] {
    write_words(instance, "y", {0, 0, 0, 0});
    graph.launch();
    graph.wait();
    Words words = read_words(instance, "y");
    words[3] = read_words(instance, "x")[0];
    return words;
  };
  EXPECT_EQ(run(), (Words{0, 0, 1, 10}));
  EXPECT_EQ(run(), (Words{0, 0, 1, 10}));
  instance.set({{"step", 4}});
  EXPECT_EQ(run(), (Words{0, 0, 4, 12}));
  instance.set({{"grid", 1}, {"n", 17}}); // 5 iterations; the child runs once more
  EXPECT_EQ(run(), (Words{6, 5, 4, 20}));
  instance.set({{"grid", 0}, {"n", 0}});
  EXPECT_EQ(run(), (Words{0, 0, 0, 0}));
  EXPECT_THROW(instance.set({{"grid", -1}, {"n", 17}}), cgrt::Error);
  EXPECT_EQ(run(), (Words{0, 0, 0, 0})); // nothing has changed
}

// CUDA allows one live executable of a graph with conditionals; cgrt makes a graph for each.
TEST_P(ConditionalTest, TwoExecutablesOfOneGraphLiveSideBySide) {
  HandMade made(compile({count_down(), decide()}, target()));
  const auto x = made.buffer("x", {1});
  const ConditionId condition = made.condition();
  const auto body = made.graph("body", false);
  made.node(made.launch(0, {condition, made.whole(x)}));
  made.graph("main");
  made.node(made.launch(1, {condition, made.whole(x)}));
  made.conditional(ConditionalType::While, condition, {body}, {0});
  cgrt::Instance instance(made.finish(), place());
  cgrt::Executable first = instance.executable();
  cgrt::Executable second = instance.executable();
  for (cgrt::Executable *graph : {&first, &second, &first}) {
    write_words(instance, "x", {3});
    graph->launch();
    EXPECT_EQ(read_words(instance, "x"), Words{0});
  }
}

} // namespace conformance
