// C++ functions that graphs call, and the events whose time they take.
#include "device_under_test.h"
#include "hand_made.h"
#include "message_of.h"

#include <gmock/gmock.h>

#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace conformance {

using cgrt::MemorySpace;
using cgrt::ScalarType;
using cgrt::format::CallableKind;
using cgrt::format::CallbackWork;
using cgrt::format::CapturedWork;
using cgrt::format::CopyWork;
using cgrt::format::EventRecordWork;
using cgrt::format::FillWork;
using cgrt::format::KernelParam;
using cgrt::format::Mode;
using testing::ElementsAre;
using testing::HasSubstr;

using Words = std::vector<std::uint32_t>;

class FunctionTest : public DeviceUnderTest {
protected:
  cgrt::Device place() const { return is_host() ? cgrt::Device::host() : cgrt::Device::cuda(0); }

  /// Copies `in` to the host, tells `told` of it and of `scale`, and copies it on to `out`.
  static HandMade telling() {
    HandMade made;
    const auto in = made.buffer("in", {2});
    const auto seen = made.buffer("seen", {2}, ScalarType::U32, MemorySpace::Host);
    const auto out = made.buffer("out", {2});
    const auto told = made.function("told", CallableKind::Callback,
                                    {KernelParam{"x", ScalarType::U32, true, Mode::InOut},
                                     KernelParam{"scale", ScalarType::I64}});
    const auto scale = made.param("scale");
    made.graph("main");
    const auto first = made.node(CopyWork{made.whole(seen), made.whole(in)});
    const auto call = made.node(CallbackWork{told, {made.whole(seen), scale}}, {first});
    made.node(CopyWork{made.whole(out), made.whole(seen)}, {call});
    return made;
  }
};
CONFORMANCE_SUITE(FunctionTest);

TEST_P(FunctionTest, ACallbackRunsOnceALaunchWithItsArguments) {
  cgrt::Instance instance(telling().finish(), place(), {{"scale", std::int64_t{7}}});
  std::mutex mutex;
  std::vector<std::pair<Words, std::int64_t>> calls;
  instance.bind_callback("told", [&](std::span<std::uint32_t> x, std::int64_t scale) {
    const std::lock_guard lock(mutex);
    calls.push_back({Words(x.begin(), x.end()), scale});
    x[1] += 1;
  });
  cgrt::Executable graph = instance.executable();
  for (std::uint32_t launch = 0; launch < 5; ++launch) {
    write_words(instance, "in", {launch, 10 * launch});
    graph.launch();
    graph.wait();
    EXPECT_THAT(read_words(instance, "out"), ElementsAre(launch, 10 * launch + 1));
  }
  instance.set({{"scale", std::int64_t{8}}});
  graph.launch();
  graph.wait();
  ASSERT_EQ(calls.size(), 6U);
  for (std::uint32_t launch = 0; launch < 5; ++launch) {
    EXPECT_EQ(calls[launch], std::pair(Words({launch, 10 * launch}), std::int64_t{7}));
  }
  EXPECT_EQ(calls[5].second, 8);
}

TEST_P(FunctionTest, BoundAgainTheNewOneIsCalled) {
  cgrt::Instance instance(telling().finish(), place(), {{"scale", std::int64_t{1}}});
  instance.bind_callback("told", [](std::span<std::uint32_t> x, std::int64_t) { x[0] = 1; });
  cgrt::Executable graph = instance.executable();
  write_words(instance, "in", {0, 0});
  graph.launch();
  graph.wait();
  EXPECT_THAT(read_words(instance, "out"), ElementsAre(1, 0));
  instance.bind_callback("told", [](std::span<std::uint32_t> x, std::int64_t) { x[1] = 2; });
  graph.launch();
  graph.wait();
  EXPECT_THAT(read_words(instance, "out"), ElementsAre(0, 2));
}

TEST_P(FunctionTest, WhatAFunctionReturnsIsNotLookedAt) {
  cgrt::Instance instance(telling().finish(), place(), {{"scale", std::int64_t{1}}});
  int calls = 0;
  instance.bind_callback("told", [&](std::span<std::uint32_t>, std::int64_t) { return ++calls; });
  cgrt::Executable graph = instance.executable();
  graph.launch();
  graph.wait();
  EXPECT_EQ(calls, 1);
  const std::function<void(std::span<std::uint32_t>, std::int64_t)> empty;
  EXPECT_THAT(message_of(cgrt::ErrorCode::Usage, [&] { instance.bind_callback("told", empty); }),
              HasSubstr("empty"));
}

