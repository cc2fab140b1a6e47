// Order: what depends on a node runs after it, whatever else the device does.
#include "device_under_test.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

namespace conformance {

using testing::Contains;
using testing::Each;

class OrderTest : public DeviceUnderTest {};
class KernelOrderTest : public KernelsUnderTest {};
CONFORMANCE_SUITE(OrderTest);
CONFORMANCE_SUITE(KernelOrderTest);

constexpr std::uint64_t seeds = 25;

TEST_P(OrderTest, AChainOfCopiesRunsInOrder) {
  constexpr std::uint32_t length = 20;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto device = make_device(seed);
    const Array<std::uint32_t> cells(*device, std::vector<std::uint32_t>(length + 1, 0));
    const auto graph = device->create_graph();
    Nodes after = {add(*graph, cgrt::FillParams{cells.data(), 42, 4, 1})};
    for (std::uint32_t i = 0; i < length; ++i) {
      after = {add(*graph, cgrt::CopyParams{cells.data(i + 1), cells.data(i), 4}, after)};
    }
    run_once(*graph);
    EXPECT_THAT(cells.read(), Each(42U)) << "seed " << seed;
  }
}

TEST_P(OrderTest, ADisabledNodeKeepsItsPlaceInTheOrder) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto device = make_device(seed);
    const Array<std::uint32_t> x(*device, {0});
    const Array<std::uint32_t> y(*device, {0});
    const auto graph = device->create_graph();
    const std::uint32_t first = add(*graph, cgrt::FillParams{x.data(), 1, 4, 1});
    const std::uint32_t skipped = add(*graph, cgrt::FillParams{x.data(), 9, 4, 1}, {first}, false);
    add(*graph, cgrt::CopyParams{y.data(), x.data(), 4}, {skipped});
    run_once(*graph);
    EXPECT_THAT(y.read(), Each(1U)) << "seed " << seed;
  }
}

TEST_P(OrderTest, LaunchesOfTwoExecutablesTakeEffectInOrder) {
  const Array<std::uint32_t> x(device(), {0});
  const Array<std::uint32_t> y(device(), {0});
  const auto writes = device().create_graph();
  add(*writes, cgrt::FillParams{x.data(), 5, 4, 1});
  const auto reads = device().create_graph();
  add(*reads, cgrt::CopyParams{y.data(), x.data(), 4});
  const auto first = writes->instantiate();
  const auto second = reads->instantiate();
  first->launch();
  second->launch();
  second->wait();
  EXPECT_THAT(y.read(), Each(5U));
}

TEST_P(OrderTest, AMissingEdgeShowsUnderSomeSeed) {
  if (!is_host()) {
    GTEST_SKIP() << "the order of independent nodes on a GPU is its own affair";
  }
  std::set<std::uint32_t> seen;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto device = make_device(seed);
    const Array<std::uint32_t> x(*device, {0});
    const Array<std::uint32_t> y(*device, {0});
    const auto graph = device->create_graph();
    add(*graph, cgrt::FillParams{x.data(), 1, 4, 1});
    add(*graph, cgrt::CopyParams{y.data(), x.data(), 4}); // should depend on the fill
    run_once(*graph);
    seen.insert(y.read().front());
  }
  EXPECT_EQ(seen, (std::set<std::uint32_t>{0, 1}));
}

/// Each node of the log kernel writes its number behind those of the nodes before it.
KernelText log_kernel() {
  return {"append",
          {scalar("id", ScalarType::I32), output("log", ScalarType::I32),
           output("length", ScalarType::I32)},
          "log[length[0]++] = id;"};
}

/// The order in which `count` independent nodes run, once for each of `launches`.
std::vector<std::vector<std::int32_t>> orders(DeviceBackend &device, const Kernels &kernels,
                                              std::int32_t count, int launches) {
  const auto log = Array<std::int32_t>::fresh(device, static_cast<std::size_t>(count));
  const Array<std::int32_t> length(device, {0});
  const auto graph = device.create_graph();
  for (std::int32_t id = 0; id < count; ++id) {
    add(*graph, cgrt::KernelParams{&kernels[0], {}, {}, 0, {slot(id), log.slot(), length.slot()}});
  }
  const auto executable = graph->instantiate();
  std::vector<std::vector<std::int32_t>> result;
  for (int i = 0; i < launches; ++i) {
    const std::int32_t zero = 0;
    device.copy(length.data(), reinterpret_cast<const std::byte *>(&zero), sizeof zero);
    executable->launch();
    executable->wait();
    result.push_back(log.read());
  }
  return result;
}

TEST_P(KernelOrderTest, TheHostDeviceTakesEveryOrderAndRepeatsItForASeed) {
  if (!is_host()) {
    GTEST_SKIP() << "the order of independent nodes on a GPU is its own affair";
  }
  const auto program = compile({log_kernel()}, target());
  std::set<std::vector<std::int32_t>> seen;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto device = make_device(seed);
    const Kernels kernels(*device, program);
    const auto first = orders(*device, kernels, 3, 4);
    EXPECT_EQ(orders(*device, kernels, 3, 4), first) << "seed " << seed;
    seen.insert(first.begin(), first.end());
  }
  EXPECT_EQ(seen.size(), 6U) << "of the 3! orders of three independent nodes";
}

/// A random acyclic graph: every node stores 1 + the largest value of those it depends on.
TEST_P(KernelOrderTest, ARandomGraphRespectsItsEdges) {
  constexpr std::uint32_t count = 60;
  const KernelText level = {
      "level",
      {output("levels", ScalarType::I32), scalar("self", ScalarType::I32),
       input("parents", ScalarType::I32), scalar("count", ScalarType::I32)},
      "int most = 0;\n"
      "for (int i = 0; i < count; ++i) most = max(most, levels[parents[i]]);\n"
      "levels[self] = most + 1;"};
  const auto program = compile({level}, target());
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto device = make_device(seed);
    const Kernels kernels(*device, program);
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    std::vector<std::int32_t> expected;
    std::vector<Nodes> parents;
    std::vector<std::int32_t> flat;
    for (std::uint32_t node = 0; node < count; ++node) {
      Nodes own;
      std::int32_t most = 0;
      for (std::uint32_t other = node < 10 ? 0 : node - 10; other < node; ++other) {
        if (random() % 4 == 0) {
          own.push_back(other);
          most = std::max(most, expected[other]);
          flat.push_back(static_cast<std::int32_t>(other));
        }
      }
      expected.push_back(most + 1);
      parents.push_back(own);
    }
    flat.push_back(0); // so that the last node's list has an address
    const Array<std::int32_t> lists(*device, flat);
    const Array<std::int32_t> levels(*device, std::vector<std::int32_t>(count, -1000));
    const auto graph = device->create_graph();
    std::size_t offset = 0;
    for (std::uint32_t node = 0; node < count; ++node) {
      const auto own = static_cast<std::int32_t>(parents[node].size());
      add(*graph,
          cgrt::KernelParams{&kernels[0],
                             {},
                             {},
                             0,
                             {levels.slot(), slot(static_cast<std::int32_t>(node)),
                              lists.slot(offset), slot(own)}},
          parents[node]);
      offset += parents[node].size();
    }
    run_once(*graph);
    EXPECT_EQ(levels.read(), expected) << "seed " << seed;
  }
}

} // namespace conformance
