// External kernels bound on a GPU: to handles of both of CUDA's interfaces, and to addresses.
#include <cgrt/cgrt.h>

#include "conformance/external_program.h"
#include "conformance/message_of.h"
#include "driver_function.h"
#include "ptx_program.h"

#ifdef CGRAPH_HAVE_NVCC
#include "external_kernels.h"
#endif

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

#include <array>

namespace {

using cgrt::ScalarType;
using cgrt::format::KernelWork;
using cgrt::testing::driver_function;
using conformance::HandMade;
using conformance::launch_params;
using conformance::message_of;
using conformance::read_words;
using conformance::write_words;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char *kernels = R"(
.version 8.0
.target sm_75
.address_size 64

.visible .entry scale(.param .u32 scale_factor, .param .u64 scale_x, .param .u64 scale_y) {
  .reg .b32 %factor, %value;
  .reg .b64 %x, %y;
  ld.param.u32 %factor, [scale_factor];
  ld.param.u64 %x, [scale_x];
  ld.param.u64 %y, [scale_y];
  ld.global.u32 %value, [%x];
  mul.lo.u32 %value, %value, %factor;
  st.global.u32 [%y], %value;
  ret;
}

.visible .entry seven(.param .u32 seven_factor, .param .u64 seven_x, .param .u64 seven_y) {
  .reg .b32 %value;
  .reg .b64 %y;
  ld.param.u64 %y, [seven_y];
  mov.u32 %value, 7;
  st.global.u32 [%y], %value;
  ret;
}

.visible .entry two(.param .u32 two_factor, .param .u64 two_x) { ret; }
.visible .entry four(.param .u32 four_factor, .param .u64 four_x, .param .u64 four_y,
                     .param .u32 four_z) { ret; }
.visible .entry wide(.param .u64 wide_factor, .param .u64 wide_x, .param .u64 wide_y) { ret; }
)";

/// Loaded code, as a library of the caller's may have it.
class Library {
public:
  explicit Library(const char *ptx) {
    EXPECT_EQ(cudaLibraryLoadData(&library_, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0),
              cudaSuccess);
  }
  ~Library() { EXPECT_EQ(cudaLibraryUnload(library_), cudaSuccess); }
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;

  cudaKernel_t operator[](const char *name) const {
    cudaKernel_t kernel = nullptr;
    EXPECT_EQ(cudaLibraryGetKernel(&kernel, library_, name), cudaSuccess) << name;
    return kernel;
  }

private:
  cudaLibrary_t library_ = nullptr;
};

class CudaExternalTest : public testing::Test {
protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
      GTEST_SKIP() << "there is no GPU";
    }
  }

  static HandMade with_op() { return conformance::with_external("op", ScalarType::U32); }
  static cgrt::Program one_launch() { return conformance::one_launch(with_op(), 1).finish(); }

  static std::uint32_t run(cgrt::Instance &instance, cgrt::Executable &graph, std::uint32_t in) {
    return conformance::run_once(instance, graph, {in}).at(0);
  }
};

TEST_F(CudaExternalTest, AHandleIsAKernelLikeOthers) {
  const Library library(kernels);
  cgrt::Instance instance(one_launch(), cgrt::Device::cuda(0), launch_params(2));
  instance.bind_kernel("op", library["scale"]);
  cgrt::Executable graph = instance.executable();
  EXPECT_EQ(run(instance, graph, 3), 6U);
  instance.set(launch_params(5));
  EXPECT_EQ(run(instance, graph, 3), 15U);
  instance.set(launch_params(7, 0));
  EXPECT_EQ(run(instance, graph, 3), 15U) << "an empty grid does nothing";
  instance.set(launch_params(7, 1));
  EXPECT_EQ(run(instance, graph, 3), 21U);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the caller's last error is the caller's";
}

