// What control flow costs through cgrt: the graphs of control.cgraph against graphs made by hand of
// conditional nodes, and loops also against a loop on the CPU that launches, copies the count back,
// waits and decides. All run in one process and in turns; values are checked before and after.
// Prints tables of medians in microseconds; the ratios are what counts.
//
//   CGRAPH_BUNDLES=FOLDER gpu_control [REPETITIONS]     100 by default, 40 times that for short
//                                                       graphs; FOLDER holds control.cgb
//
// Exit status: 0 done, 1 a wrong value or an error, 2 wrong usage, 77 no GPU. Should a graph never
// end, the program aborts.
#include <cgrt/cgrt.h>

#include "bench/bare_graph.h"
#include "bench/gpu_bench.h"
#include "control_kernels.h"
#include "device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using bench::median;

using bare::Kernel;
using bare::require;
using bare::Sequence;
using Clock = std::chrono::steady_clock;
using Handle = cudaGraphConditionalHandle;
using Params = std::map<std::string, cgrt::Scalar>;

constexpr unsigned width = 2048; ///< elements of the array that `add` adds to, 8 blocks of 256
constexpr int few = 10;          ///< iterations of a short loop, which is taken off a long one
constexpr int many = 1'000;
constexpr int rows = 10; ///< iterations of the outer of two loops
constexpr int columns = 100;
constexpr unsigned cases = 16;
constexpr std::chrono::seconds most_for_one{5}; ///< comparison
constexpr std::chrono::seconds most_for_all{110};

/// A graph that never ends keeps the thread that waits for it for ever.
void start_watchdog() {
  std::thread([] {
    std::this_thread::sleep_for(most_for_all);
    std::fputs("gpu_control: it takes too long; does a graph not end?\n", stderr);
    std::abort();
  }).detach();
}

/// What the graphs work on.
struct Values {
  int it = 0, inner = 0, total = 0;
  std::vector<int> x;
};

constexpr int wiped = -1; ///< every value before the first launch

/// What launches leave: each sets the first three (or leaves them wiped), each adds to all of x.
struct Expected {
  int it = wiped, inner = wiped, total = wiped, added_to_x = 0;
};

/// What is measured.
struct Contestant {
  std::string name;
  std::function<void()> run; ///< from launch to done
  std::function<void()> wipe;
  std::function<Values()> read;
  Expected expected;
  int launches = 0;
  std::vector<double> microseconds = {};

  double time() const { return median(microseconds); }
};

/// Throws where the launches since the last wipe did not leave what they should.
void check(const Contestant &contestant) {
  const auto require_value = [&](const char *name, int value, int expected) {
    if (value != expected) {
      throw std::runtime_error(contestant.name + ", after " + std::to_string(contestant.launches) +
                               " launches: " + name + " is " + std::to_string(value) + ", not " +
                               std::to_string(expected));
    }
  };
  const Values values = contestant.read();
  const Expected &expected = contestant.expected;
  require_value("it", values.it, expected.it);
  require_value("inner", values.inner, expected.inner);
  require_value("total", values.total, expected.total);
  for (const int x : values.x) {
    require_value("an element of x", x, wiped + contestant.launches * expected.added_to_x);
  }
}

double run_once(Contestant &contestant) {
  const auto start = Clock::now();
  contestant.run();
  const std::chrono::duration<double, std::micro> took = Clock::now() - start;
  ++contestant.launches;
  return took.count();
}

/// Checks values before and after. Ends early rather than taking longer than it may.
void measure(std::vector<Contestant> &all, int repetitions) {
  for (Contestant &contestant : all) {
    contestant.wipe();
    run_once(contestant);
    check(contestant);
  }
  const int warm_ups = std::max(3, repetitions / 100);
  const auto start = Clock::now();
  int repetition = -warm_ups;
  for (; repetition < repetitions && (repetition < 1 || Clock::now() - start < most_for_one);
       ++repetition) {
    // Nobody always follows the same one.
    const bool backwards = repetition % 2 != 0;
    for (std::size_t turn = 0; turn < all.size(); ++turn) {
      Contestant &next = all[backwards ? all.size() - 1 - turn : turn];
      const double took = run_once(next);
      if (repetition >= 0) {
        next.microseconds.push_back(took);
      }
    }
  }
  if (repetition < repetitions) {
    std::printf("(for want of time %d repetitions only:)\n", repetition);
  }
  std::for_each(all.begin(), all.end(), check);
}

// ---- Through cgrt

