// What only the CUDA device does; what both devices do is in tests/conformance.
#include "device.h"
#include "driver_function.h"
#include "ptx_program.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using cgrt::CopyParams;
using cgrt::DeviceBackend;
using cgrt::DeviceExecutable;
using cgrt::DeviceGraph;
using cgrt::Error;
using cgrt::ErrorCode;
using cgrt::FillParams;
using cgrt::KernelParams;
using cgrt::LoadedCode;
using cgrt::Memory;
using cgrt::MemorySpace;
using cgrt::NodeLabel;
using cgrt::testing::current_context;
using cgrt::testing::function_of;
using cgrt::testing::ptx_image;
using cgrt::testing::ptx_kernels;
using cgrt::testing::ptx_program;
using cgrt::testing::PtxKernel;
using ::testing::ExitedWithCode;

using Dependencies = std::vector<std::uint32_t>;

class CudaDevice : public ::testing::Test {
protected:
  void SetUp() override {
    std::string why_none;
    if (cgrt::cuda_device_count(&why_none) == 0) {
      GTEST_SKIP() << why_none;
    }
    device_ = cgrt::make_cuda_device(0);
  }

  DeviceBackend &device() { return *device_; }

  const LoadedCode &code() {
    if (!code_) {
      code_ = device().load(ptx_program());
    }
    return *code_;
  }

  KernelParams launch(PtxKernel kernel, std::vector<std::uint64_t> arguments = {}) {
    return {&function_of(code(), kernel), {}, {}, 0, std::move(arguments)};
  }

  /// One node, run once.
  void run(const cgrt::NodeParams &params) {
    const std::unique_ptr<DeviceGraph> graph = device().create_graph();
    graph->add_node(params, {}, {"the node", {}}, true);
    const std::unique_ptr<DeviceExecutable> executable = graph->instantiate();
    executable->launch();
    executable->wait();
  }

  std::int32_t read_word(const Memory &memory) {
    std::int32_t word = -1;
    device().copy(reinterpret_cast<std::byte *>(&word), memory.data(), sizeof(word));
    return word;
  }

  /// The error of adding a node to an empty graph.
  Error refusal(const cgrt::NodeParams &params) {
    const std::unique_ptr<DeviceGraph> graph = device().create_graph();
    try {
      graph->add_node(params, {}, {"fill x", {"saxpy.cgraph", 18, 3}}, true);
    } catch (const Error &error) {
      return error;
    }
    return {ErrorCode::Usage, "it was accepted"};
  }

private:
  std::unique_ptr<DeviceBackend> device_;
  std::unique_ptr<LoadedCode> code_;
};

std::uint64_t address(const Memory &memory) {
  return reinterpret_cast<std::uint64_t>(memory.data());
}

TEST_F(CudaDevice, SaysWhichItIs) {
  EXPECT_EQ(device().name().substr(0, 7), "cuda:0 ");
  EXPECT_GT(device().name().size(), 7U);
  EXPECT_EQ(cgrt::cuda_device_architecture(0).substr(0, 3), "sm_");
}

TEST_F(CudaDevice, ThereIsNoneBeyondTheLast) {
  const int count = cgrt::cuda_device_count();
  for (const int ordinal : {-1, count}) {
    try {
      cgrt::make_cuda_device(ordinal);
      ADD_FAILURE();
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ErrorCode::Device);
      EXPECT_NE(std::string(error.what()).find("there is no cuda:" + std::to_string(ordinal)),
                std::string::npos)
          << error.what();
    }
  }
}