TEST_F(CudaExternalTest, AHandleOfTheDriverIsOneToo) {
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess); // the driver is initialized
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  ASSERT_EQ(driver_function<decltype(&cuLibraryLoadData)>("cuLibraryLoadData")(
                &library, kernels, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  ASSERT_EQ(driver_function<decltype(&cuLibraryGetKernel)>("cuLibraryGetKernel")(&kernel, library,
                                                                                 "scale"),
            CUDA_SUCCESS);
  {
    cgrt::Instance instance(one_launch(), cgrt::Device::cuda(0), launch_params(2));
    instance.bind_kernel("op", kernel);
    cgrt::Executable graph = instance.executable();
    EXPECT_EQ(run(instance, graph, 3), 6U);
  }
  EXPECT_EQ(driver_function<decltype(&cuLibraryUnload)>("cuLibraryUnload")(library), CUDA_SUCCESS);
}

#ifdef CGRAPH_HAVE_NVCC
TEST_F(CudaExternalTest, AnAddressIsAKernelLikeOthers) {
  cgrt::Instance instance(one_launch(), cgrt::Device::cuda(0), launch_params(2));
  instance.bind_kernel("op", address_of_add());
  cgrt::Executable graph = instance.executable();
  EXPECT_EQ(run(instance, graph, 3), 5U);
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(cudaGetKernel(&kernel, address_of_add()), cudaSuccess);
  instance.bind_kernel("op", kernel);
  EXPECT_EQ(run(instance, graph, 8), 10U);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}
#endif

TEST_F(CudaExternalTest, BoundAgainTheExecutablesAreMadeAnew) {
  const Library library(kernels);
  cgrt::Instance instance(one_launch(), cgrt::Device::cuda(0), launch_params(2));
  instance.bind_kernel("op", library["scale"]);
  cgrt::Executable graph = instance.executable();
  EXPECT_EQ(run(instance, graph, 3), 6U);
  graph.launch(); // is still in flight, maybe
  instance.bind_kernel("op", library["seven"]);
  EXPECT_EQ(run(instance, graph, 3), 7U);
  EXPECT_THROW(instance.bind_kernel("op", library["two"]), cgrt::Error);
  EXPECT_EQ(run(instance, graph, 4), 7U) << "what is refused changes nothing";
  instance.bind_kernel("op", library["scale"]);
  EXPECT_EQ(run(instance, graph, 4), 8U);
}

TEST_F(CudaExternalTest, OtherParametersThanDeclaredAreRefused) {
  const Library library(kernels);
  cgrt::Instance instance(one_launch(), cgrt::Device::cuda(0), launch_params(2));
  const auto message = [&](const char *name) {
    return message_of(cgrt::ErrorCode::Usage, [&] { instance.bind_kernel("op", library[name]); });
  };
  EXPECT_THAT(message("two"), HasSubstr("kernel op: the function bound to it takes 2 parameters, "
                                        "the program gives 3"));
  EXPECT_THAT(message("four"), HasSubstr("kernel op: the function bound to it takes more than the "
                                         "3 parameters that the program gives"));
  EXPECT_THAT(message("wide"), HasSubstr("kernel op: parameter factor has 4 bytes as it is "
                                         "declared and 8 in the function bound to it"));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaExternalTest, WhatIsNoKernelIsRefused) {
  cgrt::Instance instance(one_launch(), cgrt::Device::cuda(0), launch_params(2));
  static const std::array<std::uint64_t, 64> zeros{};
  EXPECT_THAT(message_of(cgrt::ErrorCode::Usage, [&] { instance.bind_kernel("op", zeros.data()); }),
              HasSubstr("kernel op: what is bound to it is neither a __global__ function"));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaExternalTest, ItStandsInChildrenAndBodies) {
  const Library library(kernels);
  cgrt::Instance instance(conformance::in_child_and_body(with_op(), 1).finish(),
                          cgrt::Device::cuda(0));
  instance.bind_kernel("op", library["scale"]);
  cgrt::Executable graph = instance.executable();
  EXPECT_EQ(run(instance, graph, 4), 24U);
  instance.bind_kernel("op", library["seven"]);
  EXPECT_EQ(run(instance, graph, 4), 7U);
}

TEST_F(CudaExternalTest, ItsEffectsAreChecked) {
  const Library library(kernels);
  cgrt::Instance instance(one_launch(), cgrt::Device::cuda(0), launch_params(2));
  instance.bind_kernel("op", library["scale"]);
  write_words(instance, "in", {3});
  const cgrt::EffectReport report = instance.check_effects();
  EXPECT_EQ(report.launches, 1U);
  EXPECT_TRUE(report.faults.empty()) << report.faults.front().message;
  EXPECT_THAT(read_words(instance, "out"), ElementsAre(6));
}

/// A launch of ptx_program.h's last_word with this much dynamic shared memory.
cgrt::Program with_shared_memory(std::int64_t bytes) {
  cgrt::format::Program program;
  program.kernels = {cgrt::testing::ptx_program().kernels[4]};
  program.kernels[0].external = true;
  program.kernels[0].place = {};
  HandMade made(std::move(program));
  const auto out = made.buffer("out", {1}, ScalarType::I32);
  KernelWork work = made.launch(0, {made.number(bytes), made.whole(out)});
  work.shared_bytes = made.number(bytes);
  made.graph("main");
  made.node(std::move(work));
  return made.finish();
}

TEST_F(CudaExternalTest, InstancesThatShareAKernelLeaveEachOtherTheirSharedMemory) {
  const Library library(cgrt::testing::ptx_source.data());
  const cgrt::Device device = cgrt::Device::cuda(0);
  cgrt::Instance large(with_shared_memory(200 * 1024), device);
  cgrt::Instance small(with_shared_memory(64 * 1024), device);
  const auto use = [](cgrt::Instance &instance) {
    cgrt::Executable graph = instance.executable();
    write_words(instance, "out", {0});
    graph.launch();
    graph.wait();
    EXPECT_THAT(read_words(instance, "out"), ElementsAre(7));
  };
  large.bind_kernel("last_word", library["last_word"]);
  small.bind_kernel("last_word", library["last_word"]);
  use(large);
  use(small);
  use(large);
}

} // namespace
