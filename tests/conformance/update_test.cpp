// Changes of params: what later launches do, how it reached the executables, and that an error
// changes nothing.
#include "hand_made.h"
#include "message_of.h"
#include "text_program.h"

#include <gmock/gmock.h>

#include <numeric>

namespace conformance {

using cgrt::ErrorCode;
using cgrt::UpdateKind;
using testing::Each;
using testing::HasSubstr;

class UpdateTest : public ProgramsUnderTest {
protected:
  template <typename T> static std::vector<T> values(cgrt::Instance &instance, const char *name) {
    const std::span<T> all = instance.host<T>(name);
    return {all.begin(), all.end()};
  }
};
CONFORMANCE_SUITE(UpdateTest);

TEST_P(UpdateTest, AGridFollowsItsSize) {
  const cgrt::Program program = compile_text(R"(
    param n: i32 = 1000;
    host out hx: i32[8192]; device x: i32[8192];
    kernel mark(n: i32, x: inout i32[n]) grid(ceildiv(n, 256)) block(256)
    cuda { const int i = blockIdx.x * 256 + threadIdx.x; if (i < n) x[i] = 1; }
    graph main { fill x <- 0; mark(n, x[0:n]); copy hx <- x; })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  const auto marked = [&] {
    run(graph);
    const auto x = values<std::int32_t>(instance, "hx");
    const auto count = std::accumulate(x.begin(), x.end(), 0);
    EXPECT_TRUE(std::all_of(x.begin(), x.begin() + count, [](int one) { return one == 1; }));
    return count;
  };
  EXPECT_EQ(marked(), 1000);
  for (const int n : {5000, 0, 1, 8192, 256}) {
    EXPECT_EQ(instance.set("n", n).kind, UpdateKind::InPlace);
    EXPECT_EQ(marked(), n);
  }
  EXPECT_THAT(message_of(ErrorCode::InvalidValue, [&] { instance.set("n", 9000); }),
              HasSubstr("9000"));
  EXPECT_EQ(std::get<std::int64_t>(instance.param("n")), 256);
  EXPECT_EQ(marked(), 256);
}

TEST_P(UpdateTest, OneOfManyLaunchesOfAKernelChanges) {
  for (const int count : {2, 5, 6, 100}) {
    std::string text = "kernel put(v: i32, x: out i32[1]) grid(1) block(1) cuda { x[0] = v; }\n";
    std::string launches;
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      text += "param p" + number + ": i32 = " + number + ";\n";
      launches += "put(p" + number + ", x[" + number + "]);\n";
    }
    const std::string shape = ": i32[" + std::to_string(count) + "];\n";
    const cgrt::Program program = compile_text(text + "host out hx" + shape + "device x" + shape +
                                               "graph main {\n" + launches + "copy hx <- x; }");
    cgrt::Instance instance(program, place());
    cgrt::Executable graph = instance.executable();
    run(graph);
    std::vector<std::int32_t> expected(static_cast<std::size_t>(count));
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(values<std::int32_t>(instance, "hx"), expected);
    for (const int value : {1000, 2000}) { // by resolving the node, and by its number alone
      const cgrt::UpdateReport report = instance.set("p" + std::to_string(count / 2), value);
      EXPECT_EQ(report.kind, UpdateKind::InPlace);
      EXPECT_EQ(report.nodes, 1U);
      EXPECT_EQ(report.rebuilt, 0U);
      expected[static_cast<std::size_t>(count / 2)] = value;
      run(graph);
      EXPECT_EQ(values<std::int32_t>(instance, "hx"), expected);
    }
  }
}

