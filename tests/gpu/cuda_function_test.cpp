// Captured functions, the caller's events, and timing events against CUDA's own.
#include <cgrt/cgrt.h>

#include "format/program.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>

namespace {

using namespace cgrt::format;
using cgrt::MemorySpace;
using cgrt::ScalarType;

constexpr std::int64_t elements = 1 << 20;

/// x and y of u32 in device memory, which the caller fills and reads.
Program two_buffers() {
  Program program;
  const ExprId extent = program.exprs.constant(Value::of(elements));
  for (const char *name : {"x", "y"}) {
    program.buffers.push_back({name,
                               ScalarType::U32,
                               MemorySpace::Device,
                               cgrt::CallerAccess::InOut,
                               {extent},
                               {},
                               false});
  }
  Graph main;
  main.name = "main";
  program.graphs.push_back(std::move(main));
  return program;
}

Region whole(Program &program, std::uint32_t buffer) {
  return {{buffer},
          {{program.exprs.constant(Value::of(std::int64_t{0})), program.buffers[buffer].shape[0]}}};
}

void add(Program &program, Work work) {
  Node node;
  node.work = std::move(work);
  auto &nodes = program.graphs[0].nodes;
  if (!nodes.empty()) {
    node.dependencies.push_back({{static_cast<std::uint32_t>(nodes.size() - 1)}, {}});
  }
  nodes.push_back(std::move(node));
}

cgrt::Program finish(Program program) {
  const auto problems = verify(program);
  EXPECT_TRUE(problems.empty()) << problems.front();
  return cgrt::Program(std::make_shared<const Program>(std::move(program)));
}

std::uint32_t first_word(const cgrt::Instance &instance, const std::string &name) {
  return reinterpret_cast<const std::uint32_t *>(instance.read(name).data())[0];
}

class CudaFunctionTest : public testing::Test {
protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
      GTEST_SKIP() << "there is no GPU";
    }
  }

  /// fill x; y = captured(x); fill x: y has what x held between.
  static cgrt::Program calling() {
    Program program = two_buffers();
    program.callables.push_back({"move",
                                 CallableKind::Captured,
                                 {KernelParam{"x", ScalarType::U32, true, Mode::In},
                                  KernelParam{"y", ScalarType::U32, true, Mode::Out}},
                                 false,
                                 {}});
    add(program, FillWork{whole(program, 0), program.exprs.constant(Value::of(std::int64_t{7}))});
    add(program, CapturedWork{{0}, {whole(program, 0), whole(program, 1)}});
    add(program, FillWork{whole(program, 0), program.exprs.constant(Value::of(std::int64_t{9}))});
    return finish(std::move(program));
  }
};

TEST_F(CudaFunctionTest, ACapturedFunctionStandsWhereItIsCalled) {
  cgrt::Instance instance(calling(), cgrt::Device::cuda(0));
  int captures = 0;
  instance.bind_captured("move",
                         [&](CUstream_st *stream, const std::uint32_t *x, std::uint32_t *y) {
                           ++captures;
                           cudaMemcpyAsync(y, x, elements * sizeof(*x), cudaMemcpyDefault, stream);
                         });
  cgrt::Executable graph = instance.executable();
  for (int launch = 0; launch < 3; ++launch) {
    graph.launch();
    graph.wait();
    EXPECT_EQ(first_word(instance, "y"), 7U);
    EXPECT_EQ(first_word(instance, "x"), 9U);
  }
  EXPECT_EQ(captures, 1);
  instance.bind_captured("move", [](CUstream_st *stream, const std::uint32_t *, std::uint32_t *y) {
    cudaMemsetAsync(y, 1, elements * sizeof(*y), stream);
  });
  graph.launch();
  graph.wait();
  EXPECT_EQ(first_word(instance, "y"), 0x01010101U);
  // What cannot be captured leaves the executable as it was.
  EXPECT_THROW(
      instance.bind_captured("move", [](CUstream_st *, const std::uint32_t *,
                                        std::uint32_t *) { throw std::runtime_error("no plan"); }),
      cgrt::Error);
  graph.launch();
  graph.wait();
  EXPECT_EQ(first_word(instance, "y"), 0x01010101U);
  instance.bind_captured("move", [](CUstream_st *, const std::uint32_t *, std::uint32_t *) {});
  graph.launch();
  graph.wait();
  EXPECT_EQ(first_word(instance, "y"), 0x01010101U) << "what captures nothing does nothing";
}

TEST_F(CudaFunctionTest, WhatCannotBeCapturedNamesTheFunction) {
  const auto message = [](const auto &function) {
    cgrt::Instance instance(calling(), cgrt::Device::cuda(0));
    instance.bind_captured("move", function);
    try {
      static_cast<void>(instance.executable());
    } catch (const cgrt::Error &error) {
      EXPECT_EQ(error.code(), cgrt::ErrorCode::Device);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message([](CUstream_st *, const std::uint32_t *, std::uint32_t *) {
              throw std::runtime_error("no plan");
            }).find("captured move: no plan"),
            std::string::npos);
  EXPECT_NE(message([](CUstream_st *stream, const std::uint32_t *, std::uint32_t *) {
              cudaStreamSynchronize(stream);
            }).find("captured move: cudaStreamEndCapture"),
            std::string::npos);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the caller's last error is the caller's";
}

TEST_F(CudaFunctionTest, AnExternalEventOrdersLaunchesAgainstTheCallersWork) {
  Program program = two_buffers();
  program.events.push_back({"ready", true, {}});
  program.events.push_back({"done", true, {}});
  add(program, EventWaitWork{{0}});
  add(program, CopyWork{whole(program, 1), whole(program, 0)});
  add(program, EventRecordWork{{1}});
  cgrt::Instance instance(finish(std::move(program)), cgrt::Device::cuda(0));
  EXPECT_THROW(static_cast<void>(instance.executable()), cgrt::Error);
  cudaEvent_t ready = nullptr;
  cudaEvent_t done = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&done, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  instance.bind_event("ready", ready);
  instance.bind_event("done", done);
  cgrt::Executable graph = instance.executable();
  // The caller's stream waits for a host function that ends after the launch call.
  for (int launch = 0; launch < 5; ++launch) {
    ASSERT_EQ(cudaLaunchHostFunc(
                  stream,
                  [](void *) {
                    const auto end =
                        std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
                    while (std::chrono::steady_clock::now() < end) {
                    }
                  },
                  nullptr),
              cudaSuccess);
    ASSERT_EQ(cudaEventRecord(ready, stream), cudaSuccess);
    const auto start = std::chrono::steady_clock::now();
    graph.launch();
    ASSERT_EQ(cudaEventSynchronize(done), cudaSuccess);
    const auto waited = std::chrono::steady_clock::now() - start;
    EXPECT_GE(waited, std::chrono::milliseconds(15));
    graph.wait();
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(ready), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(done), cudaSuccess);
}

} // namespace