class Compiled {
public:
  explicit Compiled(const std::string &bundle)
      : program_(cgrt::Program::from_file(bundle)), device_(cgrt::Device::cuda()) {}

  Contestant graph(const std::string &name, const Params &params, const Expected &expected) const {
    const auto instance = std::make_shared<cgrt::Instance>(program_, device_, params);
    const auto executable = std::make_shared<cgrt::Executable>(instance->executable(name));
    return {"cgrt's " + name,
            [executable] {
              executable->launch();
              executable->wait();
            },
            [instance] { wipe(*instance); }, [instance] { return read(*instance); }, expected};
  }

private:
  static void wipe(cgrt::Instance &instance) {
    const std::vector<int> values(width, wiped);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
    for (const char *scalar : {"it", "inner", "total"}) {
      instance.write(scalar, bytes.first(sizeof(int)));
    }
    instance.write("x", bytes);
  }
  static std::vector<int> read(const cgrt::Instance &instance, const char *buffer) {
    const std::vector<std::byte> bytes = instance.read(buffer);
    std::vector<int> values(bytes.size() / sizeof(int));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  static Values read(const cgrt::Instance &instance) {
    return {read(instance, "it").at(0), read(instance, "inner").at(0),
            read(instance, "total").at(0), read(instance, "x")};
  }

  cgrt::Program program_;
  cgrt::Device device_;
};

// ---- By hand

/// The values of one contestant; each scalar has a sector of the cache for itself.
class Memory {
public:
  Memory() {
    void *memory = nullptr;
    require(cudaMalloc(&memory, count * sizeof(int)), "cudaMalloc");
    first_ = static_cast<int *>(memory);
  }

  int *it() const { return first_; }
  int *inner() const { return first_ + 8; }
  int *total() const { return first_ + 16; }
  int *x() const { return first_ + 32; }

