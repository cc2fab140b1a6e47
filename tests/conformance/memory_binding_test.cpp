// Memory of the caller's in a buffer's place.
#include "hand_made.h"
#include "message_of.h"
#include "text_program.h"

#include <gmock/gmock.h>

#include <numeric>

namespace conformance {

using cgrt::ErrorCode;
using cgrt::MemorySpace;
using cgrt::UpdateKind;
using testing::Each;
using testing::HasSubstr;

class MemoryBindingTest : public ProgramsUnderTest {
protected:
  static constexpr const char *doubling = R"(
    param n: i32 = 4;
    device in x: i32[n]; device out y: i32[n]; host out h: i32[n];
    kernel twice(n: i32, x: in i32[n], y: out i32[n]) grid(1) block(n)
    cuda { y[threadIdx.x] = 2 * x[threadIdx.x]; }
    graph main { twice(n, x, y); copy h <- y; })";
};
CONFORMANCE_SUITE(MemoryBindingTest);

TEST_P(MemoryBindingTest, LaunchesFollowTheMemory) {
  cgrt::Instance instance(compile_text(doubling), place());
  const Array<std::int32_t> first(device(), {1, 2, 3, 4});
  const Array<std::int32_t> second(device(), {10, 20, 30, 40});
  const Array<std::int32_t> results(device(), {0, 0, 0, 0});
  cgrt::Executable graph = instance.executable();
  write_words(instance, "x", {5, 6, 7, 8});
  run(graph);
  EXPECT_EQ(read_words(instance, "y"), (std::vector<std::uint32_t>{10, 12, 14, 16}));
  for (int round = 0; round < 2; ++round) { // by resolving nodes, and by their numbers alone
    EXPECT_EQ(instance.bind("x", span_of(first, 4)).kind, UpdateKind::InPlace);
    run(graph);
    EXPECT_EQ(read_words(instance, "y"), (std::vector<std::uint32_t>{2, 4, 6, 8}));
    EXPECT_EQ(instance.bind("x", span_of(second, 4)).kind, UpdateKind::InPlace);
    run(graph);
    EXPECT_EQ(read_words(instance, "y"), (std::vector<std::uint32_t>{20, 40, 60, 80}));
  }
  instance.update({{}, {{"y", span_of(results, 4)}, {"x", span_of(first, 4)}}});
  run(graph);
  EXPECT_EQ(results.read(), (std::vector<std::int32_t>{2, 4, 6, 8}));
  EXPECT_EQ(instance.host<std::int32_t>("h")[3], 8);

  instance.unbind("x");
  EXPECT_THAT(message_of(ErrorCode::Usage, [&] { graph.launch(); }),
              HasSubstr("buffer x has no memory"));
  EXPECT_THAT(message_of(ErrorCode::Usage,
                         [&] {
                           write_words(instance, "x", {1, 2, 3, 4});
                         }),
              HasSubstr("buffer x"));
  EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.unbind("x"); }), HasSubstr("buffer x"));
  EXPECT_EQ(results.read(), (std::vector<std::int32_t>{2, 4, 6, 8}));
  instance.bind("x", span_of(second, 4));
  run(graph);
  EXPECT_EQ(results.read(), (std::vector<std::int32_t>{20, 40, 60, 80}));
}