TEST_P(UpdateTest, ArgumentsOfEveryWidthArriveExactly) {
  const cgrt::Program program = compile_text(R"(
    param a: u8 = 255; param b: f64 = 0.1; param c: u16 = 65535; param d: i64; param e: u8 = 7;
    kernel echo(a: u8, b: f64, c: u16, d: i64, e: u8, f: out f64[1], i: out i64[4])
      grid(1) block(1) cuda { f[0] = b; i[0] = a; i[1] = c; i[2] = d; i[3] = e; }
    host out hf: f64[1]; host out hi: i64[4]; device f: f64[1]; device i: i64[4];
    graph main { echo(a, b, c, d, e, f, i); copy hf <- f; copy hi <- i; })");
  cgrt::Instance instance(program, place(), {{"d", std::int64_t{-0x0123456789ABCDEF}}});
  cgrt::Executable graph = instance.executable();
  run(graph);
  EXPECT_EQ(values<double>(instance, "hf"), std::vector{0.1});
  EXPECT_EQ(values<std::int64_t>(instance, "hi"),
            (std::vector<std::int64_t>{255, 65535, -0x0123456789ABCDEF, 7}));
  for (const std::int64_t c : {1, 2}) {
    instance.set("c", c);
    run(graph);
    EXPECT_EQ(values<double>(instance, "hf"), std::vector{0.1});
    EXPECT_EQ(values<std::int64_t>(instance, "hi"),
              (std::vector<std::int64_t>{255, c, -0x0123456789ABCDEF, 7}));
  }
  EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.set("c", 65536); }),
              HasSubstr("param c: u16 cannot be 65536"));
}

TEST_P(UpdateTest, SlicesMoveAndChangeTheirWidth) {
  const cgrt::Program program = compile_text(R"(
    param at: i32 = 0; param width: i32 = 3; param value: u8 = 5;
    host in hx: u8[4, 10]; host out hy, hz: u8[6, 12];
    device x: u8[4, 10]; device y, z: u8[6, 12];
    graph main {
      copy x <- hx; fill y <- 0; fill z <- 0;
      copy y[1:5, at:at + width] <- x[:, at:at + width];
      fill z[2:4, at:at + width] <- value;
      copy hy <- y; copy hz <- z;
    })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  const std::span<std::uint8_t> x = instance.host<std::uint8_t>("hx");
  std::iota(x.begin(), x.end(), std::uint8_t{1});
  const auto check = [&](std::size_t at, std::size_t width, int value) {
    run(graph);
    std::vector<std::uint8_t> y(72, 0);
    std::vector<std::uint8_t> z(72, 0);
    for (std::size_t column = at; column < at + width; ++column) {
      for (std::size_t row = 0; row < 4; ++row) {
        y[(row + 1) * 12 + column] = x[row * 10 + column];
      }
      for (std::size_t row = 2; row < 4; ++row) {
        z[row * 12 + column] = static_cast<std::uint8_t>(value);
      }
    }
    EXPECT_EQ(values<std::uint8_t>(instance, "hy"), y);
    EXPECT_EQ(values<std::uint8_t>(instance, "hz"), z);
  };
  check(0, 3, 5);
  instance.set("value", 9);
  check(0, 3, 9);
  instance.set("at", 4);
  check(4, 3, 9);
  instance.set("width", 6);
  check(4, 6, 9);
  instance.set({{"width", 0}, {"value", 1}});
  check(4, 0, 1);
  instance.set({{"width", 10}, {"at", 0}});
  check(0, 10, 1);
  EXPECT_THAT(message_of(ErrorCode::InvalidValue,
                         [&] {
                           instance.set({{"at", 1}, {"value", 2}});
                         }),
              HasSubstr("not within"));
  check(0, 10, 1);
}

TEST_P(UpdateTest, SharedMemoryFollowsItsParam) {
  const cgrt::Program program = compile_text(R"(
    param n: i32 = 4;
    kernel reverse(n: i32, x: inout i32[n]) grid(1) block(n) shared(n * sizeof(i32)) cuda {
      extern __shared__ int kept[];
      kept[threadIdx.x] = x[threadIdx.x];
      __syncthreads();
      x[threadIdx.x] = kept[n - 1 - threadIdx.x];
    }
    host in hx: i32[512]; host out hy: i32[512]; device x: i32[512];
    graph main { copy x <- hx; reverse(n, x[0:n]); copy hy <- x; })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  const std::span<std::int32_t> x = instance.host<std::int32_t>("hx");
  std::iota(x.begin(), x.end(), 0);
  for (const int n : {4, 512, 7}) {
    instance.set("n", n);
    run(graph);
    std::vector<std::int32_t> expected(x.begin(), x.end());
    std::reverse(expected.begin(), expected.begin() + n);
    EXPECT_EQ(values<std::int32_t>(instance, "hy"), expected);
  }
}

