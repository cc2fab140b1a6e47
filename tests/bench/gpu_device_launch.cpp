// What launching from the device brings: the time from a decision in a kernel to the first node of
// the graph it asks for, by `tail`, by `detach`, and where the host polls a flag in mapped memory
// and launches the same graph; a scheduler on the GPU against one on the host; a loop by `tail
// self` against `while`; uneven work by fixed shares against a queue. The first clock is the GPU's
// and starts inside of the deciding kernel. All in one process and in turns; medians; results are
// checked.
//
//   CGRAPH_BUNDLES=FOLDER gpu_device_launch [REPETITIONS]     100 by default; FOLDER holds
//                 device_launch.cgb, scheduler.cgb, decode_loop.cgb, decode_device.cgb,
//                 work_queue.cgb
//
// Exit status: 0 done, 1 a wrong result or an error, 2 wrong usage, 77 no GPU.
#include <cgrt/cgrt.h>

#include "bench/bare_graph.h"
#include "bench/gpu_bench.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using bare::require;
using bench::median;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds most_for_all{100};
constexpr int few_repetitions = 5; ///< of what takes milliseconds

/// A graph that never ends keeps the thread that waits for it for ever.
void start_watchdog() {
  std::thread([] {
    std::this_thread::sleep_for(most_for_all);
    std::fputs("gpu_device_launch: it takes too long; does a graph not end?\n", stderr);
    std::abort();
  }).detach();
}

cgrt::Program load(const std::string &folder, const char *name) {
  return cgrt::Program::from_file(folder + "/" + name + ".cgb");
}

double microseconds(const std::function<void()> &work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double median_of(int repetitions, const std::function<double()> &measure) {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(repetitions));
  for (int i = 0; i < repetitions; ++i) {
    times.push_back(measure());
  }
  return median(std::move(times));
}

void run(cgrt::Executable &graph) {
  graph.launch();
  graph.wait();
}

void expect(bool holds, const char *what) {
  if (!holds) {
    throw std::runtime_error(std::string(what) + " is wrong");
  }
}

/// From a decision on the device to the first node of what it launches.
class Latencies {
public:
  Latencies(const cgrt::Program &program, int repetitions)
      : instance_(program, cgrt::Device::cuda()), decide_(instance_.executable("decide")),
        flag_(instance_.host<std::uint32_t>("flag").data()), repetitions_(repetitions) {
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }

  void print() {
    std::printf("from the decision to the first node, us\n"
                "%-10s %8s %8s %8s %12s %12s\n",
                "graph", "tail", "detach", "host", "tail/host", "detach/host");
    for (const char *graph : {"chain1", "chain10", "chain100", "chain1000", "wide32"}) {
      const auto [tail, detach, host] = measure(graph);
      std::printf("%-10s %8.2f %8.2f %8.2f %12.3f %12.3f\n", graph, tail, detach, host, tail / host,
                  detach / host);
    }
  }

private:
  double between() {
    std::uint64_t decided = 0;
    std::uint64_t begun = 0;
    std::memcpy(&decided, instance_.read("decided").data(), sizeof decided);
    std::memcpy(&begun, instance_.read("begun").data(), sizeof begun);
    expect(begun > decided, "the order of the clocks");
    return static_cast<double>(begun - decided) / 1000;
  }

  double by_device(cgrt::Executable &graph) {
    run(graph);
    return between();
  }

  double by_host(cgrt::Executable &graph) {
    *flag_ = 0;
    decide_.launch();
    while (*flag_ == 0) {
    }
    graph.launch(stream_, cgrt::Order::OfItsStream);
    graph.wait();
    return between();
  }

  /// Medians by tail, by detach and by the host, in turns.
  std::array<double, 3> measure(const std::string &name) {
    std::array<cgrt::Executable, 3> graphs = {instance_.executable("tail_" + name),
                                              instance_.executable("detach_" + name),
                                              instance_.executable("host_" + name)};
    std::array<std::vector<double>, 3> times;
    for (int i = -1; i < repetitions_; ++i) { // the first is not counted
      for (std::size_t way = 0; way < graphs.size(); ++way) {
        const double time = way == 2 ? by_host(graphs[way]) : by_device(graphs[way]);
        if (i >= 0) {
          times[way].push_back(time);
        }
      }
    }
    return {median(times[0]), median(times[1]), median(times[2])};
  }

  cgrt::Instance instance_;
  cgrt::Executable decide_;
  volatile std::uint32_t *flag_;
  cudaStream_t stream_ = nullptr;
  int repetitions_;
};

/// Random kinds and values, the same for every instance.
void fill_items(cgrt::Instance &instance) {
  std::mt19937 random(1);
  for (std::int32_t &kind : instance.host<std::int32_t>("hkinds")) {
    kind = static_cast<std::int32_t>(random() % 3);
  }
  for (std::int32_t &value : instance.host<std::int32_t>("hvalues")) {
    value = static_cast<std::int32_t>(random() >> 1);
  }
}