  void wipe() const {
    static_assert(wiped == -1, "that is what all its bytes are");
    require(cudaMemset(first_, 0xFF, count * sizeof(int)), "cudaMemset");
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  Values read() const {
    std::vector<int> all(count);
    require(cudaMemcpy(all.data(), first_, count * sizeof(int), cudaMemcpyDeviceToHost),
            "cudaMemcpy");
    return {all[0], all[8], all[16], {all.begin() + 32, all.end()}};
  }

private:
  static constexpr std::size_t count = 32 + width;
  int *first_ = nullptr;
};

using Record = std::function<void(Sequence &, const Memory &)>;

Contestant by_hand(const bare::Device &device, const std::string &name, const Record &record,
                   const Expected &expected) {
  const Memory memory;
  cudaGraph_t graph = nullptr;
  require(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
  Sequence top(graph);
  record(top, memory);
  cudaGraphExec_t executable = nullptr;
  require(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  require(cudaGraphUpload(executable, device.stream()), "cudaGraphUpload");
  device.wait();
  return {name + " by hand",
          [&device, executable] {
            require(cudaGraphLaunch(executable, device.stream()), "cudaGraphLaunch");
            device.wait();
          },
          [memory] { memory.wipe(); }, [memory] { return memory.read(); }, expected};
}

// ---- Loops

/// Adds a body to a loop over `it`; one of its kernels sets the handle.
using RecordBody = std::function<void(Sequence &, Handle, int n, const Memory &)>;
/// Launches a body that adds 1 to `it`.
using LaunchBody = std::function<void(const Memory &)>;

Contestant loop_by_hand(const bare::Device &device, const RecordBody &record_body, int n,
                        const Expected &expected) {
  return by_hand(
      device, "a loop",
      [&](Sequence &top, const Memory &memory) {
        const Handle handle = top.handle();
        top.kernel(device.kernel("put", 1, 32), 0, memory.it());
        top.kernel(device.kernel("set_less"), handle, n, memory.it());
        record_body(top.conditional(cudaGraphCondTypeWhile, handle).front(), handle, n, memory);
      },
      expected);
}

Contestant loop_on_host(const bare::Device &device, const LaunchBody &launch_body, int n,
                        const Expected &expected) {
  const Memory memory;
  void *pinned = nullptr;
  require(cudaMallocHost(&pinned, sizeof(int)), "cudaMallocHost");
  int *count = static_cast<int *>(pinned);
  const Kernel put = device.kernel("put", 1, 32);
  return {"a loop on the host",
          [&device, launch_body, n, memory, put, count] {
            device.launch(put, 0, memory.it());
            *count = 0;
            for (int iterations = 0; *count < n && iterations < n; ++iterations) {
              launch_body(memory);
              require(cudaMemcpyAsync(count, memory.it(), sizeof(int), cudaMemcpyDeviceToHost,
                                      device.stream()),
                      "cudaMemcpyAsync");
              device.wait();
            }
          },
          [memory] { memory.wipe(); }, [memory] { return memory.read(); }, expected};
}

struct LoopByHand {
  const char *name;
  RecordBody body;
};

struct Loop {
  const char *graph;               ///< of control.cgraph
  int added_to_x;                  ///< by one iteration
  std::vector<LoopByHand> by_hand; ///< the first one is like the graph
  LaunchBody on_host;
};

void compare(const Compiled &compiled, const bare::Device &device, const Loop &loop,
             int repetitions) {
  std::vector<Contestant> all; // each with few and with many iterations
  for (const int n : {few, many}) {
    const Expected expected{.it = n, .added_to_x = n * loop.added_to_x};
    all.push_back(compiled.graph(loop.graph, {{"n", std::int64_t{n}}}, expected));
    all.push_back(loop_on_host(device, loop.on_host, n, expected));
    for (const LoopByHand &hand : loop.by_hand) {
      all.push_back(loop_by_hand(device, hand.body, n, expected));
    }
  }
  measure(all, repetitions);
  const auto iteration = [&all](std::size_t index) {
    return (all[index + all.size() / 2].time() - all[index].time()) / (many - few);
  };
  const double ours = iteration(0);
  const double host = iteration(1);
  for (std::size_t index = 0; index < loop.by_hand.size(); ++index) {
    const double hand = iteration(2 + index);
    std::printf("%-46s %8.3f %8.3f %7.3f", loop.by_hand[index].name, ours, hand, ours / hand);
    if (index == 0) {
      std::printf("   1.05 %10.3f %7.3f   0.45", host, ours / host);
    }
    std::printf("\n");
  }
  std::fflush(stdout);
}

Loop assign_loop(const bare::Device &device) {
  const Kernel step = device.kernel("step");
  const Kernel step_and_set = device.kernel("step_and_set");
  return {"assign",
          0,
          {{"assignment / kernel that sets the condition",
            [=](Sequence &body, Handle handle, int n, const Memory &memory) {
              body.kernel(step_and_set, handle, n, memory.it());
            }}},
          [=, &device](const Memory &memory) { device.launch(step, memory.it()); }};
}

Loop call_loop(const bare::Device &device) {
  const Kernel step = device.kernel("step", 1, 32);
  const Kernel step_and_set = device.kernel("step_and_set", 1, 32);
  const Kernel set = device.kernel("set_less");
  return {"call",
          0,
          {{"kernel / kernel, setter",
            [=](Sequence &body, Handle handle, int n, const Memory &memory) {
              body.kernel(step, memory.it());
              body.kernel(set, handle, n, memory.it());
            }},
           {"kernel / kernel that sets the condition",
            [=](Sequence &body, Handle handle, int n, const Memory &memory) {
              body.kernel(step_and_set, handle, n, memory.it());
            }}},
          [=, &device](const Memory &memory) { device.launch(step, memory.it()); }};
}

Loop wide_loop(const bare::Device &device) {
  const Kernel add = device.kernel("add", 8, 256);
  const Kernel step = device.kernel("step");
  const Kernel step_and_set = device.kernel("step_and_set");
  return {"wide",
          1,
          {{"8 blocks, assignment / in a row",
            [=](Sequence &body, Handle handle, int n, const Memory &memory) {
              body.kernel(add, memory.x());
              body.kernel(step_and_set, handle, n, memory.it());
            }},
           {"8 blocks, assignment / side by side",
            [=](Sequence &body, Handle handle, int n, const Memory &memory) {
              body.kernel(add, memory.x());
              body.begin_anew();
              body.kernel(step_and_set, handle, n, memory.it());
            }}},
          [=, &device](const Memory &memory) {
            device.launch(add, memory.x());
            device.launch(step, memory.it());
          }};
}

// ---- Graphs as a whole

void compare(const char *name, Contestant ours, Contestant by_hand, int repetitions) {
  std::vector<Contestant> all = {std::move(ours), std::move(by_hand)};
  measure(all, repetitions);
  const double our_time = all[0].time();
  const double their_time = all[1].time();
  std::printf("%-46s %8.2f %8.2f %7.3f   1.05\n", name, our_time, their_time,
              our_time / their_time);
  std::fflush(stdout);
}

void compare_branch(const Compiled &compiled, const bare::Device &device, bool taken,
                    int repetitions) {
  const int limit = taken ? 0 : 1;
  const Expected expected{.it = taken ? 3 : 2};
  const Record record = [&device, limit](Sequence &top, const Memory &memory) {
    const Kernel step = device.kernel("step", 1, 32);
    const Handle handle = top.handle();
    top.kernel(device.kernel("put", 1, 32), 1, memory.it());
    top.kernel(device.kernel("set_greater"), handle, limit, memory.it());
    top.conditional(cudaGraphCondTypeIf, handle).front().kernel(step, memory.it());
    top.kernel(step, memory.it());
  };
  compare(taken ? "if, taken" : "if, not taken",
          compiled.graph("branch", {{"limit", std::int64_t{limit}}}, expected),
          by_hand(device, "a branch", record, expected), repetitions);
}

void compare_choice(const Compiled &compiled, const bare::Device &device, int choice,
                    int repetitions) {
  const bool matches = choice >= 0 && choice < static_cast<int>(cases);
  const Expected expected{.it = matches ? 100 + choice : choice};
  const Record record = [&device, choice](Sequence &top, const Memory &memory) {
    const Kernel put = device.kernel("put", 1, 32);
    const Handle handle = top.handle();
    top.kernel(put, choice, memory.it());
    top.kernel(device.kernel("set_case"), handle, memory.it());
    int value = 100;
    for (Sequence &body : top.conditional(cudaGraphCondTypeSwitch, handle, cases)) {
      body.kernel(put, value++, memory.it());
    }
  };
  const std::string name =
      "switch of 16, " + (matches ? "case " + std::to_string(choice) : "no case");
  compare(name.c_str(), compiled.graph("choose", {{"choice", std::int64_t{choice}}}, expected),
          by_hand(device, "a choice", record, expected), repetitions);
}

void compare_nested(const Compiled &compiled, const bare::Device &device, int repetitions) {
  const Expected expected{.it = rows, .inner = columns, .total = rows * columns};
  const Record record = [&device](Sequence &top, const Memory &memory) {
    const Kernel put = device.kernel("put", 1, 32);
    const Handle outer = top.handle();
    top.kernel(put, 0, memory.it());
    top.kernel(put, 0, memory.total());
    top.kernel(device.kernel("set_less"), outer, rows, memory.it());
    Sequence row = top.conditional(cudaGraphCondTypeWhile, outer).front();
    const Handle inner = row.handle();
    row.kernel(device.kernel("put_and_set"), inner, columns, memory.inner());
    row.conditional(cudaGraphCondTypeWhile, inner)
        .front()
        .kernel(device.kernel("step_both_and_set"), inner, columns, memory.inner(), memory.total());
    row.kernel(device.kernel("step_and_set"), outer, rows, memory.it());
  };
  compare("while in while, 10 x 100",
          compiled.graph("nested",
                         {{"rows", std::int64_t{rows}}, {"columns", std::int64_t{columns}}},
                         expected),
          by_hand(device, "a nest", record, expected), repetitions);
}

void run(const std::string &bundle, int repetitions) {
  start_watchdog();
  const Compiled compiled(bundle);
  const bare::Device device(embedded::control_kernels_control_kernels_fatbin);
  std::printf("%s, %d repetitions, medians in microseconds; beside a ratio its goal\n",
              cgrt::Device::cuda().name().c_str(), repetitions);
  std::printf("\nwhile: one iteration, from loops of %d and of %d\n", many, few);
  std::printf("%-46s %8s %8s %7s %6s %10s %7s %6s\n", "cgrt / by hand", "cgrt", "by hand", "ratio",
              "goal", "host loop", "ratio", "goal");
  for (const Loop &loop : {assign_loop(device), call_loop(device), wide_loop(device)}) {
    compare(compiled, device, loop, repetitions);
  }
  const int more = 40 * repetitions;
  std::printf("\nwhole graphs, from launch to done; %d repetitions but for the last one\n", more);
  std::printf("%-46s %8s %8s %7s %6s\n", "graph", "cgrt", "by hand", "ratio", "goal");
  compare_branch(compiled, device, true, more);
  compare_branch(compiled, device, false, more);
  for (const int choice : {0, 7, 15, 99}) {
    compare_choice(compiled, device, choice, more);
  }
  compare_nested(compiled, device, repetitions);
}

} // namespace

int main(int argc, char **argv) {
  return bench::main(argc, argv, "gpu_control", 100, "control.cgb", run);
}
