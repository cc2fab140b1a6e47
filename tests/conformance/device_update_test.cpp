// Launches that the device changes.
#include "hand_made.h"
#include "message_of.h"
#include "text_program.h"

#include <gmock/gmock.h>

#include <cstring>

namespace conformance {

using cgrt::ErrorCode;
using cgrt::UpdateKind;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class DeviceUpdateTest : public ProgramsUnderTest {};
CONFORMANCE_SUITE(DeviceUpdateTest);

/// The device changes a launch: its grid, a value, and whether it runs, for what comes.
TEST_P(DeviceUpdateTest, KernelsChangeLaunches) {
  const cgrt::Program program = compile_text(R"(
    param value: i32 = 5; param blocks: i32 = 2;
    device inout what: i32[4];
    device inout x: i32[6];
    kernel set(flag: bool, small: i8, value: i32, x: out i32[6]) grid(2) block(1)
    cuda { x[blockIdx.x] = value + small + flag; }
    graph main {
      grid(L) = (what[1]);
      enable(L) = what[2] != 0;
      arg(L, value) = what[3] * 2;
      arg(L, small) = what[0];
      fill x <- 0;
      @updatable L: set<<<blocks, 1>>>(true, 0, value, x);
    })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  const auto x = [&](const std::vector<std::uint32_t> &what) {
    write_words(instance, "what", what);
    run(graph);
    return read_words(instance, "x");
  };
  EXPECT_THAT(x({1, 3, 1, 10}), ElementsAre(22, 22, 22, 0, 0, 0));
  EXPECT_THAT(x({2, 6, 1, 11}), ElementsAre(25, 25, 25, 25, 25, 25));
  EXPECT_THAT(x({2, 6, 0, 11}), Each(0U)) << "it is off";
  EXPECT_THAT(x({0, 1, 1, 0}), ElementsAre(1, 0, 0, 0, 0, 0));
}

/// What is changed stays from one launch to the next, until an update from the host sets the whole
/// launch anew.
TEST_P(DeviceUpdateTest, ChangesStayUntilTheHostSetsTheLaunch) {
  const cgrt::Program program = compile_text(R"(
    param value: i32 = 5; param unrelated: i32 = 0;
    device inout go: i32[1];
    device inout x: i32[4];
    kernel set(value: i32, x: out i32[4]) grid(2) block(1) cuda { x[blockIdx.x] = value; }
    graph main {
      fill x <- 0;
      @updatable L: set(value, x);
      if (go[0] == 1) { grid(L) = 0; } else if (go[0] == 2) { grid(L) = 4; arg(L, value) = 7; }
      go[0] = unrelated;
    })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  const auto x = [&](std::uint32_t go) {
    write_words(instance, "go", {go});
    run(graph);
    return read_words(instance, "x");
  };
  EXPECT_THAT(x(2), ElementsAre(5, 5, 0, 0)) << "the change comes behind the launch";
  EXPECT_THAT(x(0), ElementsAre(7, 7, 7, 7));
  EXPECT_THAT(x(1), ElementsAre(7, 7, 7, 7));
  EXPECT_THAT(x(0), Each(0U));
  EXPECT_EQ(instance.set("unrelated", 0).kind, UpdateKind::None);
  EXPECT_EQ(instance.set("unrelated", 3).kind, UpdateKind::InPlace);
  EXPECT_THAT(x(0), Each(0U)) << "the host has changed another launch";
  EXPECT_EQ(instance.set("value", 9).kind, UpdateKind::InPlace);
  EXPECT_THAT(x(2), ElementsAre(9, 9, 0, 0));
  EXPECT_THAT(x(0), ElementsAre(7, 7, 7, 7));
  // Another executable of the graph has launches of its own.
  cgrt::Executable other = instance.executable();
  run(other);
  EXPECT_THAT(read_words(instance, "x"), ElementsAre(9, 9, 0, 0));
}

/// In a loop, and in a graph that is launched from the device.
TEST_P(DeviceUpdateTest, ChangesReachEveryIteration) {
  const cgrt::Program program = compile_text(R"(
    device inout i, sum: i32[1];
    kernel add(by: i32, sum: inout i32[1]) grid(1) block(1) cuda { sum[0] += by; }
    graph main {
      i[0] = 0; sum[0] = 0;
      while (i[0] < 5) {
        arg(L, by) = i[0] * i[0];
        i[0] = i[0] + 1;
        @updatable L: add(0, sum);
      }
    }
    graph start { i[0] = 0; sum[0] = 0; tail step; }
    @device_launch graph step {
      arg(L, by) = i[0] * i[0];
      @updatable L: add(0, sum);
      i[0] = i[0] + 1;
      tail self when (i[0] < 6);
    })");
  cgrt::Instance instance(program, place());
  cgrt::Executable loop = instance.executable();
  cgrt::Executable start = instance.executable("start");
  for (int replay = 0; replay < 2; ++replay) {
    run(loop);
    EXPECT_THAT(read_words(instance, "sum"), ElementsAre(30));
    run(start);
    EXPECT_THAT(read_words(instance, "sum"), ElementsAre(55));
  }
}

/// The same in a graph for device launch, which is uploaded anew after every update.
TEST_P(DeviceUpdateTest, ChangesStayInAGraphThatIsLaunched) {
  const cgrt::Program program = compile_text(R"(
    param value: i32 = 5; param unrelated: i32 = 0;
    device inout go, other: i32[1];
    device inout x: i32[4];
    kernel set(value: i32, x: out i32[4]) grid(2) block(1) cuda { x[blockIdx.x] = value; }
    graph main { fill x <- 0; tail step; }
    @device_launch graph step {
      arg(L, value) = go[0];
      grid(L) = go[0];
      @updatable L: set(value, x);
      other[0] = unrelated;
      tail last;
    }
    @device_launch graph last { })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  const auto x = [&](std::uint32_t go) {
    write_words(instance, "go", {go});
    run(graph);
    return read_words(instance, "x");
  };
  EXPECT_THAT(x(3), ElementsAre(3, 3, 3, 0));
  EXPECT_THAT(x(0), Each(0U));
  EXPECT_EQ(instance.set("unrelated", 7).kind, UpdateKind::InPlace);
  EXPECT_THAT(x(4), Each(4U));
  EXPECT_THAT(read_words(instance, "other"), ElementsAre(7));
  EXPECT_THAT(message_of(ErrorCode::InvalidValue,
                         [&] {
                           cgrt::Instance(compile_text(R"(
                             param n: i32 = 0; device x: i32[4];
                             kernel set(x: out i32[4]) grid(1) block(1) cuda { x[0] = 1; }
                             graph main { @updatable L: set<<<n, 1>>>(x); enable(L) = true; })"),
                                          place())
                               .executable();
                         }),
              HasSubstr("its grid is empty, and the device may turn it on"));
}

/// Every type of parameter, among others whose sizes move it about.
TEST_P(DeviceUpdateTest, ValuesOfEveryTypeAreChanged) {
  const cgrt::Program program = compile_text(R"(
    device inout v: f64[1];
    device out x: f64[13];
    kernel take(a: bool, b: i8, c: u8, d: i16, e: u16, f: i32, g: u32, h: i64, i: u64, j: f16,
                k: bf16, l: f32, m: f64, x: out f64[13]) grid(1) block(1)
    cuda {
      x[0] = a; x[1] = b; x[2] = c; x[3] = d; x[4] = e; x[5] = f; x[6] = g; x[7] = h; x[8] = i;
      x[9] = float(j); x[10] = float(k); x[11] = l; x[12] = m;
    }
    graph main {
      @updatable L: take(false, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, x);
      arg(L, a) = v[0]; arg(L, b) = v[0]; arg(L, c) = v[0]; arg(L, d) = v[0]; arg(L, e) = v[0];
      arg(L, f) = v[0]; arg(L, g) = v[0]; arg(L, h) = v[0]; arg(L, i) = v[0]; arg(L, j) = v[0];
      arg(L, k) = v[0]; arg(L, l) = v[0]; arg(L, m) = v[0];
    })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  const double value = 98.5;
  instance.write("v", std::as_bytes(std::span(&value, 1)));
  run(graph);
  run(graph);
  const std::vector<std::byte> bytes = instance.read("x");
  std::vector<double> x(13);
  std::memcpy(x.data(), bytes.data(), bytes.size());
  EXPECT_THAT(x, ElementsAre(1, 98, 98, 98, 98, 98, 98, 98, 98, 98.5, 98.5, 98.5, 98.5));
}

TEST_P(DeviceUpdateTest, AChangeThatIsRefusedIsReported) {
  const cgrt::Program program = compile_text(R"(
    device inout size: i64[1];
    device inout x: i32[1];
    kernel set(x: out i32[1]) grid(1) block(1) cuda { x[0] = 1; }
    graph main {
      grid(L) = (1, size[0]);
      @updatable L: set(x);
    })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  for (const std::uint64_t size : {std::uint64_t{65536}, ~std::uint64_t{0}}) {
    instance.write("size", std::as_bytes(std::span(&size, 1)));
    graph.launch();
    EXPECT_THAT(message_of(ErrorCode::Device, [&] { graph.wait(); }),
                AllOf(HasSubstr("test.cgraph:6: grid(L) was refused"),
                      HasSubstr("the grid is negative, or larger than a GPU takes")));
  }
  const std::uint64_t one = 1;
  instance.write("size", std::as_bytes(std::span(&one, 1)));
  run(graph);
  EXPECT_THAT(read_words(instance, "x"), ElementsAre(1));
}

} // namespace conformance