void compare_schedulers(const std::string &folder) {
  constexpr int items = 10'000;
  cgrt::Instance device(load(folder, "scheduler"), cgrt::Device::cuda(), {{"items", items}});
  cgrt::Instance host(load(folder, "device_launch"), cgrt::Device::cuda(), {{"items", items}});
  fill_items(device);
  fill_items(host);
  cgrt::Executable main = device.executable("main");
  cgrt::Executable begin = host.executable("begin");
  cgrt::Executable claim = host.executable("claim_next");
  cgrt::Executable end = host.executable("end");
  std::vector<cgrt::Executable> kinds = {host.executable("square"), host.executable("mix"),
                                         host.executable("digits")};
  volatile std::uint32_t *const flag = host.host<std::uint32_t>("flag").data();
  const auto by_host = [&] {
    begin.launch();
    for (int item = 0; item < items; ++item) {
      *flag = 0;
      claim.launch();
      while (*flag == 0) {
      }
      kinds[*flag - 1].launch();
    }
    run(end);
  };
  run(main);
  by_host();
  const auto results = device.host<std::uint32_t>("hresults");
  expect(std::ranges::equal(results, host.host<std::uint32_t>("hresults")), "the schedulers' work");
  const double on_device =
      median_of(few_repetitions, [&] { return microseconds([&] { run(main); }); });
  const double on_host = median_of(few_repetitions, [&] { return microseconds(by_host); });
  std::printf("scheduler, %d items: device %.2f us an item, host %.2f; host/device %.2f\n", items,
              on_device / items, on_host / items, on_host / on_device);
}

/// A model that makes the same token until the limit ends it.
void fill_model(cgrt::Instance &instance) {
  constexpr std::size_t width = 64;
  std::ranges::fill(instance.host<std::int8_t>("hembedding"), std::int8_t{1});
  std::ranges::fill(instance.host<std::int8_t>("hrecurrent"), std::int8_t{0});
  const std::span<std::int8_t> output = instance.host<std::int8_t>("houtput");
  std::ranges::fill(output, std::int8_t{0});
  std::ranges::fill(output.subspan(70 * width, width), std::int8_t{1});
}

void compare_loops(const std::string &folder) {
  constexpr int limit = 1'000;
  double times[2] = {};
  std::vector<std::int32_t> tokens[2];
  for (int i = 0; i < 2; ++i) {
    cgrt::Instance instance(load(folder, i == 0 ? "decode_loop" : "decode_device"),
                            cgrt::Device::cuda(), {{"limit", limit}});
    fill_model(instance);
    cgrt::Executable graph = instance.executable();
    run(graph);
    times[i] = median_of(few_repetitions, [&] { return microseconds([&] { run(graph); }); });
    const auto made = instance.host<std::int32_t>("htokens");
    tokens[i].assign(made.begin(), made.end());
  }
  expect(tokens[0] == tokens[1] && tokens[0].back() == 70, "the tokens");
  std::printf("decode, %d tokens: while %.2f us a token, tail self %.2f; ratio %.3f\n", limit,
              times[0] / limit, times[1] / limit, times[1] / times[0]);
}

void compare_queues(const std::string &folder, int repetitions) {
  cgrt::Instance instance(load(folder, "work_queue"), cgrt::Device::cuda());
  const std::span<std::int32_t> cost = instance.host<std::int32_t>("hcost");
  for (std::size_t i = 0; i < cost.size(); ++i) {
    cost[i] = static_cast<std::int32_t>(i / 10);
  }
  cgrt::Executable main = instance.executable();
  run(main);
  expect(std::ranges::equal(instance.host<std::uint32_t>("hfixed"),
                            instance.host<std::uint32_t>("hqueued")),
         "the queue's work");
  double times[2] = {};
  for (int i = 0; i < 2; ++i) {
    cgrt::Executable graph = instance.executable(i == 0 ? "fixed" : "queued");
    run(graph);
    times[i] = median_of(repetitions, [&] {
      run(graph);
      return 1000 * graph.elapsed("begun", "done");
    });
  }
  std::printf("work_queue: fixed shares %.1f us, from a queue %.1f; fixed/queue %.2f\n", times[0],
              times[1], times[0] / times[1]);
}

} // namespace

int main(int argc, char **argv) {
  return bench::main(argc, argv, "gpu_device_launch", 100, "",
                     [](const std::string &folder, int repetitions) {
                       start_watchdog();
                       Latencies(load(folder, "device_launch"), repetitions).print();
                       compare_schedulers(folder);
                       compare_loops(folder);
                       compare_queues(folder, repetitions);
                     });
}
