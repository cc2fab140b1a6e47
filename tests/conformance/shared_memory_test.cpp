// Shared memory and barriers.
#include "device_under_test.h"

#include <gmock/gmock.h>

#include <numeric>

namespace conformance {

using testing::Each;
using testing::Not;

class SharedMemoryTest : public KernelsUnderTest {
protected:
  cgrt::format::Program kernel(const std::string &body) const {
    return compile({{"kernel", {output("out", ScalarType::I32)}, body}}, target());
  }
};

/// Runs a kernel of (out: i32) over `blocks` blocks and reads `count` elements.
std::vector<std::int32_t> run(DeviceBackend &device, const cgrt::format::Program &program,
                              std::uint32_t blocks, Dim3 block, std::size_t count,
                              std::uint32_t shared_bytes = 0) {
  const Kernels kernels(device, program);
  const Array<std::int32_t> out(device, std::vector<std::int32_t>(count, 0));
  const auto graph = device.create_graph();
  add(*graph, cgrt::KernelParams{&kernels[0], {blocks, 1, 1}, block, shared_bytes, {out.slot()}});
  run_once(*graph);
  return out.read();
}
CONFORMANCE_SUITE(SharedMemoryTest);

/// Element i of block b holds what thread n - 1 - i put in.
std::vector<std::int32_t> reversed(std::int32_t blocks, std::int32_t n) {
  std::vector<std::int32_t> expected;
  for (std::int32_t b = 0; b < blocks; ++b) {
    for (std::int32_t i = 0; i < n; ++i) {
      expected.push_back(1000 * b + n - 1 - i);
    }
  }
  return expected;
}

TEST_P(SharedMemoryTest, StaticReversesABlock) {
  EXPECT_EQ(run(device(),
                kernel("__shared__ int s[128];\n"
                       "int i = threadIdx.x;\n"
                       "s[i] = 1000 * blockIdx.x + i;\n"
                       "__syncthreads();\n"
                       "out[blockIdx.x * 128 + i] = s[127 - i];"),
                50, {128, 1, 1}, 50 * 128),
            reversed(50, 128));
}

TEST_P(SharedMemoryTest, DynamicReversesABlock) {
  EXPECT_EQ(run(device(),
                kernel("extern __shared__ int s[];\n"
                       "int i = threadIdx.x, n = blockDim.x;\n"
                       "s[i] = 1000 * blockIdx.x + i;\n"
                       "__syncthreads();\n"
                       "out[blockIdx.x * n + i] = s[n - 1 - i];"),
                20, {1024, 1, 1}, 20 * 1024, 1024 * 4),
            reversed(20, 1024));
}

TEST_P(SharedMemoryTest, DynamicTakesOtherTypesAndMoreThan48KiB) {
  constexpr std::uint32_t bytes = 100 * 1024;
  const std::vector<std::int32_t> out = run(
      device(),
      kernel("extern __shared__ __align__(16) unsigned char bytes[];\n"
             "double *d = reinterpret_cast<double *>(bytes);\n"
             "const int n = 100 * 1024 / 8;\n"
             "for (int i = threadIdx.x; i < n; i += blockDim.x) d[i] = i;\n"
             "__syncthreads();\n"
             "if (threadIdx.x == 0) { double sum = 0; for (int i = 0; i < n; ++i) sum += d[i];\n"
             "  out[blockIdx.x] = (int)sum; }"),
      3, {64, 1, 1}, 3, bytes);
  constexpr std::int32_t n = bytes / 8;
  EXPECT_THAT(out, Each(n / 2 * (n - 1)));
}

TEST_P(SharedMemoryTest, SumsABlockWithABarrierInALoop) {
  EXPECT_THAT(run(device(),
                  kernel("__shared__ int s[8][32], *unused;\n"
                         "int *flat = &s[0][0]; (void)unused;\n"
                         "int i = threadIdx.y * blockDim.x + threadIdx.x;\n"
                         "flat[i] = i;\n"
                         "for (int stride = 128; stride > 0; stride /= 2) {\n"
                         "  __syncthreads();\n"
                         "  if (i < stride) flat[i] += flat[i + stride];\n"
                         "}\n"
                         "if (i == 0) out[blockIdx.x] = flat[0];"),
                  40, {32, 8, 1}, 40),
              Each(255 * 256 / 2));
}

TEST_P(SharedMemoryTest, ThreadsThatReturnedCountAsArrived) {
  EXPECT_THAT(run(device(),
                  kernel("__shared__ int total;\n"
                         "int i = threadIdx.x;\n"
                         "if (i == 0) total = 0;\n"
                         "__syncthreads();\n"
                         "if (i % 3 == 1) return;\n"
                         "atomicAdd(&total, 1);\n"
                         "__syncthreads();\n"
                         "if (i == 0) out[blockIdx.x] = total;"),
                  10, {300, 1, 1}, 10),
              Each(200));
}

TEST_P(SharedMemoryTest, RegistersAndPlacesSurviveBarriers) {
  std::vector<std::int32_t> expected(2 * 96);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(
      run(device(),
          kernel("int mine = blockIdx.x * 96 + threadIdx.z * 32 + threadIdx.y * 8 + threadIdx.x;\n"
                 "for (int i = 0; i < 10; ++i) __syncthreads();\n"
                 "out[blockIdx.x * 96 + threadIdx.z * 32 + threadIdx.y * 8 + threadIdx.x] = mine;"),
          2, {8, 4, 3}, 2 * 96),
      expected);
}

TEST_P(SharedMemoryTest, TwoDynamicArraysAreOne) {
  EXPECT_THAT(
      run(device(),
          kernel("extern __shared__ int a[], b[][2];\n"
                 "a[threadIdx.x] = threadIdx.x;\n"
                 "__syncthreads();\n"
                 "out[threadIdx.x] = b[threadIdx.x / 2][threadIdx.x % 2] - (int)threadIdx.x;"),
          1, {16, 1, 1}, 16, 64),
      Each(0));
}

TEST_P(SharedMemoryTest, TheHostDeviceShowsReadsOfUnwrittenSharedMemory) {
  if (!is_host()) {
    GTEST_SKIP() << "undefined on a GPU";
  }
  EXPECT_THAT(run(device(),
                  kernel("static __shared__ int s[4]; extern __shared__ int d[];\n"
                         "out[2 * blockIdx.x] = s[3]; out[2 * blockIdx.x + 1] = d[1];\n"
                         "s[3] = 5; d[1] = 5;"),
                  100, {1, 1, 1}, 200, 8),
              Each(-1));
}

TEST_P(SharedMemoryTest, AMissingBarrierShowsUnderSomeSeed) {
  if (!is_host()) {
    GTEST_SKIP() << "undefined on a GPU";
  }
  // Right when threads run upwards, wrong when they run downwards.
  const auto program = kernel("__shared__ int s[32];\n"
                              "s[threadIdx.x] = threadIdx.x;\n"
                              "out[threadIdx.x] = threadIdx.x == 0 ? 0 : s[threadIdx.x - 1] + 1;");
  std::vector<std::int32_t> expected(32);
  std::iota(expected.begin(), expected.end(), 0);
  std::vector<std::vector<std::int32_t>> results;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    results.push_back(run(*make_device(seed), program, 1, {32, 1, 1}, 32));
  }
  EXPECT_THAT(results, testing::Contains(expected));
  EXPECT_THAT(results, testing::Contains(Not(expected)));
}

} // namespace conformance
