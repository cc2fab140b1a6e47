// What launching a graph costs through cgrt, beside the same graph built by hand and launched with
// cudaGraphLaunch alone, in one process and in turns. Prints a table; the ratios are what counts.
//
//   gpu_launch [REPETITIONS]     400 by default
//
// The graph is a chain of n kernels that do nothing. `call` is the CPU time of the launch call,
// `done` the time from before the launch until the GPU has finished. Medians, in microseconds.
#include <cgrt/cgrt.h>

#include "device.h"
#include "gpu/ptx_program.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using cgrt::format::Dependency;
using cgrt::format::ExprId;
using cgrt::format::KernelId;
using cgrt::format::KernelWork;
using cgrt::format::Node;
using cgrt::format::NodeId;
using cgrt::format::Value;
using Clock = std::chrono::steady_clock;

void require(cudaError_t result, const char *call) {
  if (result != cudaSuccess) {
    throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(result));
  }
}

/// The chain as a program of cgrt.
std::shared_ptr<const cgrt::format::Program> chain_program(std::uint32_t nodes) {
  auto program = std::make_shared<cgrt::format::Program>(cgrt::testing::ptx_program());
  const ExprId one = program->exprs.constant(Value::of(std::int64_t{1}));
  const ExprId zero = program->exprs.constant(Value::of(std::int64_t{0}));
  cgrt::format::Graph graph;
  graph.name = "main";
  for (std::uint32_t index = 0; index < nodes; ++index) {
    Node node;
    node.work = KernelWork{KernelId{static_cast<std::uint32_t>(cgrt::testing::PtxKernel::Nothing)},
                           {one, one, one},
                           {one, one, one},
                           zero,
                           {one, one, one},
                           zero,
                           zero,
                           {}};
    if (index > 0) {
      node.dependencies.push_back(Dependency{NodeId{index - 1}, {}});
    }
    graph.nodes.push_back(std::move(node));
  }
  program->graphs.push_back(std::move(graph));
  return program;
}

/// The chain built by hand.
class BareGraph {
public:
  explicit BareGraph(std::uint32_t nodes) {
    require(cudaLibraryLoadData(&library_, std::string(cgrt::testing::ptx_source).c_str(), nullptr,
                                nullptr, 0, nullptr, nullptr, 0),
            "cudaLibraryLoadData");
    cudaKernel_t kernel = nullptr;
    require(cudaLibraryGetKernel(&kernel, library_, "nothing"), "cudaLibraryGetKernel");
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    cudaGraph_t graph = nullptr;
    require(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
    cudaGraphNode_t last = nullptr;
    for (std::uint32_t index = 0; index < nodes; ++index) {
      cudaGraphNodeParams params = {};
      params.type = cudaGraphNodeTypeKernel;
      params.kernel.func = kernel;
      params.kernel.gridDim = {1, 1, 1};
      params.kernel.blockDim = {1, 1, 1};
      const cudaGraphNode_t before = last;
      require(cudaGraphAddNode(&last, graph, &before, nullptr, index == 0 ? 0 : 1, &params),
              "cudaGraphAddNode");
    }
    require(cudaGraphInstantiate(&executable_, graph, 0), "cudaGraphInstantiate");
    require(cudaGraphUpload(executable_, stream_), "cudaGraphUpload");
    require(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }

  // It lives as long as the process, which returns everything.
  void launch() { require(cudaGraphLaunch(executable_, stream_), "cudaGraphLaunch"); }
  void wait() { require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

private:
  cudaLibrary_t library_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

struct Times {
  std::vector<double> call;
  std::vector<double> done;
};

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

template <typename Graph> void measure(Graph &graph, Times &times) {
  const auto start = Clock::now();
  graph.launch();
  const auto launched = Clock::now();
  graph.wait();
  times.call.push_back(microseconds(launched - start));
  times.done.push_back(microseconds(Clock::now() - start));
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void compare(std::uint32_t nodes, int repetitions) {
  const cgrt::Program program(chain_program(nodes));
  cgrt::Instance instance(program, cgrt::Device::cuda());
  cgrt::Executable ours = instance.executable();
  BareGraph bare(nodes);
  Times our_times;
  Times bare_times;
  for (int warm = 0; warm < 20; ++warm) {
    Times ignored;
    measure(ours, ignored);
    measure(bare, ignored);
  }
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    measure(ours, our_times);
    measure(bare, bare_times);
  }
  const double our_call = median(our_times.call);
  const double bare_call = median(bare_times.call);
  const double our_done = median(our_times.done);
  const double bare_done = median(bare_times.done);
  std::printf("%7u %10.2f %10.2f %7.2f %12.2f %10.2f %7.2f\n", nodes, our_call, bare_call,
              our_call / bare_call, our_done, bare_done, our_done / bare_done);
}

int run(int repetitions) {
  std::string why_none;
  if (cgrt::cuda_device_count(&why_none) == 0) {
    std::printf("skipped: %s\n", why_none.c_str());
    return 77;
  }
  std::printf("%s, %d repetitions, medians in microseconds\n", cgrt::Device::cuda().name().c_str(),
              repetitions);
  std::printf("%7s %10s %10s %7s %12s %10s %7s\n", "kernels", "cgrt call", "bare call", "ratio",
              "cgrt done", "bare done", "ratio");
  for (const std::uint32_t nodes : {1U, 10U, 100U, 1'000U}) {
    compare(nodes, repetitions);
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    const int repetitions = argc > 1 ? std::atoi(argv[1]) : 400;
    if (repetitions < 1) {
      std::fprintf(stderr, "usage: gpu_launch [REPETITIONS]\n");
      return 2;
    }
    return run(repetitions);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "gpu_launch: %s\n", error.what());
    return 3;
  }
}