constexpr const char *rebuilding = R"(
    param round: i32 = 0; param step: i32 = 1;
    callback told(round: i32);
    kernel add(step: i32, x: inout i32[1]) grid(1) block(1) cuda { x[0] += step; }
    device inout x: i32[1];
    graph main { told(round); add(step, x); })";

TEST_P(UpdateTest, WhatCudaCannotChangeIsRebuiltAndSaysWhy) {
  cgrt::Instance instance(compile_text(rebuilding), place());
  write_words(instance, "x", {0});
  std::int64_t round = 0;
  instance.bind_callback("told", [&](std::int32_t number) { round = number; });
  cgrt::Executable graph = instance.executable();
  for (int i = 1; i <= 100; ++i) {
    const cgrt::UpdateReport report = instance.set({{"round", i}, {"step", i}});
    EXPECT_EQ(report.kind, UpdateKind::Rebuilt);
    EXPECT_EQ(report.rebuilt, 1U);
    EXPECT_EQ(report.nodes, 0U);
    EXPECT_THAT(report.reason, HasSubstr("callback told: CUDA cannot change its arguments"));
    run(graph);
    EXPECT_EQ(round, i);
  }
  EXPECT_EQ(read_words(instance, "x").at(0), 5050U);
  EXPECT_EQ(instance.set("step", 7).kind, UpdateKind::InPlace);
  run(graph);
  EXPECT_EQ(read_words(instance, "x").at(0), 5057U);
  EXPECT_EQ(instance.set("step", 7).kind, UpdateKind::None) << "it has been 7 before";
}

TEST_P(UpdateTest, AllExecutablesFollow) {
  const cgrt::Program program = compile_text(R"(
    param v: i32 = 1; param other: i32 = 1;
    device out x: i32[4];
    graph left { fill x[0] <- v; } graph right { fill x[1] <- v; } graph none { fill x[2] <- other; }
    )");
  cgrt::Instance instance(program, place());
  cgrt::Executable left = instance.executable("left");
  std::optional<cgrt::Executable> right = instance.executable("right");
  cgrt::Executable none = instance.executable("none");
  const cgrt::UpdateReport report = instance.set("v", 5);
  EXPECT_EQ(report.nodes, 2U);
  run(left);
  run(*right);
  run(none);
  EXPECT_EQ(read_words(instance, "x")[0], 5U);
  EXPECT_EQ(read_words(instance, "x")[1], 5U);
  EXPECT_EQ(read_words(instance, "x")[2], 1U);
  right.reset();
  EXPECT_EQ(instance.set("v", 6).nodes, 1U);
  run(left);
  EXPECT_EQ(read_words(instance, "x")[0], 6U);
}

/// Of many values some are legal; an illegal one among them leaves all as they were.
TEST_P(UpdateTest, AnErrorChangesNothing) {
  const cgrt::Program program = compile_text(R"(
    param a: i32 = 1; param b: i32 = 2; param grid: i32 = 1; param at: i32 = 0;
    kernel put(v: i32, x: inout i32[1]) grid(1) block(1) cuda { x[0] = v; }
    device inout x: i32[8];
    graph main { fill x <- 0; put(a, x[0]); put(b, x[1]); put<<<grid, 1>>>(a, x[2]); fill x[3 + at] <- b; }
    )");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  const auto result = [&] {
    run(graph);
    return read_words(instance, "x");
  };
  const auto before = result();
  EXPECT_EQ(before, (std::vector<std::uint32_t>{1, 2, 1, 2, 0, 0, 0, 0}));
  for (const char *wrong : {"grid", "at"}) {
    const std::int64_t value = std::string(wrong) == "grid" ? -1 : 5;
    EXPECT_NE(message_of(ErrorCode::InvalidValue,
                         [&] {
                           instance.set({{"a", 7}, {"b", 8}, {wrong, value}});
                         }),
              "no error");
    EXPECT_EQ(result(), before);
    EXPECT_EQ(std::get<std::int64_t>(instance.param("a")), 1);
  }
  EXPECT_NE(message_of(ErrorCode::Usage,
                       [&] {
                         instance.set({{"a", 7}, {"nobody", 1}});
                       }),
            "no error");
  EXPECT_NE(message_of(ErrorCode::Usage,
                       [&] {
                         instance.set({{"a", 7}, {"b", 0.5}});
                       }),
            "no error");
  EXPECT_EQ(result(), before);
  instance.set({{"a", 7}, {"grid", 0}, {"at", 4}});
  EXPECT_EQ(result(), (std::vector<std::uint32_t>{7, 2, 0, 0, 0, 0, 0, 2}));
}

