// The examples on a GPU, through the public interface, against values computed here.
#include <cgrt/cgrt.h>

#include "device.h"
#include "example.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>

namespace {

using cgrt::Executable;
using cgrt::Instance;
using cgrt::Program;

class CudaExamples : public ::testing::Test {
protected:
  void SetUp() override {
    std::string why_none;
    if (cgrt::cuda_device_count(&why_none) == 0) {
      GTEST_SKIP() << why_none;
    }
  }
};

TEST_F(CudaExamples, SaxpyIsRight) {
  const std::optional<Program> program = cgrt::testing::example("saxpy");
  if (!program) {
    GTEST_SKIP() << "no bundles and no NVRTC";
  }
  for (const std::int64_t n : {1, 255, 256, 257, 1 << 20}) {
    Instance instance(*program, cgrt::Device::cuda(), {{"n", n}, {"a", 0.75}});
    const std::span<float> x = instance.host<float>("hx");
    const std::span<float> y = instance.host<float>("hy");
    ASSERT_EQ(x.size(), static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i % 4096);
      y[i] = static_cast<float>(i % 31) - 15.0F;
    }
    Executable graph = instance.executable();
    graph.launch();
    graph.wait();
    for (std::size_t i = 0; i < x.size(); ++i) {
      // Exact in float whether or not the product and the sum are fused.
      const float expected =
          0.75F * static_cast<float>(i % 4096) + (static_cast<float>(i % 31) - 15.0F);
      ASSERT_EQ(y[i], expected) << "n = " << n << ", i = " << i;
    }
  }
}

TEST_F(CudaExamples, SaxpyReplaysGoOnWhereTheLastStopped) {
  const std::optional<Program> program = cgrt::testing::example("saxpy");
  if (!program) {
    GTEST_SKIP() << "no bundles and no NVRTC";
  }
  Instance instance(*program, cgrt::Device::cuda(), {{"n", std::int64_t{1000}}});
  const std::span<float> x = instance.host<float>("hx");
  const std::span<float> y = instance.host<float>("hy");
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 1.0F;
  }
  Executable graph = instance.executable();
  for (int replay = 0; replay < 20; ++replay) {
    graph.launch(); // no wait between: launches of one instance take effect in their order
  }
  graph.wait();
  for (std::size_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(y[i], 20.0F * 2.0F * static_cast<float>(i) + 1.0F) << i;
  }
}

TEST_F(CudaExamples, AbcIsRightAfter100Replays) {
  const std::optional<Program> program = cgrt::testing::example("abc");
  if (!program) {
    GTEST_SKIP() << "no bundles and no NVRTC";
  }
  constexpr std::size_t n = 10'000;
  constexpr float a = 1.0009765625F;
  constexpr float b = 0.984375F;
  constexpr float c = -0.0625F;
  Instance instance(
      *program, cgrt::Device::cuda(),
      {{"n", static_cast<std::int64_t>(n)}, {"a", double{a}}, {"b", double{b}}, {"c", double{c}}});
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = std::sin(static_cast<float>(i));
  }
  instance.write("x", std::as_bytes(std::span(x)));
  Executable graph = instance.executable();
  for (int replay = 0; replay < 100; ++replay) {
    graph.launch();
  }
  graph.wait();
  const std::vector<std::byte> bytes = instance.read("x");
  ASSERT_EQ(bytes.size(), n * sizeof(float));
  for (std::size_t i = 0; i < n; ++i) {
    float expected = x[i];
    for (int replay = 0; replay < 100; ++replay) {
      // One rounding for each kernel; volatile keeps the host compiler from fusing two.
      volatile float sum = expected + a;
      volatile float product = sum * b;
      expected = product + -c;
    }
    float result = 0;
    std::memcpy(&result, bytes.data() + i * sizeof(float), sizeof(float));
    ASSERT_EQ(result, expected) << i;
  }
}

TEST_F(CudaExamples, TimesAreMeasured) {
  const std::optional<Program> program = cgrt::testing::example("saxpy");
  if (!program) {
    GTEST_SKIP() << "no bundles and no NVRTC";
  }
  Instance instance(*program, cgrt::Device::cuda(), {{"n", std::int64_t{16}}});
  const Executable graph = instance.executable();
  EXPECT_EQ(graph.node_count(), 4U);
  EXPECT_EQ(graph.edge_count(), 3U);
  EXPECT_GT(graph.times().build_us, 0);
  EXPECT_GT(graph.times().instantiate_us, 0);
}

} // namespace
