// Replays, and objects that go while work is in flight.
#include "device_under_test.h"

#include <gmock/gmock.h>

#include <optional>

namespace conformance {

using testing::Each;

class LifetimeTest : public KernelsUnderTest {};
CONFORMANCE_SUITE(LifetimeTest);

KernelText add_kernel() {
  return {
      "add",
      {scalar("n", ScalarType::I32), scalar("by", ScalarType::I32), output("x", ScalarType::I32)},
      "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "if (i < n) x[i] += by;"};
}

cgrt::KernelParams add_to(const Kernels &kernels, const Array<std::int32_t> &x, std::int32_t n,
                          std::int32_t by) {
  const auto blocks = static_cast<std::uint32_t>((n + 255) / 256);
  return {&kernels[0], {blocks, 1, 1}, {256, 1, 1}, 0, {slot(n), slot(by), x.slot()}};
}

TEST_P(LifetimeTest, ReplaysAccumulate) {
  const Kernels kernels = load({add_kernel()});
  const Array<std::int32_t> x(device(), std::vector<std::int32_t>(1000, 5));
  const auto graph = device().create_graph();
  const std::uint32_t first = add(*graph, add_to(kernels, x, 1000, 1));
  add(*graph, add_to(kernels, x, 1000, 2), {first});
  const auto executable = graph->instantiate();
  for (int i = 0; i < 100; ++i) {
    executable->launch();
  }
  executable->wait();
  EXPECT_THAT(x.read(), Each(305));
}

TEST_P(LifetimeTest, AnExecutableOutlivesItsGraph) {
  const Kernels kernels = load({add_kernel()});
  const Array<std::int32_t> x(device(), std::vector<std::int32_t>(10, 0));
  auto graph = device().create_graph();
  add(*graph, add_to(kernels, x, 10, 1));
  const auto executable = graph->instantiate();
  graph.reset();
  executable->launch();
  executable->wait();
  EXPECT_THAT(x.read(), Each(1));
}

TEST_P(LifetimeTest, AnExecutableMayBeDestroyedInFlight) {
  constexpr std::int32_t n = 1 << 20;
  const Kernels kernels = load({add_kernel()});
  for (int round = 0; round < 5; ++round) {
    const Array<std::int32_t> x(device(), std::vector<std::int32_t>(n, 0));
    const auto graph = device().create_graph();
    Nodes after;
    for (int i = 0; i < 20; ++i) {
      after = {add(*graph, add_to(kernels, x, n, 1), after)};
    }
    auto executable = graph->instantiate();
    executable->launch();
    executable.reset();
    EXPECT_THAT(x.read(), Each(20));
  }
}

TEST_P(LifetimeTest, MemoryMayGoAfterItsExecutable) {
  const Kernels kernels = load({add_kernel()});
  for (int round = 0; round < 20; ++round) {
    std::optional<Array<std::int32_t>> x(std::in_place, device(),
                                         std::vector<std::int32_t>(1 << 20, 0));
    const auto graph = device().create_graph();
    add(*graph, add_to(kernels, *x, 1 << 20, 1));
    auto executable = graph->instantiate();
    executable->launch();
    executable.reset();
    x.reset();
  }
}

TEST_P(LifetimeTest, ManyProgramsLiveSideBySideAndInTurn) {
  std::vector<cgrt::format::Program> programs;
  programs.reserve(4);
  for (int i = 0; i < 4; ++i) {
    programs.push_back(compile(
        {{"set", {output("x", ScalarType::I32)}, "x[0] = " + std::to_string(i) + ";"}}, target()));
  }
  const auto expect_value = [this](const Kernels &kernels, std::int32_t value) {
    const Array<std::int32_t> x(device(), {-1});
    const auto graph = device().create_graph();
    add(*graph, cgrt::KernelParams{&kernels[0], {}, {}, 0, {x.slot()}});
    run_once(*graph);
    EXPECT_THAT(x.read(), Each(value));
  };
  for (int round = 0; round < 3; ++round) {
    for (std::int32_t i = 0; i < 4; ++i) {
      const Kernels one(device(), programs[static_cast<std::size_t>(i)]);
      const Kernels other(device(), programs[static_cast<std::size_t>(3 - i)]);
      expect_value(one, i);
      expect_value(other, 3 - i);
    }
  }
}

} // namespace conformance
