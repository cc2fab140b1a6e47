// Faults of kernels on the host device: told with their place, and survived.
#include "device_under_test.h"

#include "host/sanitizer.h"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>

namespace conformance {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class FaultTest : public KernelsUnderTest {
protected:
  void SetUp() override {
    if (!is_host()) {
      GTEST_SKIP() << "a fault makes a GPU unusable for its process";
    }
#if defined(CGRT_ADDRESS_SANITIZER) || defined(CGRT_THREAD_SANITIZER)
    GTEST_SKIP() << "AddressSanitizer reports faults itself";
#endif
    KernelsUnderTest::SetUp();
  }

  /// Runs a kernel of (x: i32[…]) over 3 blocks; what wait() says.
  static std::string failure(DeviceBackend &device, const cgrt::Function &kernel,
                             const Array<std::int32_t> &x, Dim3 block = {32, 1, 1},
                             std::uint32_t shared_bytes = 0) {
    const auto graph = device.create_graph();
    add(*graph, cgrt::KernelParams{&kernel, {3, 1, 1}, block, shared_bytes, {x.slot()}});
    const auto executable = graph->instantiate();
    executable->launch();
    try {
      executable->wait();
    } catch (const cgrt::Error &error) {
      EXPECT_EQ(error.code(), cgrt::ErrorCode::Device);
      return error.what();
    }
    return "no error";
  }

  /// The same for a body, with a good launch behind it.
  std::string failure_of(const std::string &body, Dim3 block = {32, 1, 1},
                         std::uint32_t shared_bytes = 0) {
    const Kernels kernels = load({{"bad", {output("x", ScalarType::I32)}, body},
                                  {"good",
                                   {output("x", ScalarType::I32)},
                                   "__syncthreads(); if (threadIdx.x == 31) x[blockIdx.x] = 7;"}});
    const Array<std::int32_t> x(device(), {0, 0, 0, 0});
    std::string text = failure(device(), kernels[0], x, block, shared_bytes);
    EXPECT_EQ(failure(device(), kernels[1], x), "no error");
    EXPECT_EQ(x.read(), (std::vector<std::int32_t>{7, 7, 7, 0}));
    return text;
  }
};
CONFORMANCE_SUITE(FaultTest);

std::string hexadecimal(std::uint64_t address) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(address));
  return text.data();
}

TEST_P(FaultTest, TheElementBehindABufferAndWhoTouchedIt) {
  const Kernels kernels =
      load({{"kernel",
             {output("x", ScalarType::I32)},
             "int i = threadIdx.y * blockDim.x + threadIdx.x;\n"
             "__syncthreads();\n"
             "x[blockIdx.x == 2 && threadIdx.x == 7 && threadIdx.y == 3 ? 64 : i % 64] = 1;"}});
  const Array<std::int32_t> x(device(), std::vector<std::int32_t>(64, 0));
  EXPECT_EQ(failure(device(), kernels[0], x, {8, 8, 1}),
            "test.cgraph:1: node: memory fault at address " + hexadecimal(x.slot(64)) +
                " in block (2, 0, 0), thread (7, 3, 0)");
}

TEST_P(FaultTest, TheElementBeforeALargeBuffer) {
  const Kernels kernels =
      load({{"kernel", {output("x", ScalarType::I32)}, "x[-1 - (int)threadIdx.x] = 1;"}});
  const Array<std::int32_t> x(device(), std::vector<std::int32_t>(1 << 16, 0));
  EXPECT_THAT(failure(device(), kernels[0], x), HasSubstr("memory fault at address 0x"));
}

TEST_P(FaultTest, WildPointers) {
  EXPECT_THAT(failure_of("if (blockIdx.x == 1 && threadIdx.x == 9) *(volatile int *)nullptr = 1;"),
              AllOf(StartsWith("test.cgraph:1: node: "),
                    HasSubstr("memory fault at address 0x0 in block (1, 0, 0), "
                              "thread (9, 0, 0)")));
  EXPECT_THAT(failure_of("if (threadIdx.x == 9) x[0] = *(volatile int *)0x0123456789ABCDEFull;"),
              HasSubstr("memory fault"));
}

TEST_P(FaultTest, TheEndOfDynamicSharedMemory) {
  EXPECT_THAT(failure_of("extern __shared__ int s[]; s[threadIdx.x == 3 ? 128 : threadIdx.x] = 1;",
                         {32, 1, 1}, 512),
              AllOf(HasSubstr("memory fault at address"), HasSubstr("thread (3, 0, 0)")));
  EXPECT_THAT(failure_of("extern __shared__ int s[]; s[threadIdx.x] = 1;"),
              HasSubstr("memory fault at address"));
}

TEST_P(FaultTest, StackOverflow) {
  const std::string overflow = "stack overflow (more than 256 KiB) in block (";
  EXPECT_THAT(failure_of("struct Deep { static int sum(int n, volatile int *x) {\n"
                         "  volatile int a[100]; a[n % 100] = x[0];\n"
                         "  return n == 0 ? 0 : sum(n - 1, x) + a[n % 100]; } };\n"
                         "if (threadIdx.x == 5) x[0] = Deep::sum(1 << 20, x);"),
              AllOf(HasSubstr(overflow), HasSubstr("thread (5, 0, 0)")));
  EXPECT_THAT(failure_of("volatile char large[400 << 10]; large[threadIdx.x] = 1;"),
              HasSubstr(overflow));
}

