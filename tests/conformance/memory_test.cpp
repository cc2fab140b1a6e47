// Memory, copies and fills.
#include "device_under_test.h"

#include <gmock/gmock.h>

#include <numeric>

namespace conformance {

using testing::Each;

class MemoryTest : public DeviceUnderTest {};
CONFORMANCE_SUITE(MemoryTest);

constexpr std::array spaces = {MemorySpace::Host, MemorySpace::Device};

std::vector<std::uint32_t> counted(std::size_t count, std::uint32_t first = 0) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_P(MemoryTest, AllocatesAlignedBlocksOfAnySize) {
  for (const MemorySpace space : spaces) {
    for (const std::size_t bytes : {0U, 1U, 255U, 256U, 100'000U}) {
      const auto memory = device().allocate(space, bytes);
      EXPECT_EQ(memory->size(), bytes);
      if (bytes != 0) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % 256, 0U);
      }
    }
  }
}

TEST_P(MemoryTest, CopiesInAndOut) {
  for (const MemorySpace space : spaces) {
    const std::vector<std::uint32_t> values = counted(1000, 7);
    EXPECT_EQ(Array<std::uint32_t>(device(), values, space).read(), values);
  }
}

TEST_P(MemoryTest, FreshMemoryOfTheHostDeviceIsVisiblyUndefined) {
  if (!is_host()) {
    GTEST_SKIP() << "fresh memory of a GPU is undefined";
  }
  for (const MemorySpace space : spaces) {
    EXPECT_THAT(Array<std::uint8_t>::fresh(device(), 1000, space).read(), Each(0xFF));
  }
}

TEST_P(MemoryTest, CopyNodesConnectAllSpaces) {
  for (const MemorySpace from : spaces) {
    for (const MemorySpace to : spaces) {
      const Array<std::uint32_t> source(device(), counted(1000, 5), from);
      Array<std::uint32_t> destination(device(), counted(1000), to);
      const auto graph = device().create_graph();
      add(*graph, cgrt::CopyParams{destination.data(10), source.data(20), 4 * 100});
      run_once(*graph);
      std::vector<std::uint32_t> expected = counted(1000);
      for (std::uint32_t i = 0; i < 100; ++i) {
        expected[10 + i] = 5 + 20 + i;
      }
      EXPECT_EQ(destination.read(), expected);
    }
  }
}

template <typename T> void expect_fill(DeviceBackend &device, std::uint32_t pattern, T value) {
  for (const MemorySpace space : spaces) {
    const std::vector<T> before(100, T{3});
    const Array<T> array(device, before, space);
    const auto graph = device.create_graph();
    add(*graph, cgrt::FillParams{array.data(7), pattern, sizeof(T), 41});
    run_once(*graph);
    std::vector<T> expected = before;
    std::fill_n(expected.begin() + 7, 41, value);
    EXPECT_EQ(array.read(), expected) << "elements of " << sizeof(T) << " bytes";
  }
}

TEST_P(MemoryTest, FillNodesTakeElementsOfOneTwoAndFourBytes) {
  expect_fill<std::uint8_t>(device(), 0xAB, 0xAB);
  expect_fill<std::uint16_t>(device(), 0xABCD, 0xABCD);
  expect_fill<std::uint32_t>(device(), 0x89ABCDEF, 0x89ABCDEF);
}

TEST_P(MemoryTest, AFillIgnoresThePatternsHighBits) {
  expect_fill<std::uint8_t>(device(), 0x12345678, 0x78);
  expect_fill<std::uint16_t>(device(), 0x12345678, 0x5678);
}

TEST_P(MemoryTest, DisabledNodesDoNothing) {
  const Array<std::uint32_t> x(device(), counted(8));
  const Array<std::uint32_t> y(device(), counted(8, 100));
  const auto graph = device().create_graph();
  add(*graph, cgrt::FillParams{x.data(), 9, 4, 8}, {}, false);
  add(*graph, cgrt::CopyParams{y.data(), x.data(), 32}, {}, false);
  run_once(*graph);
  EXPECT_EQ(x.read(), counted(8));
  EXPECT_EQ(y.read(), counted(8, 100));
}

TEST_P(MemoryTest, AnEmptyGraphRuns) {
  const auto graph = device().create_graph();
  run_once(*graph);
}

} // namespace conformance
