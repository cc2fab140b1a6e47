// Copies, fills and kernel arguments of boxes: what is in the box, and nothing else, is touched.
#include "device_under_test.h"
#include "hand_made.h"

#include <gmock/gmock.h>

#include <functional>
#include <numeric>
#include <random>

namespace conformance {

using cgrt::MemorySpace;
using cgrt::format::CopyWork;
using cgrt::format::FillWork;
using testing::HasSubstr;

using Extents = std::vector<std::int64_t>;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t poison = 0xDEADBEEF;

class SlicesTest : public DeviceUnderTest {
protected:
  cgrt::Device place() const { return is_host() ? cgrt::Device::host() : cgrt::Device::cuda(0); }
};
class KernelSlicesTest : public KernelsUnderTest {};
CONFORMANCE_SUITE(SlicesTest);
CONFORMANCE_SUITE(KernelSlicesTest);

std::size_t product(const Extents &extents) {
  std::size_t elements = 1;
  for (const std::int64_t extent : extents) {
    elements *= static_cast<std::size_t>(extent);
  }
  return elements;
}

/// The elements of a box in order, as indices into its buffer.
std::vector<std::size_t> elements_of(const Extents &extents, const Ranges &ranges) {
  std::vector<std::size_t> elements = {0};
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    std::vector<std::size_t> finer;
    for (const std::size_t element : elements) {
      for (std::int64_t i = 0; i < ranges[axis].second; ++i) {
        finer.push_back(element * static_cast<std::size_t>(extents[axis]) +
                        static_cast<std::size_t>(ranges[axis].first + i));
      }
    }
    elements = std::move(finer);
  }
  return elements;
}

struct Side {
  Extents extents;
  Ranges ranges;
};

void expect_copy(const cgrt::Device &device, const Side &to, const Side &from, MemorySpace to_space,
                 MemorySpace from_space) {
  HandMade made;
  const auto destination = made.buffer("to", to.extents, cgrt::ScalarType::U32, to_space);
  const auto source = made.buffer("from", from.extents, cgrt::ScalarType::U32, from_space);
  made.graph("main");
  made.node(CopyWork{made.box(destination, to.ranges), made.box(source, from.ranges)});
  cgrt::Instance instance(made.finish(), device);
  Words values(product(from.extents));
  std::iota(values.begin(), values.end(), 1U);
  write_words(instance, "from", values);
  Words expected(product(to.extents), poison);
  write_words(instance, "to", expected);
  cgrt::Executable graph = instance.executable();
  graph.launch();
  graph.wait();
  const auto written = elements_of(to.extents, to.ranges);
  const auto read = elements_of(from.extents, from.ranges);
  ASSERT_EQ(written.size(), read.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    expected[written[i]] = values[read[i]];
  }
  EXPECT_EQ(read_words(instance, "to"), expected);
  EXPECT_EQ(read_words(instance, "from"), values);
}

void expect_copy_between_all_spaces(const cgrt::Device &device, const Side &to, const Side &from) {
  for (const MemorySpace to_space : {MemorySpace::Host, MemorySpace::Device}) {
    for (const MemorySpace from_space : {MemorySpace::Host, MemorySpace::Device}) {
      expect_copy(device, to, from, to_space, from_space);
    }
  }
}

TEST_P(SlicesTest, CopiesTiles) {
  expect_copy_between_all_spaces(place(), {{6, 10}, {{1, 4}, {2, 3}}}, {{8, 7}, {{3, 4}, {4, 3}}});
}

TEST_P(SlicesTest, CopiesBricks) {
  expect_copy_between_all_spaces(place(), {{5, 6, 7}, {{1, 3}, {2, 4}, {3, 2}}},
                                 {{4, 4, 9}, {{1, 3}, {0, 4}, {7, 2}}});
}

TEST_P(SlicesTest, CopiesABlockOfACube) {
  expect_copy_between_all_spaces(place(), {{1, 3, 3}, {{0, 1}, {0, 3}, {0, 3}}},
                                 {{4, 4, 4}, {{3, 1}, {1, 3}, {0, 3}}});
  expect_copy_between_all_spaces(place(), {{4, 4, 4}, {{3, 1}, {1, 3}, {0, 3}}},
                                 {{3, 3}, {{0, 3}, {0, 3}}});
}

