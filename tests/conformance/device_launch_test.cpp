// Graphs that kernels launch.
#include "hand_made.h"
#include "message_of.h"
#include "text_program.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace conformance {

using cgrt::ErrorCode;
using cgrt::UpdateKind;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class DeviceLaunchTest : public ProgramsUnderTest {
protected:
  /// What the kernels of a program noted, in the order in which they ran; its buffer `log` begins
  /// with how many there are.
  static std::vector<std::uint32_t> log_of(const cgrt::Instance &instance) {
    const std::vector<std::uint32_t> log = read_words(instance, "log");
    return {log.begin() + 1, log.begin() + 1 + log[0]};
  }

  static constexpr const char *noting = R"(
    device inout log: i32[64];
    kernel note(what: i32, log: inout i32[64]) grid(1) block(1)
    cuda { log[++log[0]] = what; }
  )";
};
CONFORMANCE_SUITE(DeviceLaunchTest);

/// A tail's own tails come before later tails, and all of them behind the graph, wherever in it
/// they are launched.
TEST_P(DeviceLaunchTest, TailsRunInOrderBehindTheGraph) {
  const cgrt::Program program = compile_text(std::string(noting) + R"(
    graph main { tail a; note(1, log); tail b; note(2, log); tail c; }
    @device_launch graph a { tail d; note(10, log); tail e; }
    @device_launch graph b { note(20, log); }
    @device_launch graph c { note(30, log); tail d; }
    @device_launch graph d { note(11, log); tail f; }
    @device_launch graph e { note(12, log); }
    @device_launch graph f { note(13, log); })");
  for (std::uint64_t seed = 0; seed < (is_host() ? 20 : 1); ++seed) {
    cgrt::Instance instance(program, place(seed));
    cgrt::Executable graph = instance.executable();
    for (int replay = 0; replay < 3; ++replay) {
      write_words(instance, "log", std::vector<std::uint32_t>(64, 0));
      run(graph);
      EXPECT_THAT(log_of(instance), ElementsAre(1, 2, 10, 11, 13, 12, 20, 30, 11, 13));
    }
  }
}

/// What is detached ends before the tails begin, and begins behind what the program has put before
/// it and touches the same.
TEST_P(DeviceLaunchTest, DetachedWorkEndsBeforeTheTailsBegin) {
  const cgrt::Program program = compile_text(R"(
    host out h: i32[1000];
    device x, y: i32[1000];
    kernel add(x: in i32[1000], y: out i32[1000]) grid(4) block(250)
    cuda { const int i = blockIdx.x * 250 + threadIdx.x; y[i] = x[i] + 1; }
    kernel twice(y: inout i32[1000]) grid(4) block(250)
    cuda { y[blockIdx.x * 250 + threadIdx.x] *= 2; }
    graph main { fill x <- 4; detach more; tail report; }
    @device_launch graph more { add(x, y); detach still_more; }
    @device_launch graph still_more { twice(y); }
    @device_launch graph report { copy h <- y; })");
  for (std::uint64_t seed = 0; seed < (is_host() ? 50 : 1); ++seed) {
    cgrt::Instance instance(program, place(seed));
    cgrt::Executable graph = instance.executable();
    for (int replay = 0; replay < 3; ++replay) {
      std::ranges::fill(instance.host<std::int32_t>("h"), 0);
      run(graph);
      EXPECT_THAT(instance.host<std::int32_t>("h"), Each(10));
    }
  }
}

TEST_P(DeviceLaunchTest, SiblingsAreOverWhenTheLaunchIs) {
  const cgrt::Program program = compile_text(R"(
    device inout x, y, z: i32[1];
    graph main { x[0] = x[0] + 1; sibling other; tail last; }
    @device_launch graph other { y[0] = y[0] + 10; sibling third; }
    @device_launch graph third { z[0] = z[0] + 100; }
    @device_launch graph last { x[0] = x[0] + 1; })");
  for (std::uint64_t seed = 0; seed < (is_host() ? 20 : 1); ++seed) {
    cgrt::Instance instance(program, place(seed));
    for (const char *name : {"x", "y", "z"}) {
      write_words(instance, name, {0});
    }
    cgrt::Executable graph = instance.executable();
    for (int replay = 0; replay < 5; ++replay) {
      run(graph);
    }
    EXPECT_THAT(read_words(instance, "x"), ElementsAre(10));
    EXPECT_THAT(read_words(instance, "y"), ElementsAre(50));
    EXPECT_THAT(read_words(instance, "z"), ElementsAre(500));
  }
}

