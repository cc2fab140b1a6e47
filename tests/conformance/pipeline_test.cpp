// Whole programs through the public API, from text to values.
#include <cgrt/cgrt.h>

#include "text_program.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace conformance {

using testing::Each;
using testing::HasSubstr;

class PipelineTest : public ProgramsUnderTest {};
CONFORMANCE_SUITE(PipelineTest);

constexpr const char *saxpy_text = R"(param n: i32;
param a: f32 = 2.0;
kernel saxpy(n: i32, a: f32, x: in f32[n], y: inout f32[n])
  grid(ceildiv(n, 256)) block(256)
cuda {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
host in    hx: f32[n];
host inout hy: f32[n];
device     x, y: f32[n];
graph main {
  copy x <- hx;
  copy y <- hy;
  saxpy(n, a, x, y);
  copy hy <- y;
}
)";

TEST_P(PipelineTest, SaxpyIsRightUnderEveryOrder) {
  const cgrt::Program program = compile_text(saxpy_text);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    cgrt::Instance instance(program, place(seed), {{"n", std::int64_t{10'000}}, {"a", 0.5}});
    const std::span<float> x = instance.host<float>("hx");
    const std::span<float> y = instance.host<float>("hy");
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i);
      y[i] = 1;
    }
    cgrt::Executable graph = instance.executable();
    EXPECT_EQ(graph.node_count(), 4U);
    EXPECT_EQ(graph.edge_count(), 3U);
    for (int replay = 0; replay < 3; ++replay) {
      graph.launch();
    }
    graph.wait();
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(y[i], 1 + 1.5F * static_cast<float>(i)) << "seed " << seed << ", element " << i;
    }
  }
}

TEST_P(PipelineTest, AnExecutableKeepsItsInstancesMemoryAlive) {
  const cgrt::Program program = compile_text(saxpy_text);
  std::optional<cgrt::Executable> graph;
  {
    cgrt::Instance instance(program, place(), {{"n", std::int64_t{1000}}});
    graph = instance.executable();
    graph->launch();
  }
  graph->launch();
  graph->wait();
}

TEST_P(PipelineTest, AnEmptyProblemDoesNothing) {
  cgrt::Instance instance(compile_text(saxpy_text), place(), {{"n", std::int64_t{0}}});
  cgrt::Executable graph = instance.executable();
  graph.launch();
  graph.wait();
  EXPECT_TRUE(instance.read("hy").empty());
}

TEST_P(PipelineTest, WritesAndReadsBuffersOfBothSpaces) {
  cgrt::Instance instance(compile_text(R"(
    device in a: u8[4]; device out b: u8[4]; host out c: u8[4];
    graph main { copy b <- a; copy c <- a; }
  )"),
                          place());
  const std::vector<std::byte> values = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{255}};
  instance.write("a", values);
  cgrt::Executable graph = instance.executable();
  graph.launch();
  EXPECT_EQ(instance.read("b"), values);
  EXPECT_EQ(instance.read("c"), values);
  EXPECT_EQ(instance.buffer("b").shape, std::vector<std::size_t>{4});
}

