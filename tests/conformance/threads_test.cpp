// Many threads, one instance or several. Under ThreadSanitizer these are what it looks at.
#include "hand_made.h"
#include "text_program.h"

#include <atomic>
#include <thread>

namespace conformance {

class ThreadsTest : public ProgramsUnderTest {
protected:
  static constexpr int threads = 8;

  /// Runs `work(thread)` on all of them and fails for what they throw.
  template <typename Work> static void on_all(const Work &work) {
    std::vector<std::thread> all;
    all.reserve(threads);
    std::atomic<int> errors = 0;
    for (int thread = 0; thread < threads; ++thread) {
      all.emplace_back([&, thread] {
        try {
          work(thread);
        } catch (const std::exception &error) {
          ++errors;
          std::fprintf(stderr, "thread %d: %s\n", thread, error.what());
        }
      });
    }
    for (std::thread &each : all) {
      each.join();
    }
    EXPECT_EQ(errors, 0);
  }

  static constexpr const char *counting = R"(
    param step: i32 = 1;
    device inout x: i32[1];
    kernel add(step: i32, x: inout i32[1]) grid(1) block(1) cuda { x[0] += step; }
    graph main { add(step, x); })";
};
CONFORMANCE_SUITE(ThreadsTest);

TEST_P(ThreadsTest, LaunchesOfOneExecutableAllCount) {
  cgrt::Instance instance(compile_text(counting), place());
  write_words(instance, "x", {0});
  cgrt::Executable graph = instance.executable();
  on_all([&](int) {
    for (int i = 0; i < 1000; ++i) {
      graph.launch();
      if (i % 100 == 99) {
        graph.wait();
      }
    }
  });
  graph.wait();
  EXPECT_EQ(read_words(instance, "x")[0], 8000U);
}

TEST_P(ThreadsTest, InstancesOfOneDeviceAreIndependent) {
  const cgrt::Program program = compile_text(counting);
  const cgrt::Device device = place();
  std::vector<std::uint32_t> results(threads);
  on_all([&](int thread) {
    cgrt::Instance instance(program, device, {{"step", thread}});
    write_words(instance, "x", {0});
    cgrt::Executable graph = instance.executable();
    for (int i = 0; i < 100; ++i) {
      instance.set("step", thread + i);
      graph.launch();
    }
    graph.wait();
    results[static_cast<std::size_t>(thread)] = read_words(instance, "x")[0];
  });
  for (int thread = 0; thread < threads; ++thread) {
    EXPECT_EQ(results[static_cast<std::size_t>(thread)],
              static_cast<std::uint32_t>(100 * thread + 4950));
  }
}

TEST_P(ThreadsTest, UpdatesAndLaunchesMixWhole) {
  // Both nodes have the same value at each launch, whoever changes it meanwhile.
  cgrt::Instance instance(compile_text(R"(
    param v: i32 = 0;
    device inout x: i32[3];
    kernel put(v: i32, x: out i32[1]) grid(1) block(1) cuda { x[0] = v; }
    kernel differ(x: inout i32[3]) grid(1) block(1) cuda { if (x[0] != x[1]) x[2] += 1; }
    graph main { put(v, x[0]); put(v, x[1]); differ(x); })"),
                          place());
  write_words(instance, "x", {0, 0, 0});
  cgrt::Executable graph = instance.executable();
  on_all([&](int thread) {
    for (int i = 0; i < 200; ++i) {
      if (thread % 2 == 0) {
        instance.set("v", thread * 1000 + i);
      } else {
        graph.launch();
      }
    }
  });
  graph.wait();
  EXPECT_EQ(read_words(instance, "x")[2], 0U);
}

} // namespace conformance