TEST_P(MemoryBindingTest, WhatDoesNotFitIsRefusedAndChangesNothing) {
  cgrt::Instance instance(compile_text(doubling), place());
  const Array<std::int32_t> memory(device(), std::vector<std::int32_t>(16, 3));
  const Array<std::int32_t> host(device(), {1, 2, 3, 4}, MemorySpace::Host);
  cgrt::Executable graph = instance.executable();
  instance.bind("x", span_of(memory, 4));
  const std::span<std::int32_t> all = span_of(memory, 16);
  EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.bind("x", all.first(3)); }),
              HasSubstr("has 12 bytes; i32[4] needs 16"));
  EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.bind("nobody", all); }),
              HasSubstr("no buffer nobody"));
  const std::span<float> floats(reinterpret_cast<float *>(all.data()), 4);
  EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.bind("x", floats); }),
              HasSubstr("holds f32, not i32"));
  const std::span<const std::int32_t> constant = all.subspan(8, 4);
  EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.bind("y", constant); }),
              HasSubstr("const"));
  EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.bind("y", all.subspan(3, 4)); }),
              HasSubstr("overlaps that of buffer x"));
  EXPECT_THAT(
      message_of(ErrorCode::Usage,
                 [&] {
                   instance.update({{{"n", 8}}, {{"y", all.subspan(8, 8)}}}); // x is too small
                 }),
      HasSubstr("bound to buffer x has 16 bytes; i32[8] needs 32"));
  cgrt::BoundMemory nowhere;
  nowhere.type = cgrt::ScalarType::I32;
  nowhere.bytes = 16;
  EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.bind("y", nowhere); }),
              HasSubstr("is null"));
  EXPECT_THAT(
      message_of(ErrorCode::Usage, [&] { instance.bind("h", instance.host<std::int32_t>("h")); }),
      HasSubstr("the buffer's own"));
  run(graph);
  EXPECT_EQ(read_words(instance, "y"), (std::vector<std::uint32_t>{6, 6, 6, 6}));
  instance.bind("x", constant);
  EXPECT_THAT(message_of(ErrorCode::Usage,
                         [&] {
                           write_words(instance, "x", {1, 2, 3, 4});
                         }),
              HasSubstr("const"));
  instance.bind("y", all.subspan(4, 4)); // neighbours
  run(graph);
  EXPECT_EQ(read_words(instance, "y"), (std::vector<std::uint32_t>{6, 6, 6, 6}));
}

TEST_P(MemoryBindingTest, LargerMemoryServesLargerSizes) {
  cgrt::Instance instance(compile_text(doubling), place());
  std::vector<std::int32_t> numbers(16);
  std::iota(numbers.begin(), numbers.end(), 1);
  const Array<std::int32_t> memory(device(), numbers);
  cgrt::Executable graph = instance.executable();
  instance.bind("x", span_of(memory, 16));
  for (const int n : {4, 16, 1, 9}) {
    instance.set("n", n);
    run(graph);
    const std::span<std::int32_t> h = instance.host<std::int32_t>("h");
    ASSERT_EQ(h.size(), static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < h.size(); ++i) {
      EXPECT_EQ(h[i], 2 * numbers[i]);
    }
  }
  EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.set("n", 17); }),
              HasSubstr("i32[17] needs 68"));
  EXPECT_EQ(std::get<std::int64_t>(instance.param("n")), 9);
}

/// The owner is kept, also by what is in flight when the memory is replaced.
TEST_P(MemoryBindingTest, AnOwnerIsKeptWhileItsMemoryIsUsed) {
  cgrt::Instance instance(compile_text(R"(
    host in h: i32[1000]; device out x: i32[1000];
    graph main { copy x <- h; })"),
                          place());
  std::optional<cgrt::Executable> graph(instance.executable());
  std::weak_ptr<cgrt::Memory> watched;
  for (int round = 1; round <= 3; ++round) {
    std::shared_ptr<cgrt::Memory> memory = device().allocate(MemorySpace::Host, 4000);
    const std::span<std::int32_t> numbers(reinterpret_cast<std::int32_t *>(memory->data()), 1000);
    std::fill(numbers.begin(), numbers.end(), round);
    const std::weak_ptr<cgrt::Memory> before = std::exchange(watched, memory);
    instance.bind("h", {numbers, std::move(memory)});
    EXPECT_FALSE(watched.expired());
    run(*graph);
    EXPECT_TRUE(before.expired()) << "nothing uses it any more";
    EXPECT_THAT(read_words(instance, "x"), Each(static_cast<std::uint32_t>(round)));
  }
  // Blocks come and go; the bound one is not among them.
  for (int i = 0; i < 50; ++i) {
    const auto other = device().allocate(MemorySpace::Host, 4000);
    std::memset(other->data(), 0xEE, 4000);
  }
  run(*graph);
  EXPECT_THAT(read_words(instance, "x"), Each(3U));
  instance.unbind("h");
  graph->wait();
  EXPECT_TRUE(watched.expired());
}