TEST_P(FunctionTest, WhatACallbackThrowsComesWithTheNextWait) {
  cgrt::Instance instance(telling().finish(), place(), {{"scale", std::int64_t{1}}});
  bool good = false;
  instance.bind_callback("told", [&](std::span<std::uint32_t>, std::int64_t) {
    if (!good) {
      throw std::runtime_error("the disk is full");
    }
  });
  cgrt::Executable graph = instance.executable();
  write_words(instance, "in", {3, 4});
  graph.launch();
  EXPECT_THAT(message_of(cgrt::ErrorCode::Callback, [&] { graph.wait(); }),
              HasSubstr("callback told: the disk is full"));
  EXPECT_THAT(read_words(instance, "out"), ElementsAre(3, 4)) << "the rest has run";
  good = true;
  graph.launch();
  EXPECT_NO_THROW(graph.wait());
}

TEST_P(FunctionTest, WhatACallbackThrewIsNotLostWhenTheExecutableIsMadeAnew) {
  cgrt::Instance instance(telling().finish(), place(), {{"scale", std::int64_t{1}}});
  instance.bind_callback("told", [&](std::span<std::uint32_t>, std::int64_t scale) {
    if (scale == 1) {
      throw std::runtime_error("one");
    }
  });
  cgrt::Executable graph = instance.executable();
  graph.launch();
  instance.set({{"scale", std::int64_t{2}}});
  EXPECT_THAT(message_of(cgrt::ErrorCode::Callback, [&] { graph.wait(); }), HasSubstr("told: one"));
  graph.launch();
  EXPECT_NO_THROW(graph.wait());
}

TEST_P(FunctionTest, ACheckOfEffectsTellsWhatACallbackThrew) {
  cgrt::Instance instance(telling().finish(), place(), {{"scale", std::int64_t{1}}});
  instance.bind_callback("told", [&](std::span<std::uint32_t>, std::int64_t) {
    throw std::runtime_error("the disk is full");
  });
  write_words(instance, "in", {3, 4});
  EXPECT_THAT(
      message_of(cgrt::ErrorCode::Callback, [&] { static_cast<void>(instance.check_effects()); }),
      HasSubstr("told: the disk is full"));
  EXPECT_THAT(read_words(instance, "out"), ElementsAre(3, 4)) << "the rest has run";
}

TEST_P(FunctionTest, NothingOfCgrtCanBeCalledFromACallback) {
  cgrt::Instance instance(telling().finish(), place(), {{"scale", std::int64_t{1}}});
  cgrt::Executable *executable = nullptr;
  std::vector<std::string> messages;
  instance.bind_callback("told", [&](std::span<std::uint32_t>, std::int64_t) {
    const auto code = cgrt::ErrorCode::Usage;
    messages = {message_of(code, [&] { executable->launch(); }),
                message_of(code, [&] { executable->wait(); }),
                message_of(code, [&] { instance.set({}); }),
                message_of(code, [&] { static_cast<void>(instance.read("out")); }),
                message_of(code, [&] { static_cast<void>(instance.executable()); })};
  });
  cgrt::Executable graph = instance.executable();
  executable = &graph;
  write_words(instance, "in", {3, 4});
  graph.launch();
  graph.wait();
  ASSERT_EQ(messages.size(), 5U);
  EXPECT_THAT(messages, testing::Each(HasSubstr("cgrt cannot be called from a callback")));
}

TEST_P(FunctionTest, ACapturedFunctionCannotCallCgrtEither) {
  if (!is_host()) {
    GTEST_SKIP() << "tests/gpu has the one for GPUs";
  }
  HandMade program;
  const std::uint32_t x = program.buffer("x", {1});
  const auto work = program.function("work", cgrt::format::CallableKind::Captured,
                                     {output("x", ScalarType::U32)});
  program.graph("main");
  program.node(cgrt::format::CapturedWork{work, {program.whole(x)}});
  cgrt::Instance instance(program.finish(), place());
  std::string message;
  instance.bind_host("work", [&](std::span<std::uint32_t>) {
    message = message_of(cgrt::ErrorCode::Usage, [&] { static_cast<void>(instance.buffer("x")); });
  });
  cgrt::Executable graph = instance.executable();
  graph.launch();
  graph.wait();
  EXPECT_THAT(message, HasSubstr("cannot be called from a callback or captured function"));
}

