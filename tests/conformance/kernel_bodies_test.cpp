// Kernels of every kind of body, in one unit or several.
#include "device_under_test.h"

#include <cmath>

namespace {

using namespace conformance;
using cgrt::Error;
using cgrt::KernelParams;

class KernelBodies : public KernelsUnderTest {
protected:
  void run(const cgrt::Function &function, Dim3 grid, Dim3 block,
           std::vector<std::uint64_t> arguments) {
    const auto graph = device().create_graph();
    KernelParams params;
    params.function = &function;
    params.grid = grid;
    params.block = block;
    params.arguments = std::move(arguments);
    add(*graph, params);
    run_once(*graph);
  }
};

TEST_P(KernelBodies, KernelsOfSeveralUnitsRun) {
  constexpr std::uint32_t count = 23;
  std::vector<KernelText> texts;
  for (std::uint32_t index = 0; index < count; ++index) {
    texts.push_back({"k" + std::to_string(index),
                     {output("x", ScalarType::U32)},
                     "x[threadIdx.x] = " + std::to_string(index) + " * 100 + threadIdx.x;"});
  }
  const Kernels kernels = load(texts);
  for (std::uint32_t index = 0; index < count; ++index) {
    const Array<std::uint32_t> x(device(), {0, 0});
    run(kernels[index], {}, {2, 1, 1}, {x.slot()});
    EXPECT_EQ(x.read(), (std::vector<std::uint32_t>{index * 100, index * 100 + 1}));
  }
}

TEST_P(KernelBodies, FunctionsOfACuFileRun) {
  const std::string text = R"(
    __constant__ float weights[2] = {10, 100};
    template <typename T, int N> __global__ void scale(int n, const T *x, T *y) {
      extern __shared__ float unused[];
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) y[i] = N * x[i] + weights[i % 2];
    }
    __global__ void over(int *x) { x[threadIdx.x] = 1; }
    __global__ void over(double *x) { x[threadIdx.x] = 2; }
  )";
  const Kernels kernels = load({
      {"a",
       {scalar("n", ScalarType::I32), input("x", ScalarType::F32), output("y", ScalarType::F32)},
       text,
       "scale<float, 4>"},
      {"b", {output("x", ScalarType::F64)}, text, "over"},
  });
  const Array<float> x(device(), {1, 2, 3});
  const Array<float> y(device(), {-1, -1, -1, -1});
  run(kernels[0], {2, 1, 1}, {2, 1, 1}, {slot(3), x.slot(), y.slot()});
  EXPECT_EQ(y.read(), (std::vector<float>{14, 108, 22, -1}));
  const Array<double> z(device(), {0, 0});
  run(kernels[1], {}, {2, 1, 1}, {z.slot()});
  EXPECT_EQ(z.read(), (std::vector<double>{2, 2}));
}

TEST_P(KernelBodies, AHostBodyStandsForAWholeLaunch) {
  const Kernels kernels =
      load({{"sum",
             {scalar("n", ScalarType::I32), input("x", ScalarType::I32),
              output("total", ScalarType::I32), output("extents", ScalarType::U32)},
             "atomicAdd(total, blockIdx.x + blockDim.x * threadIdx.y < n ? 1 : 0);\n"
             "if (threadIdx.x + threadIdx.y + blockIdx.x + blockIdx.z == 0) {\n"
             "  const unsigned all[] = {gridDim.x, gridDim.y, gridDim.z,\n"
             "                          blockDim.x, blockDim.y, blockDim.z};\n"
             "  for (int i = 0; i < 6; ++i) extents[i] = all[i];\n"
             "}",
             "",
             "const std::vector<unsigned> all = {gridDim.x, gridDim.y, gridDim.z,\n"
             "                                   blockDim.x, blockDim.y, blockDim.z};\n"
             "std::copy(all.begin(), all.end(), extents);\n"
             "total[0] += std::accumulate(x, x + n, 0);"}});
  const Array<std::int32_t> x(device(), {1, 20, 300});
  const Array<std::int32_t> total(device(), {1000});
  const Array<std::uint32_t> extents(device(), std::vector<std::uint32_t>(6, 0));
  run(kernels[0], {2, 1, 3}, {4, 2, 1}, {slot(3), x.slot(), total.slot(), extents.slot()});
  EXPECT_EQ(extents.read(), (std::vector<std::uint32_t>{2, 1, 3, 4, 2, 1}));
  // The two bodies compute different things, so it shows which one ran and how often.
  EXPECT_EQ(total.read()[0], is_host() ? 1321 : 1024);
}

TEST_P(KernelBodies, AnExceptionInAHostBodyIsAnError) {
  if (!is_host()) {
    GTEST_SKIP() << "of the host device alone";
  }
  const Kernels kernels =
      load({{"k", {}, "", "", "std::vector<int> v; v.at(3);"}, {"l", {}, "", "", "throw 1;"}});
  const auto message_of = [&](std::uint32_t kernel) -> std::string {
    try {
      run(kernels[kernel], {}, {}, {});
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), cgrt::ErrorCode::Device);
      return error.what();
    }
    return "none";
  };
  EXPECT_NE(message_of(0).find("exception: vector"), std::string::npos) << message_of(0);
  EXPECT_NE(message_of(1).find("an exception"), std::string::npos) << message_of(1);
}

TEST_P(KernelBodies, SmallFloatsReachHostBodies) {
  const Kernels kernels = load({{"k",
                                 {scalar("a", ScalarType::F16), output("x", ScalarType::BF16)},
                                 "x[0] = __float2bfloat16(__half2float(a) * 2);",
                                 "",
                                 "x[0] = bf16(float(a) * 2);"}});
  const Array<std::uint16_t> x(device(), {0});
  run(kernels[0], {}, {}, {slot<std::uint16_t>(0x3E00), x.slot()}); // 1.5
  EXPECT_EQ(x.read()[0], 0x4040);                                   // 3
}

CONFORMANCE_SUITE(KernelBodies);

} // namespace
