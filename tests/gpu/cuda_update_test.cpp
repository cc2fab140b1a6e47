// Streams, memory and updates as only a GPU has them.
#include <cgrt/cgrt.h>

#include "conformance/text_program.h"
#include "driver_function.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using cgrt::ErrorCode;
using cgrt::testing::current_context;
using cgrt::testing::driver_function;
using conformance::compile_text;

class CudaUpdateTest : public testing::Test {
protected:
  void SetUp() override {
    if (cgrt::cuda_device_count() == 0) {
      GTEST_SKIP() << "there is no GPU";
    }
    if (const std::string why = conformance::why_no_compiler("cuda"); !why.empty()) {
      GTEST_SKIP() << why;
    }
    target_ = cgrt::cuda_device_architecture(0);
  }

  cgrt::Program compile(const std::string &text) const { return compile_text(text, target_); }

  static std::int32_t first_of(const cgrt::Instance &instance, const std::string &name) {
    std::int32_t value = 0;
    std::memcpy(&value, instance.read(name).data(), sizeof(value));
    return value;
  }

  static void write_zeros(cgrt::Instance &instance, const std::string &name) {
    instance.write(name, std::vector<std::byte>(instance.buffer(name).bytes));
  }

  /// Each launch takes a while, so that one that does not wait would come too early.
  static constexpr const char *slow_steps = R"(
    param k: i32 = 1;
    device inout x: i32[1];
    kernel step(k: i32, x: inout i32[1]) grid(1) block(1)
    cuda {
      const int old = *(volatile int *)x;
      for (int i = 0; i < 100; ++i) __nanosleep(1000);
      *(volatile int *)x = old + k;
    }
    graph main { step(k, x); } graph other { step(2 * k, x); })";

private:
  std::string target_;
};

