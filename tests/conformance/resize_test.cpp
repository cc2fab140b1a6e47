// Buffers that get another size: elements keep their indices, and graphs work on the new memory.
#include "hand_made.h"
#include "text_program.h"

#include <gmock/gmock.h>

#include <numeric>

namespace conformance {

class ResizeTest : public ProgramsUnderTest {};
CONFORMANCE_SUITE(ResizeTest);

TEST_P(ResizeTest, GraphsWorkOnTheNewMemory) {
  const cgrt::Program program = compile_text(R"(
    param n: i32 = 10; param a: i32 = 2;
    host inout h: i32[n]; device x, t: i32[n];
    kernel scale(n: i32, a: i32, x: in i32[n], y: out i32[n]) grid(ceildiv(n, 64)) block(64)
    cuda { const int i = blockIdx.x * 64 + threadIdx.x; if (i < n) y[i] = a * x[i]; }
    graph main { copy x <- h; scale(n, a, x, t); copy h <- t; })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  std::span<std::int32_t> h = instance.host<std::int32_t>("h");
  std::iota(h.begin(), h.end(), 1);
  for (const int n : {10, 1000, 3, 0, 50}) {
    const std::vector<std::int32_t> before(h.begin(), h.end());
    instance.set("n", n);
    h = instance.host<std::int32_t>("h");
    ASSERT_EQ(h.size(), static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < h.size() && i < before.size(); ++i) {
      EXPECT_EQ(h[i], before[i]);
    }
    std::iota(h.begin(), h.end(), 1);
    graph.launch();
    graph.wait();
    for (std::size_t i = 0; i < h.size(); ++i) {
      EXPECT_EQ(h[i], 2 * static_cast<std::int32_t>(i + 1));
    }
  }
  EXPECT_THROW(instance.set("n", -1), cgrt::Error);
}

/// Each element holds what its indices say.
TEST_P(ResizeTest, ElementsKeepTheirIndices) {
  const cgrt::Program program = compile_text(R"(
    param a: i32 = 2; param b: i32 = 2; param c: i32 = 2; param d: i32 = 2; param e: i32 = 2;
    device inout x: i32[a, b, c, d, e];
    graph main { })");
  cgrt::Instance instance(program, place());
  using Shape = std::array<std::int64_t, 5>;
  const auto number = [](const Shape &at) {
    return static_cast<std::uint32_t>(((((at[0] * 10 + at[1]) * 10 + at[2]) * 10 + at[3]) * 10) +
                                      at[4]);
  };
  const auto for_each = [](const Shape &shape, const auto &visit) {
    std::size_t index = 0;
    Shape at{};
    for (at[0] = 0; at[0] < shape[0]; ++at[0])
      for (at[1] = 0; at[1] < shape[1]; ++at[1])
        for (at[2] = 0; at[2] < shape[2]; ++at[2])
          for (at[3] = 0; at[3] < shape[3]; ++at[3])
            for (at[4] = 0; at[4] < shape[4]; ++at[4])
              visit(index++, at);
  };
  Shape shape = {2, 2, 2, 2, 2};
  for (const Shape &next : {Shape{3, 2, 2, 2, 2},
                            {3, 1, 4, 2, 3},
                            {5, 3, 3, 4, 2},
                            {5, 3, 3, 4, 5},
                            {1, 1, 1, 1, 1},
                            {4, 3, 2, 1, 5},
                            {4, 0, 2, 1, 5},
                            {2, 2, 2, 2, 2}}) {
    std::vector<std::uint32_t> words(
        static_cast<std::size_t>(shape[0] * shape[1] * shape[2] * shape[3] * shape[4]));
    for_each(shape, [&](std::size_t index, const Shape &at) { words[index] = number(at); });
    write_words(instance, "x", words);
    instance.set({{"a", next[0]}, {"b", next[1]}, {"c", next[2]}, {"d", next[3]}, {"e", next[4]}});
    const auto now = read_words(instance, "x");
    for_each(next, [&](std::size_t index, const Shape &at) {
      bool common = true;
      for (std::size_t axis = 0; axis < 5; ++axis) {
        common = common && at[axis] < shape[axis];
      }
      if (common) {
        EXPECT_EQ(now[index], number(at));
      }
    });
    shape = next;
  }
}

TEST_P(ResizeTest, AnErrorKeepsTheOldMemory) {
  const cgrt::Program program = compile_text(R"(
    param n: i32 = 4; param at: i32 = 0;
    device inout x: i32[n];
    graph main { fill x[at:at + 2] <- 9; })");
  cgrt::Instance instance(program, place());
  cgrt::Executable graph = instance.executable();
  write_words(instance, "x", {1, 2, 3, 4});
  EXPECT_THROW(instance.set({{"n", 8}, {"at", 7}}), cgrt::Error);
  EXPECT_EQ(read_words(instance, "x"), (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_THROW(instance.set("n", 1), cgrt::Error);
  graph.launch();
  graph.wait();
  EXPECT_EQ(read_words(instance, "x"), (std::vector<std::uint32_t>{9, 9, 3, 4}));
  instance.set({{"n", 8}, {"at", 6}});
  graph.launch();
  graph.wait();
  const auto x = read_words(instance, "x");
  EXPECT_EQ((std::vector<std::uint32_t>{x[0], x[1], x[2], x[3], x[6], x[7]}),
            (std::vector<std::uint32_t>{9, 9, 3, 4, 9, 9}));
}

} // namespace conformance