TEST_P(DeviceLaunchTest, AGraphLaunchesItselfUntilItIsDone) {
  const cgrt::Program program = compile_text(R"(
    param most: i32 = 1000;
    device inout x: i32[1];
    graph main { x[0] = 0; tail step; }
    @device_launch graph step { x[0] = x[0] + 1; tail self when (x[0] < most); })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  run(graph);
  EXPECT_THAT(read_words(instance, "x"), ElementsAre(1000));
  EXPECT_EQ(instance.set("most", 7).kind, UpdateKind::InPlace);
  run(graph);
  EXPECT_THAT(read_words(instance, "x"), ElementsAre(7));

  // The host launches such a graph like any other.
  write_words(instance, "x", {3});
  cgrt::Executable step = instance.executable("step");
  run(step);
  EXPECT_THAT(read_words(instance, "x"), ElementsAre(7));
}

TEST_P(DeviceLaunchTest, GraphsLaunchEachOther) {
  const cgrt::Program program = compile_text(std::string(noting) + R"(
    graph main { tail even; }
    @device_launch graph even { note(0, log); tail odd; }
    @device_launch graph odd { note(1, log); tail even when (log[0] < 9); })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  for (const char *entry : {"main", "odd"}) {
    write_words(instance, "log", std::vector<std::uint32_t>(64, 0));
    cgrt::Executable from = instance.executable(entry);
    run(from);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = entry[0] == 'm' ? 0 : 1; expected.size() < 9 || i % 2 == 1; ++i) {
      expected.push_back(i % 2);
    }
    EXPECT_EQ(log_of(instance), expected) << entry;
  }
}

TEST_P(DeviceLaunchTest, ConditionsDecide) {
  const cgrt::Program program = compile_text(std::string(noting) + R"(
    param wanted: i32 = 0;
    const NEVER = false;
    device inout x: i32[1];
    graph main {
      x[0] = x[0] + wanted;
      tail one when (x[0] == 1);
      tail two when (x[0] == 2 || wanted > 5);
      tail one when (NEVER);
    }
    @device_launch graph one { note(1, log); }
    @device_launch graph two { note(2, log); })");
  const std::vector<std::vector<std::uint32_t>> expected = {{}, {1}, {2}, {}};
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  for (std::uint32_t x = 0; x < 4; ++x) {
    write_words(instance, "log", std::vector<std::uint32_t>(64, 0));
    write_words(instance, "x", {x});
    run(graph);
    EXPECT_EQ(log_of(instance), expected[x]) << x;
  }
}

/// A kernel of the program's own decides which graph runs next.
TEST_P(DeviceLaunchTest, KernelsLaunchWhatTheyAreGiven) {
  const cgrt::Program program = compile_text(std::string(noting) + R"(
    device inout queue: i32[17];
    kernel schedule(first: tail graph, second: tail graph, again: tail graph,
                    queue: inout i32[17], log: in i32[64]) grid(2) block(32)
    cuda {
      if (blockIdx.x != 1 || threadIdx.x != 7) return;
      const int next = ++queue[0];
      if (next == 17) return;
      cudaGraphLaunch(queue[next] == 1 ? first : second, cudaStreamGraphTailLaunch);
      cudaGraphLaunch(again, cudaStreamGraphTailLaunch);
    }
    graph main { queue[0] = 0; tail scheduler; }
    @device_launch graph scheduler { schedule(one, two, self, queue, log); }
    @device_launch graph one { note(1, log); }
    @device_launch graph two { note(2, log); tail three; }
    @device_launch graph three { note(3, log); })");
  cgrt::Instance instance(program, place());
  std::vector<std::uint32_t> queue(17, 0);
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 1; i < 17; ++i) {
    queue[i] = i * i % 7 % 2 + 1;
    expected.push_back(queue[i]);
    if (queue[i] == 2) {
      expected.push_back(3);
    }
  }
  cgrt::Executable graph = instance.executable();
  for (int replay = 0; replay < 3; ++replay) {
    write_words(instance, "queue", queue);
    write_words(instance, "log", std::vector<std::uint32_t>(64, 0));
    run(graph);
    EXPECT_EQ(log_of(instance), expected);
  }
}