TEST_P(UpdateTest, BodiesAndChildrenFollow) {
  const cgrt::Program program = compile_text(R"(
    param step: i32 = 1; param rounds: i32 = 10;
    kernel add(step: i32, x: inout i32[1]) grid(1) block(1) cuda { x[0] += step; }
    def twice(x: inout i32[1]) { add(step, x); add(step, x); }
    device inout x, i: i32[1];
    graph main {
      i[0] = 0; x[0] = 0;
      while (i[0] < rounds) max 1000 { add(step, x); child twice(x); i[0] = i[0] + 1; }
    })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  const auto result = [&] {
    run(graph);
    return read_words(instance, "x")[0];
  };
  EXPECT_EQ(result(), 30U);
  EXPECT_EQ(result(), 30U);
  instance.set("step", 4);
  EXPECT_EQ(result(), 120U);
  instance.set("step", 5);
  EXPECT_EQ(result(), 150U);
  instance.set({{"rounds", 3}, {"step", 1}});
  EXPECT_EQ(result(), 9U);
}

TEST_P(UpdateTest, TheLimitOfALoopFollows) {
  const cgrt::Program program = compile_text(R"(
    param most: i32 = 3;
    device inout i: i32[1];
    graph main { i[0] = 0; while (i[0] < 100) max most { i[0] = i[0] + 1; } })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  for (const std::uint32_t most : {3U, 5U, 8U}) {
    instance.set("most", std::int64_t{most});
    graph.launch();
    EXPECT_THAT(message_of(ErrorCode::Stopped, [&] { graph.wait(); }),
                HasSubstr("after " + std::to_string(most) + " iterations"));
    EXPECT_EQ(read_words(instance, "i")[0], most);
  }
}

TEST_P(UpdateTest, LaunchesInFlightKeepTheirValues) {
  const cgrt::Program program = compile_text(R"(
    param v: i32 = 0;
    kernel append(v: i32, x: inout i32[101]) grid(1) block(1) cuda {
      volatile int spent = 0;
      for (int i = 0; i < 20000; ++i) spent = spent + 1;
      x[1 + x[0]] = v; x[0] += 1;
    }
    device inout x: i32[101];
    graph main { append(v, x); })");
  cgrt::Instance instance(program, place());
  write_words(instance, "x", std::vector<std::uint32_t>(101, 0));
  cgrt::Executable graph = instance.executable();
  for (int i = 0; i < 100; ++i) {
    instance.set("v", i * i);
    graph.launch();
  }
  graph.wait();
  const auto x = read_words(instance, "x");
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(x[1 + i], i * i);
  }
}

TEST_P(UpdateTest, NothingGrowsOverManyRounds) {
  const cgrt::Program program = compile_text(rebuilding);
  for (int round = 0; round < 500; ++round) {
    cgrt::Instance instance(program, place());
    write_words(instance, "x", {0});
    instance.bind_callback("told", [](std::int32_t) {});
    cgrt::Executable graph = instance.executable();
    instance.set({{"step", round}, {"round", round}});
    run(graph);
    EXPECT_EQ(read_words(instance, "x").at(0), static_cast<std::uint32_t>(round));
  }
}

} // namespace conformance