TEST_P(FunctionTest, WhatIsNotBoundOrOtherwiseDeclaredIsRefused) {
  cgrt::Instance instance(telling().finish(), place(), {{"scale", std::int64_t{1}}});
  const auto usage = cgrt::ErrorCode::Usage;
  EXPECT_THAT(message_of(usage, [&] { static_cast<void>(instance.executable()); }),
              HasSubstr("callback told is not bound"));
  EXPECT_THAT(message_of(usage, [&] { instance.bind_callback("untold", [] {}); }),
              HasSubstr("there is no callback untold"));
  EXPECT_THAT(message_of(usage, [&] { instance.bind_callback("told", [] {}); }),
              HasSubstr("has 2 parameters; the function bound to it has 0"));
  EXPECT_THAT(message_of(usage,
                         [&] {
                           instance.bind_callback(
                               "told", [](std::span<const std::uint32_t>, std::int64_t) {});
                         }),
              HasSubstr("parameter x of the function bound to it is a span of const u32"));
  EXPECT_THAT(
      message_of(usage,
                 [&] { instance.bind_callback("told", [](std::span<std::uint32_t>, float) {}); }),
      HasSubstr("parameter scale of the function bound to it is f32"));
}

TEST_P(FunctionTest, TimingEventsTakeTheTimeOfEachLaunch) {
  HandMade made;
  const auto begin = made.event("begin");
  const auto end = made.event("end");
  const auto x = made.buffer("x", {1 << 20});
  const auto wait = made.function("wait", CallableKind::Callback, {});
  made.graph("main");
  const auto first = made.node(EventRecordWork{begin});
  const auto fill = made.node(FillWork{made.whole(x), made.number(3)}, {first});
  const auto call = made.node(CallbackWork{wait, {}}, {fill});
  made.node(EventRecordWork{end}, {call});
  cgrt::Instance instance(made.finish(), place());
  instance.bind_callback("wait", [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  cgrt::Executable graph = instance.executable();
  const auto usage = cgrt::ErrorCode::Usage;
  EXPECT_THAT(message_of(usage, [&] { static_cast<void>(graph.elapsed("begin", "end")); }),
              HasSubstr("has not been launched"));
  for (int launch = 0; launch < 3; ++launch) {
    const auto start = std::chrono::steady_clock::now();
    graph.launch();
    graph.wait();
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
    EXPECT_GE(graph.elapsed("begin", "end"), 4.9);
    EXPECT_LE(graph.elapsed("begin", "end"), wall.count());
    EXPECT_EQ(graph.elapsed("end", "begin"), -graph.elapsed("begin", "end"));
  }
  EXPECT_THAT(message_of(usage, [&] { static_cast<void>(graph.elapsed("begin", "middle")); }),
              HasSubstr("records no timing event middle"));
}

TEST_P(FunctionTest, ACapturedFunctionIsAnotherOneOnTheHostDevice) {
  if (!is_host()) {
    GTEST_SKIP() << "tests/gpu has the one for GPUs";
  }
  HandMade made;
  const auto in = made.buffer("in", {2});
  const auto out = made.buffer("out", {2});
  const auto twice = made.function("twice", CallableKind::Captured,
                                   {KernelParam{"x", ScalarType::U32, true, Mode::In},
                                    KernelParam{"y", ScalarType::U32, true, Mode::Out}});
  made.graph("main");
  made.node(CapturedWork{twice, {made.whole(in), made.whole(out)}});
  cgrt::Instance instance(made.finish(), place());
  EXPECT_THAT(message_of(cgrt::ErrorCode::Usage, [&] { static_cast<void>(instance.executable()); }),
              HasSubstr("captured twice is not bound; the program that embeds cgrt does that with "
                        "Instance::bind_host(\"twice\""));
  instance.bind_host("twice", [](std::span<const std::uint32_t> x, std::span<std::uint32_t> y) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = 2 * x[i];
    }
  });
  cgrt::Executable graph = instance.executable();
  write_words(instance, "in", {3, 4});
  graph.launch();
  graph.wait();
  EXPECT_THAT(read_words(instance, "out"), ElementsAre(6, 8));
}

} // namespace conformance