template <typename Call> cgrt::Error error_of(Call call) {
  try {
    call();
  } catch (const cgrt::Error &error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {cgrt::ErrorCode::Usage, "no error"};
}

TEST_P(PipelineTest, AGeometryBeyondTheLimitNamesTheLaunchAndItsLine) {
  const cgrt::Program program = compile_text(R"(param rows: i32;
kernel touch(rows: i32, x: inout f32[1]) grid(1, rows) block(1) cuda { x[0] = 1; }
device x: f32[1];
graph main {
  touch(rows, x);
}
)");
  cgrt::Instance instance(program, place(), {{"rows", std::int64_t{65536}}});
  const cgrt::Error error = error_of([&] { instance.executable(); });
  EXPECT_EQ(error.code(), cgrt::ErrorCode::InvalidValue);
  EXPECT_EQ(error.message(), "kernel touch: grid.y is 65536; the limit is 65535 [geometry]");
  EXPECT_EQ(error.where().line, 5U);
}

TEST_P(PipelineTest, MistakesOfTheCallerAreUsageErrors) {
  const cgrt::Program program = compile_text(saxpy_text);
  const auto usage = [&](auto call, const std::string &text) {
    const cgrt::Error error = error_of(call);
    EXPECT_EQ(error.code(), cgrt::ErrorCode::Usage);
    EXPECT_THAT(error.message(), HasSubstr(text));
  };
  const std::map<std::string, cgrt::Scalar> params = {{"n", std::int64_t{10}}};
  usage([&] { cgrt::Instance(program, place()); }, "param n: i32 has no default");
  usage([&] { cgrt::Instance(program, place(), {{"n", 1.5}}); }, "takes an integer, not 1.5");
  cgrt::Instance instance(program, place(), params);
  usage([&] { instance.executable("other"); }, "no graph other");
  usage([&] { instance.host<float>("hz"); }, "no buffer hz");
  usage([&] { instance.host<float>("x"); }, "private");
  usage([&] { instance.host<double>("hx"); }, "holds f32, not f64");
  usage([&] { instance.read("hx"); }, "only fills");
  usage([&] { instance.write("hx", std::vector<std::byte>(3)); }, "f32[10], 40 bytes, not 3");
}

TEST_P(PipelineTest, WhatWasMovedFromIsHarmless) {
  cgrt::Instance instance(compile_text(saxpy_text), place(), {{"n", 4}});
  cgrt::Executable graph = instance.executable();
  const cgrt::Executable moved_graph = std::move(graph);
  cgrt::Instance moved = std::move(instance);
  // NOLINTBEGIN(bugprone-use-after-move): that is what it is about
  EXPECT_THROW(graph.launch(), cgrt::Error);
  EXPECT_THROW(graph.wait(), cgrt::Error);
  EXPECT_THROW(static_cast<void>(graph.node_count()), cgrt::Error);
  EXPECT_THROW(static_cast<void>(graph.timing_events()), cgrt::Error);
  EXPECT_THROW(instance.set("n", 5), cgrt::Error);
  EXPECT_THROW(static_cast<void>(instance.executable()), cgrt::Error);
  EXPECT_THROW(static_cast<void>(instance.host<float>("hx")), cgrt::Error);
  EXPECT_THROW(static_cast<void>(instance.device()), cgrt::Error);
  graph.stop();
  graph = moved.executable();
  // NOLINTEND(bugprone-use-after-move)
  graph.launch();
  graph.wait();
  EXPECT_EQ(moved_graph.node_count(), graph.node_count());
}

TEST_P(PipelineTest, MovingAProgramOrADeviceCopiesIt) {
  cgrt::Program program = compile_text(saxpy_text);
  cgrt::Device device = place();
  // NOLINTBEGIN(bugprone-use-after-move,performance-move-const-arg): that is what it is about
  const cgrt::Program other = std::move(program);
  const cgrt::Device elsewhere = std::move(device);
  EXPECT_EQ(program.params().size(), other.params().size());
  EXPECT_EQ(device.name(), elsewhere.name());
  // NOLINTEND(bugprone-use-after-move,performance-move-const-arg)
  EXPECT_EQ(cgrt::Instance(program, device, {{"n", 4}}).buffer("hx").bytes, 16U);
}

TEST_P(PipelineTest, ParamsTakeNumbersOfAnyType) {
  cgrt::Instance instance(compile_text(saxpy_text), place(), {{"n", 4U}});
  const auto n = [&] { return std::get<std::int64_t>(instance.param("n")); };
  EXPECT_EQ(n(), 4);
  instance.set("n", 5U);
  EXPECT_EQ(n(), 5);
  instance.set("n", static_cast<signed char>(6));
  EXPECT_EQ(n(), 6);
  instance.set({{"n", 7UL}, {"a", 0.5F}});
  EXPECT_EQ(n(), 7);
  EXPECT_EQ(std::get<double>(instance.param("a")), 0.5);
  EXPECT_THROW(instance.set("n", ~0ULL), cgrt::Error);
  EXPECT_EQ(n(), 7);
}

} // namespace conformance