TEST_P(SlicesTest, CopiesColumnsAndRows) {
  expect_copy_between_all_spaces(place(), {{5}, {{0, 5}}}, {{5, 7}, {{0, 5}, {6, 1}}});
  expect_copy_between_all_spaces(place(), {{5, 7}, {{4, 1}, {1, 5}}}, {{9, 3}, {{2, 5}, {1, 1}}});
  expect_copy_between_all_spaces(place(), {{3, 4, 2}, {{0, 3}, {1, 2}, {1, 1}}},
                                 {{3, 2}, {{0, 3}, {0, 2}}});
}

TEST_P(SlicesTest, CopiesWithinOneBufferBetweenBoxesSideBySide) {
  HandMade made;
  const auto x = made.buffer("x", {4, 6});
  made.graph("main");
  made.node(CopyWork{made.box(x, {{0, 4}, {3, 3}}), made.box(x, {{0, 4}, {0, 3}})});
  cgrt::Instance instance(made.finish(), place());
  Words values(24);
  std::iota(values.begin(), values.end(), 1U);
  write_words(instance, "x", values);
  cgrt::Executable graph = instance.executable();
  graph.launch();
  graph.wait();
  for (std::size_t i = 0; i < 24; ++i) {
    if (i % 6 >= 3) {
      values[i] = values[i - 3];
    }
  }
  EXPECT_EQ(read_words(instance, "x"), values);
}

/// A random box of three dimensions; its twin in a buffer of other extents.
Side random_side(std::mt19937 &random, const Extents &counts) {
  Side side;
  for (const std::int64_t count : counts) {
    const auto before = static_cast<std::int64_t>(random() % 3);
    const auto behind = static_cast<std::int64_t>(random() % 3);
    side.extents.push_back(before + count + behind);
    side.ranges.emplace_back(before, count);
  }
  return side;
}

TEST_P(SlicesTest, CopiesRandomBoxes) {
  std::mt19937 random(1);
  const cgrt::Device device = place();
  for (int round = 0; round < 60; ++round) {
    Extents counts;
    for (int axis = 0; axis < 3; ++axis) {
      counts.push_back(1 + static_cast<std::int64_t>(random() % 5));
    }
    const Side to = random_side(random, counts);
    const Side from = random_side(random, counts);
    expect_copy(device, to, from, round % 2 == 0 ? MemorySpace::Device : MemorySpace::Host,
                round % 4 < 2 ? MemorySpace::Device : MemorySpace::Host);
    if (HasFailure()) {
      FAIL() << "round " << round;
    }
  }
}

template <typename T>
void expect_fill(const cgrt::Device &device, const Side &side, cgrt::ScalarType type,
                 MemorySpace space) {
  HandMade made;
  const auto x = made.buffer("x", side.extents, type, space);
  made.graph("main");
  made.node(FillWork{made.box(x, side.ranges), made.number(77)});
  cgrt::Instance instance(made.finish(), device);
  std::vector<T> expected(product(side.extents), T{5});
  instance.write("x", std::as_bytes(std::span(expected)));
  cgrt::Executable graph = instance.executable();
  graph.launch();
  graph.wait();
  for (const std::size_t element : elements_of(side.extents, side.ranges)) {
    expected[element] = T{77};
  }
  const auto bytes = instance.read("x");
  const auto wanted = std::as_bytes(std::span(expected));
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), wanted.begin(), wanted.end()));
}

TEST_P(SlicesTest, FillsTilesRowsAndColumns) {
  const cgrt::Device device = place();
  for (const Side &side :
       {Side{{6, 9}, {{1, 4}, {2, 5}}}, Side{{6, 9}, {{2, 3}, {0, 9}}},
        Side{{6, 9}, {{0, 6}, {8, 1}}}, Side{{3, 4, 5}, {{1, 2}, {1, 2}, {0, 5}}},
        Side{{4, 4, 4}, {{2, 1}, {1, 3}, {0, 3}}}}) {
    for (const MemorySpace space : {MemorySpace::Host, MemorySpace::Device}) {
      expect_fill<std::uint8_t>(device, side, cgrt::ScalarType::U8, space);
      expect_fill<std::uint16_t>(device, side, cgrt::ScalarType::U16, space);
      expect_fill<std::uint32_t>(device, side, cgrt::ScalarType::U32, space);
    }
  }
}