TEST_F(CudaDevice, TheCallersContextStaysWhatItWas) {
  const auto use_it = [this] {
    const std::unique_ptr<DeviceBackend> other = cgrt::make_cuda_device(0);
    const std::unique_ptr<Memory> memory = other->allocate(MemorySpace::Device, 64);
    run(FillParams{memory->data(), 7, 4, 16});
  };
  std::thread([&] { // a thread that CUDA does not know yet
    EXPECT_EQ(current_context(), nullptr);
    use_it();
    EXPECT_EQ(current_context(), nullptr);
  })
      .join();

  const int last = cgrt::cuda_device_count() - 1;
  ASSERT_EQ(cudaSetDevice(last), cudaSuccess);
  const CUcontext before = current_context();
  use_it();
  int now = -1;
  ASSERT_EQ(cudaGetDevice(&now), cudaSuccess);
  EXPECT_EQ(now, last);
  EXPECT_EQ(current_context(), before);
}

TEST_F(CudaDevice, NoErrorOfOursStaysBehind) {
  EXPECT_EQ(refusal(FillParams{reinterpret_cast<std::byte *>(16), 0, 4, 1}).code(),
            ErrorCode::Device);
  EXPECT_THROW(device().allocate(MemorySpace::Device, std::size_t{1} << 50), Error);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(CudaDevice, AMemoryThatDoesNotFitSaysHowLargeItWouldBe) {
  try {
    device().allocate(MemorySpace::Device, std::size_t{1} << 50);
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::Device);
    const std::string text = error.what();
    EXPECT_NE(text.find("1125899906842624 bytes of device memory"), std::string::npos) << text;
    EXPECT_NE(text.find("cudaErrorMemoryAllocation"), std::string::npos) << text;
  }
}

TEST_F(CudaDevice, ARefusedNodeIsNamedWithItsLine) {
  const Error error = refusal(FillParams{reinterpret_cast<std::byte *>(16), 0, 4, 1});
  EXPECT_EQ(error.code(), ErrorCode::Device);
  EXPECT_EQ(std::string(error.what()),
            "saxpy.cgraph:18: fill x: cudaGraphAddNode: invalid argument (cudaErrorInvalidValue)");
}

TEST_F(CudaDevice, ABlockTooLargeForItsKernelIsNamed) {
  KernelParams params = launch(PtxKernel::Limited);
  params.block.x = 128;
  run(params);
  params.block.x = 129;
  const Error error = refusal(params);
  EXPECT_EQ(error.code(), ErrorCode::Device);
  EXPECT_NE(std::string(error.what()).find("saxpy.cgraph:18: fill x: a block of 129 threads"),
            std::string::npos)
      << error.what();
}

TEST_F(CudaDevice, LargeDynamicSharedMemoryIsAllowed) {
  const std::unique_ptr<Memory> out = device().allocate(MemorySpace::Device, 4);
  for (const std::uint32_t bytes : {4U, 49152U, 65536U, 90112U, 65536U}) {
    KernelParams params = launch(PtxKernel::LastWord, {bytes, address(*out)});
    params.shared_bytes = bytes;
    run(FillParams{out->data(), 0, 4, 1});
    run(params);
    EXPECT_EQ(read_word(*out), 7) << bytes;
  }
}

TEST_F(CudaDevice, TooMuchSharedMemoryIsRefusedByName) {
  KernelParams params = launch(PtxKernel::LastWord, {1U << 20, 0});
  params.shared_bytes = 1U << 20;
  const Error error = refusal(params);
  EXPECT_EQ(error.code(), ErrorCode::Device);
  EXPECT_NE(std::string(error.what()).find("saxpy.cgraph:18: fill x: 1048576 bytes of dynamic"),
            std::string::npos)
      << error.what();
}

TEST_F(CudaDevice, AKernelThatTheCodeLacksIsNamedWhenLoading) {
  cgrt::format::Program program = ptx_program();
  program.kernels[1].symbol = "no_such_symbol";
  try {
    device().load(program);
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::Device);
    EXPECT_EQ(std::string(error.what()).substr(0, 31), "hand.cgraph:2: kernel limited: ")
        << error.what();
  }
}