TEST_P(FaultTest, DivisionByZero) {
#ifndef __x86_64__
  GTEST_SKIP() << "no trap on this machine";
#endif
  EXPECT_THAT(failure_of("if (threadIdx.x == 4) x[0] = (int)threadIdx.x / x[3];"),
              AllOf(HasSubstr("integer division by zero"), HasSubstr("thread (4, 0, 0)")));
}

TEST_P(FaultTest, IllegalInstruction) {
  EXPECT_THAT(failure_of("if (threadIdx.x == 4) __builtin_trap();"),
              AllOf(HasSubstr(" instruction in block ("), HasSubstr("thread (4, 0, 0)")));
}

TEST_P(FaultTest, ThreadsThatWaitForEverAreToldOf) {
  const std::string stuck = "threads wait for each other for ever "
                            "(a barrier that not all threads reach)";
  EXPECT_THAT(failure_of("if (threadIdx.x == 0) __syncthreads(); else __syncwarp();"),
              HasSubstr(stuck));
  EXPECT_THAT(failure_of("if (threadIdx.x < 16) __syncwarp(~0u);\n"
                         "else { __syncwarp(0xFFFF0000u); __syncthreads(); }"),
              HasSubstr(stuck));
  EXPECT_THAT(
      failure_of("if (threadIdx.x == 40) __syncwarp(3u << 8); else __syncthreads();", {64, 1, 1}),
      HasSubstr(stuck));
  EXPECT_THAT(failure_of("if (threadIdx.x == 4) __syncwarp(8u);"),
              HasSubstr("a warp function whose mask lacks the calling thread in block ("));
}

TEST_P(FaultTest, DevicesFaultAtTheSameTime) {
  const auto program =
      compile({{"kernel",
                {output("x", ScalarType::I32)},
                "__syncthreads(); if (threadIdx.x == x[1]) *(volatile int *)nullptr = 1;"}},
              target());
  std::array<std::thread, 3> launchers;
  for (std::int32_t id = 0; id < 3; ++id) {
    launchers[static_cast<std::size_t>(id)] = std::thread([&, id] {
      const auto own = make_device(static_cast<std::uint64_t>(id));
      const Kernels kernels(*own, program);
      const Array<std::int32_t> x(*own, {0, id});
      for (int round = 0; round < 20; ++round) {
        EXPECT_THAT(failure(*own, kernels[0], x),
                    HasSubstr(", thread (" + std::to_string(id) + ", 0, 0)"));
      }
    });
  }
  for (std::thread &launcher : launchers) {
    launcher.join();
  }
}

volatile std::sig_atomic_t foreign_signals = 0;
void count_signal(int /*signal*/) {
  foreign_signals = foreign_signals + 1;
}

/// While a kernel runs, and after it, a fault elsewhere goes to the handler of the program.
TEST_P(FaultTest, HandlersOfTheProgramStayInForce) {
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = count_signal;
  sigaction(SIGSEGV, &action, &old);
  foreign_signals = 0;

  const Kernels kernels = load({{"kernel",
                                 {output("x", ScalarType::I32)},
                                 "volatile int *flags = x;\n"
                                 "flags[0] = 1;\n"
                                 "while (flags[1] == 0) {}\n"}});
  Array<std::int32_t> x(device(), {0, 0});
  std::string text;
  std::thread launcher([&] { text = failure(device(), kernels[0], x, {}); });
  const auto *begun = reinterpret_cast<const volatile std::int32_t *>(x.data());
  while (*begun == 0) {
    std::this_thread::yield();
  }
  raise(SIGSEGV);
  EXPECT_EQ(foreign_signals, 1);
  x.write({1, 1});
  launcher.join();
  EXPECT_EQ(text, "no error");

  EXPECT_THAT(failure_of("*(volatile int *)nullptr = 1;"), HasSubstr("memory fault"));
  struct sigaction after {};
  sigaction(SIGSEGV, &old, &after);
  EXPECT_EQ(after.sa_handler, count_signal);
  EXPECT_EQ(foreign_signals, 1);
  stack_t stack{};
  sigaltstack(nullptr, &stack);
  EXPECT_NE(stack.ss_flags & SS_DISABLE, 0);
}

/// More buffers than a process has mappings for.
TEST_P(FaultTest, ManySmallBuffers) {
  std::vector<std::unique_ptr<cgrt::Memory>> buffers;
  for (int i = 0; i < 100'000; ++i) {
    buffers.push_back(device().allocate(MemorySpace::Device, 8));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(buffers.back()->data()) % 256, 0U);
    ASSERT_EQ(std::to_integer<int>(buffers.back()->data()[7]), 0xFF);
  }
}

} // namespace conformance