TEST_F(CudaUpdateTest, LaunchesKeepTheirOrderAcrossStreams) {
  cgrt::Instance instance(compile(slow_steps), cgrt::Device::cuda());
  write_zeros(instance, "x");
  cgrt::Executable graph = instance.executable("main");
  cgrt::Executable other = instance.executable("other");
  std::vector<cudaStream_t> streams(3);
  for (cudaStream_t &stream : streams) {
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }
  for (std::size_t i = 0; i < 60; ++i) {
    (i % 2 == 0 ? graph : other).launch(i % 4 == 3 ? nullptr : streams[i % 3]);
  }
  graph.wait();
  EXPECT_EQ(first_of(instance, "x"), 90);
  for (cudaStream_t stream : streams) {
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  graph.launch();
  graph.wait();
  EXPECT_EQ(first_of(instance, "x"), 91);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaUpdateTest, ALaunchIsOrderedAfterItsStreamsWork) {
  cgrt::Instance instance(compile(slow_steps), cgrt::Device::cuda());
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  // Memory that comes and goes on the stream, too.
  void *memory = nullptr;
  ASSERT_EQ(cudaMallocAsync(&memory, 4, stream), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(memory, 0, 4, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  instance.bind("x", std::span(static_cast<std::int32_t *>(memory), 1));
  cgrt::Executable graph = instance.executable();
  ASSERT_EQ(cudaMemsetAsync(memory, 1, 4, stream), cudaSuccess);
  graph.launch(stream);
  std::int32_t result = 0;
  ASSERT_EQ(cudaMemcpyAsync(&result, memory, 4, cudaMemcpyDefault, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(result, 0x01010102);
  graph.wait();
  instance.unbind("x");
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(CudaUpdateTest, MemoryThatCannotServeIsRefusedByName) {
  const cgrt::Program program = compile(R"(
    host in h: i32[4]; device out x: i32[4];
    graph main { copy x <- h; })");
  cgrt::Instance instance(program, cgrt::Device::cuda());
  std::vector<std::int32_t> pageable(4);
  void *device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 16), cudaSuccess);
  const auto message = [&](const char *name, std::span<std::int32_t> memory) {
    try {
      instance.bind(name, memory);
    } catch (const cgrt::Error &error) {
      EXPECT_EQ(error.code(), ErrorCode::Usage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message("h", pageable).find("buffer h cannot be used: it is not pinned"),
            std::string::npos);
  EXPECT_NE(message("h", {static_cast<std::int32_t *>(device), 4}).find("not pinned"),
            std::string::npos);
  EXPECT_NE(message("x", pageable).find("it is no device memory"), std::string::npos);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  ASSERT_EQ(cudaHostRegister(pageable.data(), 16, cudaHostRegisterMapped), cudaSuccess);
  EXPECT_EQ(message("h", pageable), "");
  EXPECT_EQ(message("x", {static_cast<std::int32_t *>(device), 4}), "");
  pageable = {7, 8, 9, 10};
  cgrt::Executable graph = instance.executable();
  graph.launch();
  graph.wait();
  EXPECT_EQ(first_of(instance, "x"), 7);
  instance.unbind("h");
  instance.unbind("x");
  EXPECT_EQ(cudaHostUnregister(pageable.data()), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

std::size_t resident_bytes() {
  std::size_t pages = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * 4096;
}

std::size_t free_device_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return free;
}

/// After the first 50, neither host nor device memory grows, and CUDA has no error to tell.
template <typename Round> void expect_no_growth(int rounds, const Round &round) {
  constexpr std::size_t slack = 4 << 20; // of the allocators
  std::size_t host = 0;
  std::size_t device = 0;
  for (int i = 0; i < rounds; ++i) {
    if (i == 50) {
      host = resident_bytes();
      device = free_device_bytes();
    }
    round(i);
  }
  EXPECT_LE(resident_bytes(), host + slack);
  EXPECT_GE(free_device_bytes() + slack, device);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaUpdateTest, TenThousandChangesDoNotGrow) {
  cgrt::Instance instance(compile(R"(
    param k: i32 = 1; device inout x: i32[1];
    kernel add(k: i32, x: inout i32[1]) grid(1) block(1) cuda { x[0] += k; }
    graph main { for i in 0..100 { add(k, x); } })"),
                          cgrt::Device::cuda());
  write_zeros(instance, "x");
  cgrt::Executable graph = instance.executable();
  expect_no_growth(10'000, [&](int i) {
    instance.set("k", i % 3);
    graph.launch();
  });
  graph.wait();
  EXPECT_EQ(first_of(instance, "x"), 100 * 9999); // 3,333 rounds of 0 + 1 + 2, and a 0
}

TEST_F(CudaUpdateTest, AThousandRebuildsDoNotGrow) {
  cgrt::Instance instance(compile(R"(
    param k: i32 = 1; device inout x: i32[1];
    callback told(k: i32);
    kernel add(x: inout i32[1]) grid(1) block(1) cuda { x[0] += 1; }
    graph main { told(k); add(x); })"),
                          cgrt::Device::cuda());
  write_zeros(instance, "x");
  int heard = -1;
  instance.bind_callback("told", [&heard](std::int32_t k) { heard = k; });
  cgrt::Executable graph = instance.executable();
  expect_no_growth(1'000, [&](int i) {
    const int k = i % 5 + 2;
    EXPECT_EQ(instance.set("k", k).kind, cgrt::UpdateKind::Rebuilt);
    graph.launch();
    graph.wait();
    EXPECT_EQ(heard, k);
  });
  EXPECT_EQ(first_of(instance, "x"), 1000);
}

TEST_F(CudaUpdateTest, InstancesComeAndGoWithoutGrowth) {
  const cgrt::Program program = compile(slow_steps);
  const cgrt::Device device = cgrt::Device::cuda();
  expect_no_growth(500, [&](int) {
    cgrt::Instance instance(program, device);
    instance.executable().launch();
  });
}

TEST_F(CudaUpdateTest, TheCallersStateStays) {
  int before = -1;
  ASSERT_EQ(cudaGetDevice(&before), cudaSuccess);
  cgrt::Instance instance(compile(slow_steps), cgrt::Device::cuda());
  cgrt::Executable graph = instance.executable();
  static_cast<void>(cudaFree(reinterpret_cast<void *>(0x10))); // an error of the caller's
  ASSERT_NE(cudaPeekAtLastError(), cudaSuccess);
  const cudaError_t mine = cudaPeekAtLastError();
  instance.set("k", 3);
  graph.launch();
  graph.wait();
  EXPECT_EQ(cudaPeekAtLastError(), mine);
  static_cast<void>(cudaGetLastError());
  int after = -1;
  ASSERT_EQ(cudaGetDevice(&after), cudaSuccess);
  EXPECT_EQ(after, before);
}

/// The later changes go another way than the first two: with no context current.
TEST_F(CudaUpdateTest, AThreadOfAnotherContextChangesParams) {
  cgrt::Instance instance(compile(R"(
    param v: i32 = 1;
    device inout x: i32[1];
    kernel put(v: i32, x: inout i32[1]) grid(1) block(1) cuda { x[0] = v; }
    graph main { put(v, x); })"),
                          cgrt::Device::cuda());
  write_zeros(instance, "x");
  cgrt::Executable graph = instance.executable();
  const auto changes_are_seen = [&](int from) {
    for (int v = from; v < from + 5; ++v) {
      const CUcontext before = current_context();
      EXPECT_EQ(instance.set("v", v).kind, cgrt::UpdateKind::InPlace);
      EXPECT_EQ(current_context(), before);
      graph.launch();
      graph.wait();
      EXPECT_EQ(first_of(instance, "x"), v);
    }
  };
  changes_are_seen(10);
  std::thread([&] {
    EXPECT_EQ(current_context(), nullptr);
    changes_are_seen(20);
  }).join();
  void *found = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  ASSERT_EQ(
      cudaGetDriverEntryPointByVersion("cuCtxCreate", &found, 13000, cudaEnableDefault, &status),
      cudaSuccess);
  CUcontext another = nullptr;
  ASSERT_EQ(reinterpret_cast<decltype(&cuCtxCreate)>(found)(&another, nullptr, 0, 0), CUDA_SUCCESS);
  changes_are_seen(30);
  EXPECT_EQ(current_context(), another);
  EXPECT_EQ(driver_function<decltype(&cuCtxDestroy)>("cuCtxDestroy")(another), CUDA_SUCCESS);
}

TEST_F(CudaUpdateTest, ASecondGpuWorksBesideTheFirst) {
  if (cgrt::cuda_device_count() < 2) {
    GTEST_SKIP() << "there is one GPU";
  }
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  const cgrt::Program program = compile(slow_steps);
  cgrt::Instance first(program, cgrt::Device::cuda(0));
  cgrt::Instance second(program, cgrt::Device::cuda(1), {{"k", 5}});
  cgrt::Executable first_graph = first.executable();
  cgrt::Executable second_graph = second.executable();
  write_zeros(first, "x");
  write_zeros(second, "x");
  for (int i = 0; i < 10; ++i) {
    second_graph.launch();
    first_graph.launch();
    second.set("k", 5 + i % 2);
  }
  second_graph.wait();
  first_graph.wait();
  EXPECT_EQ(first_of(first, "x"), 10);
  EXPECT_EQ(first_of(second, "x"), 54); // 5, then 5 and 6 in turns
  int current = -1;
  ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 0);
  // Memory of the other GPU is no buffer here.
  void *memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 4), cudaSuccess);
  EXPECT_THROW(second.bind("x", std::span(static_cast<std::int32_t *>(memory), 1)), cgrt::Error);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

using CudaUpdateDeathTest = CudaUpdateTest;

TEST_F(CudaUpdateDeathTest, ALostGpuSaysSoFromThenOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto lose = [this] {
    cgrt::Instance instance(compile(R"(
      param v: i32 = 0;
      device inout x: i32[1];
      kernel wild(v: i32, x: inout i32[1]) grid(1) block(1) cuda { *(volatile int *)8 = x[0] + v; }
      graph main { wild(v, x); })"),
                            cgrt::Device::cuda());
    cgrt::Executable graph = instance.executable();
    for (int v = 1; v < 5; ++v) {
      instance.set("v", v);
    }
    graph.launch();
    int lost = 0;
    const auto attempt = [&lost](const auto &call) {
      try {
        call();
      } catch (const cgrt::Error &error) {
        const std::string text = error.what();
        lost += error.code() == ErrorCode::Device &&
                        text.find("is lost to this process") != std::string::npos
                    ? 1
                    : 0;
      }
    };
    attempt([&] { graph.wait(); }); // tells what happened
    attempt([&] { graph.launch(); });
    attempt([&] { instance.set("v", 5); });
    lost += std::get<std::int64_t>(instance.param("v")) == 4 ? 10 : 0;
    attempt([&] { static_cast<void>(instance.read("x")); });
    attempt([&] { static_cast<void>(instance.executable()); });
    attempt([&] { instance.bind("x", std::span<std::int32_t>()); });
    std::fprintf(stderr, "%d say so\n", lost);
    std::exit(0);
  };
  EXPECT_EXIT(lose(), testing::ExitedWithCode(0), "1[45] say so");
}

} // namespace
