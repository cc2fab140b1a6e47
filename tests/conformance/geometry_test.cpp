// Every thread of a launch runs once and knows where it is.
#include "device_under_test.h"

namespace conformance {

class GeometryTest : public KernelsUnderTest {};
CONFORMANCE_SUITE(GeometryTest);

constexpr std::uint32_t fields = 12;

KernelText coordinates_kernel() {
  return {"coordinates",
          {output("out", ScalarType::U32), output("visits", ScalarType::U32)},
          "unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;\n"
          "unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
          "unsigned index = block * blockDim.x * blockDim.y * blockDim.z + thread;\n"
          "atomicAdd(&visits[index], 1u);\n"
          "unsigned *p = out + 12ull * index;\n"
          "p[0] = threadIdx.x; p[1] = threadIdx.y; p[2] = threadIdx.z;\n"
          "p[3] = blockIdx.x; p[4] = blockIdx.y; p[5] = blockIdx.z;\n"
          "p[6] = blockDim.x; p[7] = blockDim.y; p[8] = blockDim.z;\n"
          "p[9] = gridDim.x; p[10] = gridDim.y; p[11] = gridDim.z;\n"};
}

void expect_all_coordinates(DeviceBackend &device, const Kernels &kernels, Dim3 grid, Dim3 block) {
  const std::uint32_t threads = grid.x * grid.y * grid.z * block.x * block.y * block.z;
  const auto out = Array<std::uint32_t>::fresh(device, std::size_t{fields} * threads);
  const Array<std::uint32_t> visits(device, std::vector<std::uint32_t>(threads, 0));
  const auto graph = device.create_graph();
  add(*graph, cgrt::KernelParams{&kernels[0], grid, block, 0, {out.slot(), visits.slot()}});
  run_once(*graph);
  EXPECT_EQ(visits.read(), std::vector<std::uint32_t>(threads, 1));
  std::vector<std::uint32_t> expected;
  for (std::uint32_t b = 0; b < grid.x * grid.y * grid.z; ++b) {
    for (std::uint32_t t = 0; t < block.x * block.y * block.z; ++t) {
      for (const std::uint32_t value : {t % block.x, t / block.x % block.y, t / block.x / block.y,
                                        b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y,
                                        block.x, block.y, block.z, grid.x, grid.y, grid.z}) {
        expected.push_back(value);
      }
    }
  }
  EXPECT_EQ(out.read(), expected);
}

TEST_P(GeometryTest, EveryThreadKnowsItsPlace) {
  const Kernels kernels = load({coordinates_kernel()});
  expect_all_coordinates(device(), kernels, {1, 1, 1}, {1, 1, 1});
  expect_all_coordinates(device(), kernels, {3, 4, 5}, {6, 7, 2});
  expect_all_coordinates(device(), kernels, {1, 1, 7}, {1, 5, 3});
  expect_all_coordinates(device(), kernels, {1000, 1, 1}, {1, 1, 1});
  expect_all_coordinates(device(), kernels, {2, 1, 1}, {1024, 1, 1});
  expect_all_coordinates(device(), kernels, {2, 1, 1}, {16, 1, 64});
}

TEST_P(GeometryTest, GridsReachTheirLimits) {
  const Kernels kernels = load({{"count",
                                 {output("counter", ScalarType::U32)},
                                 "if (threadIdx.x == 0) atomicAdd(counter, 1u);"}});
  for (const Dim3 grid : {Dim3{200'000, 1, 1}, Dim3{1, 65535, 1}, Dim3{1, 1, 65535}}) {
    const Array<std::uint32_t> counter(device(), {0});
    const auto graph = device().create_graph();
    add(*graph, cgrt::KernelParams{&kernels[0], grid, {2, 1, 1}, 0, {counter.slot()}});
    run_once(*graph);
    EXPECT_EQ(counter.read().front(), grid.x * grid.y * grid.z);
  }
}

} // namespace conformance
