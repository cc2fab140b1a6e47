// Atomic functions, across blocks and within one.
#include "device_under_test.h"

#include <gmock/gmock.h>

namespace conformance {

using testing::ElementsAre;

class AtomicsTest : public KernelsUnderTest {
protected:
  /// Runs the kernel body over 100 blocks of 256 threads on an array `x`.
  template <typename T>
  std::vector<T> run(ScalarType type, const std::string &body, const std::vector<T> &initial) {
    const Kernels kernels = load({{"kernel", {output("x", type)}, body}});
    const Array<T> x(device(), initial);
    const auto graph = device().create_graph();
    add(*graph, cgrt::KernelParams{&kernels[0], {100, 1, 1}, {256, 1, 1}, 0, {x.slot()}});
    run_once(*graph);
    return x.read();
  }
};
CONFORMANCE_SUITE(AtomicsTest);

constexpr std::int32_t threads = 25'600;
constexpr const char *id = "int id = blockIdx.x * 256 + threadIdx.x;\n";

TEST_P(AtomicsTest, SignedIntegers) {
  const auto x = run<std::int32_t>(ScalarType::I32,
                                   std::string(id) + "atomicAdd(x, 3);\n"
                                                     "atomicSub(x + 1, 2);\n"
                                                     "atomicMin(x + 2, -id);\n"
                                                     "atomicMax(x + 3, id);\n"
                                                     "atomicAnd(x + 4, ~(1 << (id % 31)));\n"
                                                     "atomicOr(x + 5, 1 << (id % 31));\n"
                                                     "atomicXor(x + 6, id);",
                                   {0, 0, 0, 0, 0x7FFFFFFF, 0, 0});
  std::int32_t all_xor = 0;
  for (std::int32_t i = 0; i < threads; ++i) {
    all_xor ^= i;
  }
  EXPECT_THAT(
      x, ElementsAre(3 * threads, -2 * threads, 1 - threads, threads - 1, 0, 0x7FFFFFFF, all_xor));
}

TEST_P(AtomicsTest, UnsignedIntegersWrapAndCount) {
  const auto x = run<std::uint32_t>(ScalarType::U32,
                                    std::string(id) + "atomicAdd(x, 1u);\n"
                                                      "atomicInc(x + 1, 99u);\n"
                                                      "atomicDec(x + 2, 99u);\n"
                                                      "atomicMax(x + 3, 0xF0000000u + id);\n"
                                                      "atomicMin(x + 4, 0xF0000000u + id);",
                                    {0xFFFFFFFF, 0, 0, 0, 0xFFFFFFFF});
  EXPECT_THAT(x, ElementsAre(threads - 1U, threads % 100U, (100U - threads % 100U) % 100U,
                             0xF0000000U + threads - 1, 0xF0000000U));
}

TEST_P(AtomicsTest, SixtyFourBits) {
  const auto x =
      run<std::uint64_t>(ScalarType::U64,
                         std::string(id) + "atomicAdd(x, 1ull << 33);\n"
                                           "atomicMax(x + 1, (1ull << 40) + id);\n"
                                           "atomicOr(x + 2, 1ull << (id % 64));\n"
                                           "atomicMin((long long *)(x + 3), -(1ll << 40) - id);",
                         {0, 0, 0, 0});
  EXPECT_THAT(x, ElementsAre(std::uint64_t{threads} << 33, (std::uint64_t{1} << 40) + threads - 1,
                             ~std::uint64_t{0},
                             static_cast<std::uint64_t>(-(std::int64_t{1} << 40) - threads + 1)));
}

TEST_P(AtomicsTest, FloatsAddExactlyWhatTheyCanHold) {
  EXPECT_THAT(run<float>(ScalarType::F32, "atomicAdd(x, 0.5f);", {0}), ElementsAre(0.5F * threads));
  EXPECT_THAT(run<double>(ScalarType::F64, "atomicAdd(x, 0.25);", {1}),
              ElementsAre(1 + 0.25 * threads));
}

TEST_P(AtomicsTest, ExchangeAndCompareAndSwapLoseNothing) {
  // x[0]: a sum by compare-and-swap; x[1] and x[2]: every value put in comes out once.
  const auto x =
      run<std::int32_t>(ScalarType::I32,
                        std::string(id) + "int seen = x[0], expected;\n"
                                          "do { expected = seen;\n"
                                          "  seen = atomicCAS(x, expected, expected + 2);\n"
                                          "} while (seen != expected);\n"
                                          "atomicAdd(x + 2, atomicExch(x + 1, id));",
                        {0, 0, 0});
  EXPECT_EQ(x[0], 2 * threads);
  EXPECT_EQ(x[1] + x[2], static_cast<std::int32_t>(std::int64_t{threads} * (threads - 1) / 2));
}

TEST_P(AtomicsTest, VectorsAddElementByElement) {
  const auto x = run<float>(
      ScalarType::F32,
      std::string(id) + "atomicAdd(reinterpret_cast<float4 *>(x), make_float4(1, 2, -1, 0.5f));\n"
                        "const float2 old = atomicAdd(reinterpret_cast<float2 *>(x + 4),\n"
                        "                             make_float2(1, 1));\n"
                        "if (old.x == 25599) x[6] = 1;\n",
      std::vector<float>(7, 0));
  EXPECT_THAT(x, ElementsAre(threads, 2 * threads, -threads, 0.5F * threads, threads, threads, 1));
}

TEST_P(AtomicsTest, SixteenBitCompareAndSwap) {
  const auto x =
      run<std::uint16_t>(ScalarType::U16,
                         "for (int k = 0; k < 2; ++k) {\n"
                         "  unsigned short seen = x[k], expected;\n"
                         "  do { expected = seen;\n"
                         "    seen = atomicCAS(x + k, expected, (unsigned short)(expected + 3));\n"
                         "  } while (seen != expected);\n"
                         "}",
                         {0, 7});
  EXPECT_THAT(x, ElementsAre(3 * threads % 65536, (3 * threads + 7) % 65536));
}

TEST_P(AtomicsTest, SharedMemoryHistogram) {
  const auto x = run<std::int32_t>(ScalarType::I32,
                                   "__shared__ int bins[8];\n"
                                   "int i = threadIdx.x;\n"
                                   "if (i < 8) bins[i] = 0;\n"
                                   "__syncthreads();\n"
                                   "atomicAdd(&bins[i % 8], 1);\n"
                                   "__syncthreads();\n"
                                   "if (i < 8) atomicAdd(&x[i], bins[i]);",
                                   std::vector<std::int32_t>(8, 0));
  EXPECT_EQ(x, std::vector<std::int32_t>(8, threads / 8));
}

TEST_P(AtomicsTest, TheLastBlockSeesWhatAllOthersWrote) {
  const auto x = run<std::int32_t>(ScalarType::I32,
                                   "__shared__ bool last;\n"
                                   "if (threadIdx.x == 0) {\n"
                                   "  x[2 + blockIdx.x] = blockIdx.x;\n"
                                   "  __threadfence();\n"
                                   "  last = atomicAdd(x, 1) == (int)gridDim.x - 1;\n"
                                   "}\n"
                                   "__syncthreads();\n"
                                   "if (last && threadIdx.x < gridDim.x)\n"
                                   "  atomicAdd(x + 1, ((volatile int *)x)[2 + threadIdx.x]);",
                                   std::vector<std::int32_t>(102, 0));
  EXPECT_EQ(x[1], 99 * 100 / 2);
}

} // namespace conformance