TEST_P(SlicesTest, EmptyBoxesAreLeftAlone) {
  HandMade made;
  const auto x = made.buffer("x", {4, 6});
  made.graph("main");
  made.node(FillWork{made.box(x, {{4, 0}, {0, 6}}), made.number(1)});
  made.node(CopyWork{made.box(x, {{0, 2}, {6, 0}}), made.box(x, {{2, 2}, {1, 0}})});
  cgrt::Instance instance(made.finish(), place());
  const Words values(24, poison);
  write_words(instance, "x", values);
  cgrt::Executable graph = instance.executable();
  graph.launch();
  graph.wait();
  EXPECT_EQ(read_words(instance, "x"), values);
}

std::string refusal(const cgrt::Device &device,
                    const std::function<cgrt::format::Work(HandMade &, std::uint32_t)> &work) {
  HandMade made;
  const auto x = made.buffer("x", {4, 6});
  made.graph("main");
  made.node(work(made, x));
  cgrt::Instance instance(made.finish(), device);
  try {
    instance.executable();
  } catch (const cgrt::Error &error) {
    EXPECT_EQ(error.code(), cgrt::ErrorCode::InvalidValue);
    return error.what();
  }
  return "no error";
}

TEST_P(SlicesTest, BothDevicesRefuseTheSameBoxes) {
  const cgrt::Device device = place();
  EXPECT_THAT(refusal(device,
                      [](HandMade &made, std::uint32_t x) {
                        return FillWork{made.box(x, {{0, 4}, {2, 5}}), made.number(0)};
                      }),
              HasSubstr("dimension 1 of x: 5 elements from 2 on are not within its 6 [range]"));
  EXPECT_THAT(
      refusal(device,
              [](HandMade &made, std::uint32_t x) {
                return CopyWork{made.box(x, {{0, 3}, {0, 3}}), made.box(x, {{2, 2}, {2, 3}})};
              }),
      HasSubstr("[shape]"));
  EXPECT_THAT(
      refusal(device,
              [](HandMade &made, std::uint32_t x) {
                return CopyWork{made.box(x, {{0, 3}, {0, 3}}), made.box(x, {{1, 3}, {2, 3}})};
              }),
      HasSubstr("[alias]"));
}

TEST_P(KernelSlicesTest, AKernelGetsTheFirstElementOfItsBox) {
  HandMade made(
      compile({{"mark", {output("x", ScalarType::U32)}, "x[0] = 1; x[5] = 6;"}}, target()));
  const auto x = made.buffer("x", {4, 6});
  made.graph("main");
  made.node(made.launch(0, {made.box(x, {{2, 1}, {0, 6}})}));
  cgrt::Instance instance(made.finish(), is_host() ? cgrt::Device::host() : cgrt::Device::cuda(0));
  Words expected(24, poison);
  write_words(instance, "x", expected);
  cgrt::Executable graph = instance.executable();
  graph.launch();
  graph.wait();
  expected[12] = 1;
  expected[17] = 6;
  EXPECT_EQ(read_words(instance, "x"), expected);
}

TEST_P(KernelSlicesTest, MappedHostMemoryIsAnArgumentToo) {
  HandMade made(compile({{"twice", {output("x", ScalarType::U32)}, "x[1] = 2 * x[0];"}}, target()));
  const auto x = made.buffer("x", {2}, ScalarType::U32, MemorySpace::Host);
  made.graph("main");
  made.node(made.launch(0, {made.whole(x)}));
  cgrt::Instance instance(made.finish(), is_host() ? cgrt::Device::host() : cgrt::Device::cuda(0));
  const std::span<std::uint32_t> words = instance.host<std::uint32_t>("x");
  words[0] = 21;
  cgrt::Executable graph = instance.executable();
  graph.launch();
  graph.wait();
  EXPECT_EQ(words[1], 42U);
}

} // namespace conformance
