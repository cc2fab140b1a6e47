// What goes wrong, and who is told.
#include "device_under_test.h"

#include <gmock/gmock.h>

namespace conformance {

using testing::HasSubstr;
using testing::StartsWith;

class FailureTest : public KernelsUnderTest {
protected:
  /// Runs a kernel without parameters; what wait() says.
  std::string failure_of(const std::string &body, Dim3 block = {}) {
    const Kernels kernels = load({{"kernel", {}, body}});
    const auto graph = device().create_graph();
    add(*graph, cgrt::KernelParams{&kernels[0], {3, 1, 1}, block, 0, {}});
    const auto executable = graph->instantiate();
    executable->launch();
    try {
      executable->wait();
    } catch (const cgrt::Error &error) {
      EXPECT_EQ(error.code(), cgrt::ErrorCode::Device);
      executable->wait(); // it was reported
      return error.what();
    }
    return "no error";
  }
};
CONFORMANCE_SUITE(FailureTest);

constexpr const char *gpu_is_lost = "a fault makes a GPU unusable for its process";

TEST_P(FailureTest, AnAssertionEndsTheLaunchAndNamesTheThread) {
  if (!is_host()) {
    GTEST_SKIP() << gpu_is_lost;
  }
  const std::string text = failure_of("if (blockIdx.x == 1)\n"
                                      "  assert(threadIdx.x != 5 && \"five\");",
                                      {8, 1, 1});
  EXPECT_THAT(text, StartsWith("test.cgraph:1: node: assertion failed in block (1, 0, 0), "
                               "thread (5, 0, 0): kernel.cgraph:3: "));
  EXPECT_THAT(text, HasSubstr("threadIdx.x != 5"));
}

TEST_P(FailureTest, ATrapAmongWaitingThreadsEndsTheLaunchAndTheDeviceGoesOn) {
  if (!is_host()) {
    GTEST_SKIP() << gpu_is_lost;
  }
  for (int round = 0; round < 3; ++round) {
    EXPECT_THAT(failure_of("if (threadIdx.x == 100) __trap(); __syncthreads();", {256, 1, 1}),
                HasSubstr("node: trap in block ("));
    EXPECT_EQ(failure_of("__syncthreads();", {256, 1, 1}), "no error");
  }
}

TEST_P(FailureTest, NothingRunsBetweenAFailureAndItsReport) {
  if (!is_host()) {
    GTEST_SKIP() << gpu_is_lost;
  }
  const Kernels kernels =
      load({{"kernel", {output("x", ScalarType::I32)}, "++x[0]; if (x[0] == 2) __trap();"}});
  const Array<std::int32_t> x(device(), {0});
  const auto graph = device().create_graph();
  add(*graph, cgrt::KernelParams{&kernels[0], {}, {}, 0, {x.slot()}});
  const auto executable = graph->instantiate();
  for (int i = 0; i < 5; ++i) {
    executable->launch();
  }
  EXPECT_EQ(x.read().front(), 2);
  EXPECT_THROW(executable->wait(), cgrt::Error);
  executable->launch();
  executable->wait();
  EXPECT_EQ(x.read().front(), 3);
}

std::string load_failure(DeviceBackend &device, const cgrt::format::Program &program) {
  try {
    device.load(program);
  } catch (const cgrt::Error &error) {
    EXPECT_EQ(error.code(), cgrt::ErrorCode::Device);
    return error.what();
  }
  return "no error";
}

TEST_P(FailureTest, CodeForNothingOrForOtherMachinesIsRefused) {
  const auto whole = compile({{"kernel", {}, ""}}, target());
  auto program = whole;
  program.images.clear();
  EXPECT_NE(load_failure(device(), program), "no error");

  program = whole;
  for (auto &image : program.images) {
    image.architecture = "vax";
  }
  EXPECT_THAT(load_failure(device(), program), HasSubstr("vax"));

  program = whole;
  for (auto &image : program.images) {
    image.bytes.resize(image.bytes.size() / 4);
  }
  EXPECT_NE(load_failure(device(), program), "no error");

  program = whole;
  program.kernels.front().symbol = "other";
  EXPECT_THAT(load_failure(device(), program), HasSubstr("kernel kernel"));

  EXPECT_EQ(load_failure(device(), whole), "no error");
}

TEST_P(FailureTest, AProgramWithoutKernelsNeedsNoCode) {
  EXPECT_EQ(load_failure(device(), {}), "no error");
}

} // namespace conformance