TEST_F(CudaDevice, EachKernelComesFromAnImageThatHoldsIt) {
  cgrt::format::Program program = ptx_program();
  // What is wrong in the first image does no harm to kernels that the second one holds.
  program.images.insert(program.images.begin(), ptx_image("compute_75", "no PTX"));
  program.images[0].kernels = {};
  program.images[1].kernels = {{0}, {1}, {2}};
  program.images.push_back(program.images[1]);
  program.images[2].kernels = {{3}, {4}};
  program.kernels[0].symbol = "cg_nothing";
  program.kernels[0].cuda_symbol = "nothing";
  EXPECT_NE(device().load(program), nullptr);
}

TEST_F(CudaDevice, ParametersOfAnotherSizeAreRefused) {
  const auto refusal_of = [&](const cgrt::format::Program &program) -> std::string {
    try {
      device().load(program);
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ErrorCode::Device);
      return error.what();
    }
    return "loaded";
  };
  cgrt::format::Program program = ptx_program();
  auto &params = program.kernels[4].params;
  params[0].type = cgrt::ScalarType::U64;
  EXPECT_EQ(refusal_of(program), "hand.cgraph:5: kernel last_word: parameter bytes has 8 bytes as "
                                 "it is declared and 4 in the code");
  params[0].type = cgrt::ScalarType::F32;
  params.push_back(params[0]);
  EXPECT_EQ(refusal_of(program),
            "hand.cgraph:5: kernel last_word: the code takes 2 parameters, the "
            "program gives 3");
  params.resize(1);
  EXPECT_EQ(refusal_of(program), "hand.cgraph:5: kernel last_word: the code takes more than the 1 "
                                 "parameters that the program gives");
}

TEST_F(CudaDevice, CodeThatDoesNotCompileSaysWhy) {
  cgrt::format::Program program = ptx_program();
  program.images = {ptx_image("compute_75", ".version 8.0\n.target sm_75\n.address_size 64\n"
                                            ".visible .entry nothing() { bogus; }\n")};
  try {
    device().load(program);
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::Device);
    EXPECT_NE(std::string(error.what()).find("bogus"), std::string::npos) << error.what();
  }
}