/// Launches from inside of a child graph, and a launched graph that has one.
TEST_P(DeviceLaunchTest, ChildGraphsLaunchAndAreLaunched) {
  const cgrt::Program program = compile_text(std::string(noting) + R"(
    def both(log: inout i32[64]) { note(1, log); tail other; note(2, log); }
    def inner(log: inout i32[64]) { note(3, log); note(4, log); }
    graph main { child both(log); note(5, log); }
    @device_launch graph other { note(6, log); child inner(log); })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  for (int replay = 0; replay < 2; ++replay) {
    write_words(instance, "log", std::vector<std::uint32_t>(64, 0));
    run(graph);
    EXPECT_THAT(log_of(instance), ElementsAre(1, 2, 5, 6, 3, 4));
  }
}

/// An update reaches what is launched, too: values, memory, and nodes that have nothing to do.
TEST_P(DeviceLaunchTest, UpdatesReachWhatIsLaunched) {
  const cgrt::Program program = compile_text(R"(
    param n: i32 = 4; param value: i32 = 1; param count: i32 = 4;
    device inout x: i32[n];
    device out y: i32[n];
    kernel add(n: i32, value: i32, x: inout i32[n]) grid(n) block(1)
    cuda { x[blockIdx.x] += value; }
    graph main { detach work; tail report; }
    @device_launch graph work { add(count, value, x[0 : count]); }
    @device_launch graph report { copy y <- x; })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  write_words(instance, "x", {0, 0, 0, 0});
  const auto y = [&] {
    run(graph);
    return read_words(instance, "y");
  };
  EXPECT_THAT(y(), Each(1U));
  EXPECT_EQ(instance.set("value", 10).kind, UpdateKind::InPlace);
  EXPECT_THAT(y(), Each(11U));
  EXPECT_THAT(y(), Each(21U));
  instance.set("count", 2);
  EXPECT_THAT(y(), ElementsAre(31, 31, 21, 21));
  instance.set("count", 0); // disables the node
  EXPECT_THAT(y(), ElementsAre(31, 31, 21, 21));
  instance.set({{"count", 1}, {"value", 1}});
  EXPECT_THAT(y(), ElementsAre(32, 31, 21, 21));
  const Array<std::int32_t> mine(device(), {1, 2, 3, 4});
  instance.bind("x", std::span(reinterpret_cast<std::int32_t *>(mine.data()), 4));
  EXPECT_THAT(y(), ElementsAre(2, 2, 3, 4));
  EXPECT_THAT(mine.read(), ElementsAre(2, 2, 3, 4));
  EXPECT_THROW(instance.set("count", 5), cgrt::Error);
  EXPECT_THAT(y(), ElementsAre(3, 2, 3, 4));
  instance.unbind("x");
  EXPECT_THAT(message_of(ErrorCode::Usage, [&] { graph.launch(); }),
              HasSubstr("buffer x has no memory"));
}

TEST_P(DeviceLaunchTest, ResizedBuffersAreThoseOfWhatIsLaunched) {
  const cgrt::Program program = compile_text(R"(
    param n: i32 = 4;
    device inout x: i32[n];
    kernel add(n: i32, x: inout i32[n]) grid(n) block(1) cuda { ++x[blockIdx.x]; }
    graph main { tail work; }
    @device_launch graph work { add(n, x); })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  write_words(instance, "x", {1, 2, 3, 4});
  run(graph);
  instance.set("n", 6);
  write_words(instance, "x", {1, 2, 3, 4, 5, 6});
  run(graph);
  EXPECT_THAT(read_words(instance, "x"), ElementsAre(2, 3, 4, 5, 6, 7));
}