TEST_P(MemoryBindingTest, WhatNothingUsesGoesWithoutAWait) {
  cgrt::Instance instance(compile_text(R"(
    host in h: i32[10]; device out x: i32[10];
    graph main { copy x <- h; })"),
                          place());
  cgrt::Executable graph = instance.executable();
  std::weak_ptr<cgrt::Memory> before;
  for (int round = 0; round < 6; ++round) {
    std::shared_ptr<cgrt::Memory> memory = device().allocate(MemorySpace::Host, 40);
    const std::span<std::int32_t> numbers(reinterpret_cast<std::int32_t *>(memory->data()), 10);
    std::fill(numbers.begin(), numbers.end(), round);
    const std::weak_ptr<cgrt::Memory> watched = memory;
    // An owner may ask the instance for something when it goes.
    instance.bind("h", {numbers, std::shared_ptr<void>(memory.get(), [memory, &instance](void *) {
                          static_cast<void>(instance.buffer("h"));
                        })});
    memory.reset();
    if (round % 2 == 0) {
      graph.launch();
      EXPECT_THAT(read_words(instance, "x"), Each(static_cast<std::uint32_t>(round)));
    }
    EXPECT_TRUE(before.expired()) << round;
    before = watched;
  }
  instance.unbind("h");
  EXPECT_TRUE(before.expired());
}

/// The owner of memory that is refused goes when the instance can be asked again.
TEST_P(MemoryBindingTest, AnOwnerThatIsRefusedMayAskTheInstance) {
  cgrt::Instance instance(compile_text(doubling), place());
  const Array<std::int32_t> few(device(), {1, 2});
  int asked = 0;
  const auto owner = [&] {
    return std::shared_ptr<void>(&asked, [&](void *) {
      static_cast<void>(instance.buffer("x"));
      ++asked;
    });
  };
  EXPECT_THAT(message_of(ErrorCode::Usage,
                         [&] {
                           instance.bind("x", {span_of(few, 2), owner()});
                         }),
              HasSubstr("needs 16"));
  EXPECT_EQ(asked, 1);
  EXPECT_THAT(message_of(ErrorCode::Usage,
                         [&] {
                           instance.update({{}, {{"x", {span_of(few, 2), owner()}}}});
                         }),
              HasSubstr("needs 16"));
  EXPECT_EQ(asked, 2);
}

TEST_P(MemoryBindingTest, SpansOfFixedExtentAreTaken) {
  cgrt::Instance instance(compile_text(doubling), place());
  const Array<std::int32_t> numbers(device(), {1, 2, 3, 4});
  instance.bind("x", std::span<std::int32_t, 4>(span_of(numbers, 4)));
  cgrt::Executable graph = instance.executable();
  run(graph);
  EXPECT_EQ(read_words(instance, "y"), (std::vector<std::uint32_t>{2, 4, 6, 8}));
}

TEST_P(MemoryBindingTest, FillsAndCopiesReachIt) {
  cgrt::Instance instance(compile_text(R"(
    host inout h: i32[6]; device inout x: i32[6];
    graph main { fill x[1:3] <- 7; copy x[3:6] <- h[0:3]; copy h[4:6] <- x[0:2]; })"),
                          place());
  cgrt::Executable graph = instance.executable();
  for (int round = 0; round < 3; ++round) {
    const Array<std::int32_t> x(device(), {1, 2, 3, 4, 5, 6});
    const Array<std::int32_t> h(device(), {10, 20, 30, 40, 50, 60}, MemorySpace::Host);
    instance.update({{}, {{"x", span_of(x, 6)}, {"h", span_of(h, 6)}}});
    run(graph);
    EXPECT_EQ(x.read(), (std::vector<std::int32_t>{1, 7, 7, 10, 20, 30}));
    EXPECT_EQ(h.read(), (std::vector<std::int32_t>{10, 20, 30, 40, 1, 7}));
  }
}

} // namespace conformance