TEST_F(CudaDevice, CodeForOtherArchitecturesIsListed) {
  cgrt::format::Program program = ptx_program();
  program.images = {ptx_image("compute_999", ""),
                    {cgrt::format::ImageKind::Cubin, "sm_20", ptx_kernels(), {}},
                    {cgrt::format::ImageKind::HostSharedObject, "x86_64", ptx_kernels(), {}}};
  try {
    device().load(program);
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::Device);
    const std::string text = error.what();
    for (const char *part : {"compute_999", "sm_20", "x86_64", "--arch=sm_"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
}

TEST_F(CudaDevice, AnEmptyGraphRuns) {
  const std::unique_ptr<DeviceExecutable> executable = device().create_graph()->instantiate();
  executable->launch();
  executable->wait();
}

TEST_F(CudaDevice, AnExecutableInFlightMayGoWithItsMemory) {
  constexpr std::uint64_t nanoseconds = 50'000'000;
  const std::unique_ptr<Memory> kept = device().allocate(MemorySpace::Device, 4);
  run(FillParams{kept->data(), 0, 4, 1});
  {
    const std::unique_ptr<Memory> gone = device().allocate(MemorySpace::Device, 4);
    const std::unique_ptr<DeviceGraph> graph = device().create_graph();
    const std::uint32_t first = graph->add_node(
        launch(PtxKernel::Spin, {nanoseconds, address(*gone)}), {}, {"spin", {}}, true);
    graph->add_node(CopyParams{kept->data(), gone->data(), 4}, Dependencies{first}, {"copy", {}},
                    true);
    const std::unique_ptr<DeviceExecutable> executable = graph->instantiate();
    executable->launch();
    executable->launch();
  }
  EXPECT_EQ(read_word(*kept), 1);
}

TEST_F(CudaDevice, LaunchingDoesNotWait) {
  constexpr std::uint64_t nanoseconds = 200'000'000;
  const std::unique_ptr<Memory> done = device().allocate(MemorySpace::Device, 4);
  const std::unique_ptr<DeviceGraph> graph = device().create_graph();
  graph->add_node(launch(PtxKernel::Spin, {nanoseconds, address(*done)}), {}, {"spin", {}}, true);
  const std::unique_ptr<DeviceExecutable> executable = graph->instantiate();
  const auto start = std::chrono::steady_clock::now();
  executable->launch();
  const auto launched = std::chrono::steady_clock::now();
  executable->wait();
  const auto waited = std::chrono::steady_clock::now();
  EXPECT_LT(launched - start, std::chrono::milliseconds(100));
  EXPECT_GE(waited - start, std::chrono::milliseconds(190));
}

// 4 GiB and more: sizes and offsets beyond 32 bits in every kind of node that has one.
TEST_F(CudaDevice, FillsAndCopiesPastFourGibibytes) {
  constexpr std::size_t bytes = (std::size_t{9} << 29) + 8; // 4.5 GiB and two words
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
  if (free_bytes < 2 * bytes + (std::size_t{1} << 30)) {
    GTEST_SKIP() << "this GPU has too little free memory";
  }
  const std::unique_ptr<Memory> from = device().allocate(MemorySpace::Device, bytes);
  const std::unique_ptr<Memory> to = device().allocate(MemorySpace::Device, bytes);
  const std::unique_ptr<DeviceGraph> graph = device().create_graph();
  const std::uint32_t filled =
      graph->add_node(FillParams{from->data(), 0x01020304, 4, bytes / 4}, {}, {"fill", {}}, true);
  const std::uint32_t cleared =
      graph->add_node(FillParams{to->data(), 0, 1, bytes}, {}, {"clear", {}}, true);
  graph->add_node(CopyParams{to->data() + 4, from->data(), bytes - 4},
                  Dependencies{filled, cleared}, {"copy", {}}, true);
  const std::unique_ptr<DeviceExecutable> executable = graph->instantiate();
  executable->launch();
  executable->wait();
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{4}, std::size_t{1} << 31, std::size_t{1} << 32, bytes - 4}) {
    std::uint32_t word = 1;
    device().copy(reinterpret_cast<std::byte *>(&word), to->data() + at, sizeof(word));
    EXPECT_EQ(word, at == 0 ? 0U : 0x01020304U) << at;
  }
}

double build_seconds(DeviceBackend &device, const KernelParams &params, std::uint32_t nodes) {
  const auto start = std::chrono::steady_clock::now();
  const std::unique_ptr<DeviceGraph> graph = device.create_graph();
  Dependencies before;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    before = {graph->add_node(params, before, {"nothing", {}}, true)};
  }
  const std::unique_ptr<DeviceExecutable> executable = graph->instantiate();
  executable->launch();
  executable->wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST_F(CudaDevice, BuildingIsLinearInTheNodes) {
  const KernelParams params = launch(PtxKernel::Nothing);
  build_seconds(device(), params, 1'000); // warm
  const double small = build_seconds(device(), params, 10'000);
  const double large = build_seconds(device(), params, 40'000);
  EXPECT_LT(large, 4 * 2.5 * small);
}

// A fault takes the process's CUDA context with it, so it happens in a process of its own.
TEST_F(CudaDevice, AFaultOfAKernelIsReportedByTheWait) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fault = [this] {
    const std::unique_ptr<DeviceGraph> graph = device().create_graph();
    graph->add_node(launch(PtxKernel::Fault), {}, {"kernel fault", {}}, true);
    const std::unique_ptr<DeviceExecutable> executable = graph->instantiate();
    try {
      executable->launch();
      executable->wait();
    } catch (const Error &error) {
      std::fprintf(stderr, "code %d: %s\n", static_cast<int>(error.code()), error.what());
      std::exit(3);
    }
    std::exit(0);
  };
  EXPECT_EXIT(fault(), ExitedWithCode(3), "code 3: .*illegal memory access.*IllegalAddress");
}

} // namespace