/// A launch that the device refuses shows at the next wait, with its line, and once.
TEST_P(DeviceLaunchTest, ARefusedLaunchIsReported) {
  const cgrt::Program program = compile_text(R"(
    device inout x: i32[1];
    graph main { x[0] = 0; tail step; }
    @device_launch graph step {
      x[0] = x[0] + 1;
      tail self when (x[0] < 4);
      tail self when (x[0] == 2);
    })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  for (int replay = 0; replay < 2; ++replay) {
    graph.launch();
    EXPECT_THAT(
        message_of(ErrorCode::Device, [&] { graph.wait(); }),
        AllOf(HasSubstr("test.cgraph:7: tail self was refused"), HasSubstr("[device-launch]")));
    EXPECT_THAT(read_words(instance, "x"), ElementsAre(4)) << "everything else has run";
    graph.wait();
  }
}

/// CUDA's limits on one execution, on both devices.
TEST_P(DeviceLaunchTest, LimitsAreThoseOfCuda) {
  for (const auto &[kind, most] :
       {std::pair("tail", 255), std::pair("detach", 120), std::pair("sibling", 120)}) {
    const std::string text = std::string(R"(
      param count: i32 = 1;
      device inout x: i32[1];
      kernel look(x: in i32[1]) grid(1) block(1) cuda { }
      graph main { for i in 0..)") +
                             std::to_string(most + 1) + " {\n" + kind +
                             R"( nothing when (i < count); } }
      @device_launch graph nothing { look(x); })";
    cgrt::Instance instance(compile_text(text), place(), {{"count", most}});
    cgrt::Executable graph = instance.executable();
    run(graph);
    instance.set("count", most + 1);
    graph.launch();
    EXPECT_THAT(message_of(ErrorCode::Device, [&] { graph.wait(); }),
                HasSubstr(std::string(kind) + " nothing was refused"));
  }
}

/// Each launch statement has an executable of its own; one that is pending is not launched again.
TEST_P(DeviceLaunchTest, APendingGraphIsRefused) {
  const cgrt::Program program = compile_text(R"(
    device inout errors: i32[3]; device inout x: i32[1];
    kernel launch(next: tail graph, null_is_refused: i32, errors: inout i32[3]) grid(1) block(1)
    cuda {
      errors[0] = cudaGraphLaunch(next, cudaStreamGraphTailLaunch);
      errors[1] = cudaGraphLaunch(next, cudaStreamGraphTailLaunch);
      errors[2] = cudaGraphLaunch(next, (cudaStream_t)0);
    }
    graph main { launch(other, 1, errors); tail other; }
    @device_launch graph other { x[0] = x[0] + 1; })");
  cgrt::Instance instance(program, place());
  write_words(instance, "x", {0});
  cgrt::Executable graph = instance.executable();
  for (std::uint32_t replay = 1; replay < 4; ++replay) {
    run(graph);
    EXPECT_THAT(read_words(instance, "errors"), ElementsAre(0, 1, 1));
    EXPECT_THAT(read_words(instance, "x"), ElementsAre(2 * replay)) << "of both statements";
  }
}

/// Executables of one graph share what it launches, and it goes when the instance does.
TEST_P(DeviceLaunchTest, ExecutablesShareWhatTheyLaunch) {
  const cgrt::Program program = compile_text(R"(
    device inout x: i32[1];
    graph main { tail add; }
    graph more { tail add; tail add; }
    @device_launch graph add { x[0] = x[0] + 1; })");
  std::optional<cgrt::Executable> kept;
  for (int round = 0; round < 3; ++round) {
    cgrt::Instance instance(program, place());
    write_words(instance, "x", {0});
    cgrt::Executable first = instance.executable();
    cgrt::Executable second = instance.executable();
    cgrt::Executable more = instance.executable("more");
    first.launch();
    second.launch();
    more.launch();
    more.wait();
    EXPECT_THAT(read_words(instance, "x"), ElementsAre(4));
    kept = instance.executable();
  }
  run(*kept);
}

/// A launched kernel's fault ends the launch and nothing stays pending.
TEST_P(DeviceLaunchTest, AFaultInWhatIsLaunchedIsReported) {
  if (!is_host()) {
    GTEST_SKIP() << "it would leave the GPU lost";
  }
  const cgrt::Program program = compile_text(R"(
    param wrong: i32 = 1;
    device inout x: i32[1];
    kernel check(wrong: i32, x: inout i32[1]) grid(1) block(1) cuda { assert(wrong == 0); ++x[0]; }
    graph main { detach work; tail after_it; }
    @device_launch graph work { check(wrong, x); }
    @device_launch graph after_it { check(0, x); })");
  cgrt::Instance instance(program, place());
  write_words(instance, "x", {0});
  cgrt::Executable graph = instance.executable();
  graph.launch();
  EXPECT_THAT(message_of(ErrorCode::Device, [&] { graph.wait(); }),
              HasSubstr("kernel check: assertion failed"));
  instance.set("wrong", 0);
  run(graph);
  EXPECT_THAT(read_words(instance, "x"), ElementsAre(2));
}

