// What a change costs through cgrt, beside the same calls by hand: Instance::set() of a param that
// 1, 10 and 100 of 1,000 kernel nodes use, and Instance::bind() of a buffer of 100 of them, against
// cudaGraphExecKernelNodeSetParams of exactly those nodes, against making the executable anew, and
// against cudaGraphExecUpdate of the whole graph. In one process and in turns; medians in
// microseconds of the calls alone after a launch, of the calls with the next launch until it is
// done, and of each of 20 changes in a row, when nothing else has used the caches meanwhile.
//
//   CGRAPH_BUNDLES=FOLDER gpu_update [REPETITIONS]     500 by default; FOLDER holds update.cgb
//
// Exit status: 0 done, 1 a wrong result or an error, 2 wrong usage, 77 no GPU.
#include <cgrt/cgrt.h>

#include "bench/bundle_kernel.h"
#include "bench/gpu_bench.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using bare::require;
using bench::median;
using Clock = std::chrono::steady_clock;

constexpr std::size_t node_count = 1000;
constexpr int warm_ups = 20;

double microseconds(const std::function<void()> &work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// The same graph by hand: node i adds values[i] to the element that targets[i] points to.
class Bare {
public:
  explicit Bare(const cgrt::format::Program &program) : kernel_(bare::load(program, {0})) {
    void *memory = nullptr;
    require(cudaMalloc(&memory, 2 * node_count * sizeof(int)), "cudaMalloc");
    memory_ = static_cast<int *>(memory);
    require(cudaMemset(memory_, 0, 2 * node_count * sizeof(int)), "cudaMemset");
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    for (std::size_t i = 0; i < node_count; ++i) {
      values_[i] = 1;
      targets_[i] = memory_ + i;
    }
    graph_ = make_graph(nodes_);
    require(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
    require(cudaGraphUpload(executable_, stream_), "cudaGraphUpload");
    std::vector<cudaGraphNode_t> others(node_count);
    other_graph_ = make_graph(others);
    other_nodes_ = std::move(others);
  }

  void set_value(std::size_t begin, std::size_t count, int value) {
    for (std::size_t i = begin; i < begin + count; ++i) {
      values_[i] = value;
      set(i);
    }
  }
  void set_target(std::size_t begin, std::size_t count, bool second) {
    for (std::size_t i = begin; i < begin + count; ++i) {
      targets_[i] = memory_ + (second ? node_count : 0) + i;
      set(i);
    }
  }

  /// By way of a graph of which these nodes have been changed.
  void update_whole(std::size_t begin, std::size_t count, int value) {
    for (std::size_t i = begin; i < begin + count; ++i) {
      values_[i] = value;
      const cudaKernelNodeParams params = params_of(i);
      require(cudaGraphKernelNodeSetParams(other_nodes_[i], &params),
              "cudaGraphKernelNodeSetParams");
    }
    cudaGraphExecUpdateResultInfo info = {};
    require(cudaGraphExecUpdate(executable_, other_graph_, &info), "cudaGraphExecUpdate");
  }

  void rebuild(std::size_t begin, std::size_t count, int value) {
    std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>(begin), count, value);
    std::vector<cudaGraphNode_t> nodes(node_count);
    const cudaGraph_t graph = make_graph(nodes);
    cudaGraphExec_t executable = nullptr;
    require(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    require(cudaGraphUpload(executable, stream_), "cudaGraphUpload");
    require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    require(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
    require(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }

  void run() const {
    require(cudaGraphLaunch(executable_, stream_), "cudaGraphLaunch");
    require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

private:
  cudaKernelNodeParams params_of(std::size_t i) {
    arguments_ = {&values_[i], &targets_[i]};
    cudaKernelNodeParams params = {};
    params.func = kernel_;
    params.gridDim = {1, 1, 1};
    params.blockDim = {1, 1, 1};
    params.kernelParams = arguments_.data();
    return params;
  }

  void set(std::size_t i) {
    const cudaKernelNodeParams params = params_of(i);
    require(cudaGraphExecKernelNodeSetParams(executable_, nodes_[i], &params),
            "cudaGraphExecKernelNodeSetParams");
  }

  cudaGraph_t make_graph(std::vector<cudaGraphNode_t> &nodes) {
    cudaGraph_t graph = nullptr;
    require(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
    for (std::size_t i = 0; i < node_count; ++i) {
      const cudaKernelNodeParams params = params_of(i);
      require(cudaGraphAddKernelNode(&nodes[i], graph, nullptr, 0, &params),
              "cudaGraphAddKernelNode");
    }
    return graph;
  }

  cudaKernel_t kernel_;
  int *memory_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::array<int, node_count> values_ = {};
  std::array<int *, node_count> targets_ = {};
  std::array<void *, 2> arguments_ = {};
  std::vector<cudaGraphNode_t> nodes_ = std::vector<cudaGraphNode_t>(node_count);
  std::vector<cudaGraphNode_t> other_nodes_;
  cudaGraph_t graph_ = nullptr;
  cudaGraph_t other_graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

struct Times {
  std::vector<double> calls, with_launch, in_a_row;
};

/// A change in the ways there are to make it.
struct Row {
  const char *name;
  std::size_t begin, count; ///< of the nodes
  std::function<void(int)> ours, by_hand;
  bool others = true; ///< compare with the whole graph, too
  Times our_times = {}, hand_times = {}, whole_times = {}, rebuild_times = {};
};

class Benchmark {
public:
  Benchmark(cgrt::Instance &instance, Bare &bare) : graph_(instance.executable()), bare_(bare) {
    for (const auto &[name, begin, count] :
         {std::tuple("one", 0, 1), {"ten", 1, 10}, {"hundred", 11, 100}}) {
      const auto first = static_cast<std::size_t>(begin);
      const auto nodes = static_cast<std::size_t>(count);
      rows_.push_back(
          {name, first, nodes,
           [&instance, param = std::string(name)](int value) { instance.set(param, value); },
           [&bare, first, nodes](int value) { bare.set_value(first, nodes, value); }});
    }
    void *memory = nullptr;
    require(cudaMalloc(&memory, 1024), "cudaMalloc");
    require(cudaMemset(memory, 0, 1024), "cudaMemset");
    auto *const ints = static_cast<int *>(memory);
    rows_.push_back({"pointer", 111, 100,
                     [&instance, ints](int value) {
                       instance.bind("y", std::span(ints + (value % 2) * 128, 100));
                     },
                     [&bare](int value) { bare.set_target(111, 100, value % 2 != 0); }, false});
  }

  void measure(int repetitions) {
    for (int i = -warm_ups; i < repetitions; ++i) {
      for (Row &row : rows_) {
        const int value = i + warm_ups + 2;
        const auto add = [i](Times &times, const std::function<void()> &call,
                             const std::function<void()> &launch) {
          launch(); // so that each call finds the caches as a launch of its own graph leaves them
          const double calls = microseconds(call);
          const double rest = microseconds(launch);
          if (i >= 0) {
            times.calls.push_back(calls);
            times.with_launch.push_back(calls + rest);
          }
        };
        const auto ours = [&] {
          add(
              row.our_times, [&] { row.ours(value); },
              [&] {
                graph_.launch();
                graph_.wait();
              });
        };
        const auto by_hand = [&] {
          add(
              row.hand_times, [&] { row.by_hand(value); }, [&] { bare_.run(); });
        };
        if (i % 2 == 0) {
          ours();
          by_hand();
        } else {
          by_hand();
          ours();
        }
        const auto repeat = [i, value](Times &times, const std::function<void(int)> &change) {
          constexpr int changes = 20;
          const double all = microseconds([&] {
            for (int change_number = 0; change_number < changes; ++change_number) {
              change(value + 1 + change_number);
            }
          });
          if (i >= 0) {
            times.in_a_row.push_back(all / changes);
          }
        };
        repeat(row.our_times, row.ours);
        repeat(row.hand_times, row.by_hand);
        if (row.others && i % 10 == 0) {
          add(
              row.whole_times, [&] { bare_.update_whole(row.begin, row.count, value); },
              [&] { bare_.run(); });
          add(
              row.rebuild_times, [&] { bare_.rebuild(row.begin, row.count, value); },
              [&] { bare_.run(); });
        }
      }
    }
  }

  void print() const {
    std::printf("%-8s %5s %7s %7s %6s | %7s %7s %6s | %7s %7s %6s | %7s %6s %8s %6s\n", "change",
                "nodes", "cgrt", "by hand", "ratio", "in row", "by hand", "ratio", "+launch",
                "by hand", "ratio", "whole", "ratio", "rebuild", "ratio");
    for (const Row &row : rows_) {
      const double ours = median(row.our_times.calls);
      const double hand = median(row.hand_times.calls);
      const double our_launch = median(row.our_times.with_launch);
      const double hand_launch = median(row.hand_times.with_launch);
      const double our_row = median(row.our_times.in_a_row);
      const double hand_row = median(row.hand_times.in_a_row);
      std::printf("%-8s %5zu %7.2f %7.2f %6.3f | %7.2f %7.2f %6.3f | %7.1f %7.1f %6.3f", row.name,
                  row.count, ours, hand, ours / hand, our_row, hand_row, our_row / hand_row,
                  our_launch, hand_launch, our_launch / hand_launch);
      if (row.others) {
        const double whole = median(row.whole_times.calls);
        const double rebuild = median(row.rebuild_times.calls);
        std::printf(" | %7.1f %6.3f %8.1f %6.4f", whole, ours / whole, rebuild, ours / rebuild);
      }
      std::printf("\n");
    }
    std::printf("goal: at most 1.15 for the first two ratios\n");
  }

private:
  cgrt::Executable graph_;
  Bare &bare_;
  std::vector<Row> rows_;
};

/// One launch with known values adds just these.
void check(cgrt::Instance &instance) {
  cgrt::Executable graph = instance.executable();
  instance.set({{"one", 5}, {"ten", 6}, {"hundred", 7}});
  const auto values = [&] {
    const std::vector<std::byte> bytes = instance.read("x");
    std::vector<int> x(node_count);
    std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<std::byte *>(x.data()));
    return x;
  };
  const std::vector<int> before = values();
  graph.launch();
  graph.wait();
  const std::vector<int> after = values();
  for (std::size_t i = 0; i < node_count; ++i) {
    const int wanted = i < 1 ? 5 : i < 11 ? 6 : i < 111 ? 7 : i < 211 ? 0 : 1;
    if (after[i] - before[i] != wanted) {
      throw std::runtime_error("x[" + std::to_string(i) + "] grew by " +
                               std::to_string(after[i] - before[i]));
    }
  }
}

void run(const std::string &bundle, int repetitions) {
  const cgrt::Program program = cgrt::Program::from_file(bundle);
  cgrt::Instance instance(program, cgrt::Device::cuda());
  instance.write("x", std::vector<std::byte>(node_count * sizeof(int)));
  instance.write("y", std::vector<std::byte>(100 * sizeof(int)));
  check(instance);
  Bare bare(program.contents());
  std::printf("%s: changes of a graph of %zu kernels, %d repetitions, medians in microseconds\n\n",
              cgrt::Device::cuda().name().c_str(), node_count, repetitions);
  Benchmark benchmark(instance, bare);
  benchmark.measure(repetitions);
  check(instance);
  benchmark.print();
}

} // namespace

int main(int argc, char **argv) {
  return bench::main(argc, argv, "gpu_update", 500, "update.cgb", run);
}