/// A graph without nodes, and a child without any, in what is launched.
TEST_P(DeviceLaunchTest, EmptyGraphsAreLaunched) {
  const cgrt::Program program = compile_text(R"(
    const NONE = 0;
    device inout x: i32[1];
    def nothing(x: inout i32[1]) { for i in 0..NONE { x[0] = 1; } x[0] = x[0] + 1; }
    def less(x: in i32[1]) { for i in 0..NONE { look(x); } }
    kernel look(x: in i32[1]) grid(1) block(1) cuda { }
    graph main { x[0] = 0; tail empty; tail with_child; detach empty; }
    @device_launch graph empty { }
    @device_launch graph with_child { child less(x); child nothing(x); child less(x); })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  for (int replay = 0; replay < 2; ++replay) {
    run(graph);
    EXPECT_THAT(read_words(instance, "x"), ElementsAre(1));
  }
}

/// A node that the host has turned off, beside an executable that is made anew.
TEST_P(DeviceLaunchTest, NodesKeepTheirStateWhenOthersAreMadeAnew) {
  if (!is_host()) {
    GTEST_SKIP() << "tests/gpu has it with a kernel of its own";
  }
  const cgrt::Program program = compile_text(R"(
    param n: i32 = 4;
    device inout x, y: i32[4];
    kernel add(x: inout i32[4]) grid(4) block(1) cuda { x[blockIdx.x] += 1; }
    kernel mine(y: inout i32[4]) grid(1) block(1) external;
    graph main { add<<<n, 1>>>(x); detach work; }
    @device_launch graph work { mine(y); })");
  cgrt::Instance instance(program, place());
  const auto bind = [&](std::int32_t by) {
    instance.bind_host("mine", [by](std::span<std::int32_t> y) { y[0] += by; });
  };
  bind(1);
  write_words(instance, "x", {0, 0, 0, 0});
  write_words(instance, "y", {0, 0, 0, 0});
  cgrt::Executable graph = instance.executable();
  run(graph);
  instance.set("n", 0);
  run(graph);
  bind(10); // makes anew what is launched, which gets another handle
  run(graph);
  instance.set("n", 2);
  run(graph);
  EXPECT_THAT(read_words(instance, "x"), ElementsAre(2, 2, 1, 1));
  EXPECT_THAT(read_words(instance, "y"), ElementsAre(22, 0, 0, 0));
}

/// On another stream than the parameter says, nothing that has been proved holds.
TEST_P(DeviceLaunchTest, TheHostDeviceHoldsKernelsToTheirKind) {
  if (!is_host()) {
    GTEST_SKIP() << "a GPU does not notice";
  }
  const cgrt::Program program = compile_text(R"(
    device inout x: i32[1];
    kernel launch(next: tail graph) grid(1) block(1)
    cuda { cudaGraphLaunch(next, cudaStreamGraphFireAndForget); }
    graph main { launch(other); }
    @device_launch graph other { x[0] = 1; })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  graph.launch();
  EXPECT_THAT(message_of(ErrorCode::Device, [&] { graph.wait(); }),
              HasSubstr("kernel launch: cudaGraphLaunch with another stream"));
}

TEST_P(DeviceLaunchTest, TheCheckOfEffectsSaysThatItDoesNotFollow) {
  const cgrt::Program program = compile_text(R"(
    device inout x: i32[1];
    graph main { tail add; }
    @device_launch graph add { x[0] = x[0] + 1; })");
  cgrt::Instance instance(program, place());
  EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.check_effects("main"); }),
              HasSubstr("the check of effects does not follow"));
  write_words(instance, "x", {0});
  EXPECT_TRUE(instance.check_effects("add").faults.empty());
}

} // namespace conformance
