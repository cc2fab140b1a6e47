// What cgrt costs beside CUDA alone: launching a graph, and building and instantiating one. The
// same graphs are made by hand with bare CUDA calls; both run in one process and in turns. Prints
// tables of medians in microseconds; the ratios are what counts.
//
//   gpu_launch [REPETITIONS]     400 by default, ten times that for small graphs; below 100 the
//                                builds are small
//
// All kernels do nothing. A chain runs them one after the other, a fan-out has one before all
// others.
#include <cgrt/cgrt.h>

#include "bench/gpu_bench.h"
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

using bench::median;

using cgrt::format::Dependency;
using cgrt::format::ExprId;
using cgrt::format::KernelId;
using cgrt::format::KernelWork;
using cgrt::format::Node;
using cgrt::format::NodeId;
using cgrt::format::Value;
using Clock = std::chrono::steady_clock;

constexpr int batch = 8; ///< launches that are measured together: few enough never to wait

enum class Shape { Chain, FanOut };

/// The node that `node` comes after; nodes other than the first have one.
std::uint32_t before(Shape shape, std::uint32_t node) {
  return shape == Shape::Chain ? node - 1 : 0;
}

void require(cudaError_t result, const char *call) {
  if (result != cudaSuccess) {
    throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(result));
  }
}

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

/// The graph as a program of cgrt.
std::shared_ptr<const cgrt::format::Program> graph_program(Shape shape, std::uint32_t nodes) {
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
      node.dependencies.push_back(Dependency{NodeId{before(shape, index)}, {}});
    }
    graph.nodes.push_back(std::move(node));
  }
  program->graphs.push_back(std::move(graph));
  return program;
}

/// Kernel and stream of the graphs made by hand. They live as long as the process, which returns
/// everything.
class Bare {
public:
  Bare() {
    cudaLibrary_t library = nullptr;
    require(cudaLibraryLoadData(&library, std::string(cgrt::testing::ptx_source).c_str(), nullptr,
                                nullptr, 0, nullptr, nullptr, 0),
            "cudaLibraryLoadData");
    require(cudaLibraryGetKernel(&kernel_, library, "nothing"), "cudaLibraryGetKernel");
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }

  cudaKernel_t kernel() const { return kernel_; }
  cudaStream_t stream() const { return stream_; }

private:
  cudaKernel_t kernel_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

struct BuildCost {
  double add = 0;
  double instantiate = 0;
  double upload = 0;

  double all() const { return add + instantiate + upload; }
};

/// A graph made by hand, and kept like cgrt's, which updates its executable.
class BareGraph {
public:
  BareGraph(const Bare &bare, Shape shape, std::uint32_t nodes) : bare_(bare) {
    const auto start = Clock::now();
    require(cudaGraphCreate(&graph_, 0), "cudaGraphCreate");
    std::vector<cudaGraphNode_t> added(nodes);
    for (std::uint32_t index = 0; index < nodes; ++index) {
      cudaGraphNodeParams params = {};
      params.type = cudaGraphNodeTypeKernel;
      params.kernel.func = bare.kernel();
      params.kernel.gridDim = {1, 1, 1};
      params.kernel.blockDim = {1, 1, 1};
      const cudaGraphNode_t *after = index == 0 ? nullptr : &added[before(shape, index)];
      require(cudaGraphAddNode(&added[index], graph_, after, nullptr, index == 0 ? 0 : 1, &params),
              "cudaGraphAddNode");
    }
    const auto built = Clock::now();
    require(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
    const auto instantiated = Clock::now();
    require(cudaGraphUpload(executable_, bare.stream()), "cudaGraphUpload");
    cost_ = {microseconds(built - start), microseconds(instantiated - built),
             microseconds(Clock::now() - instantiated)};
  }
  ~BareGraph() {
    static_cast<void>(cudaStreamSynchronize(bare_.stream()));
    static_cast<void>(cudaGraphExecDestroy(executable_));
    static_cast<void>(cudaGraphDestroy(graph_));
  }
  BareGraph(const BareGraph &) = delete;
  BareGraph &operator=(const BareGraph &) = delete;

  void launch() { require(cudaGraphLaunch(executable_, bare_.stream()), "cudaGraphLaunch"); }
  void wait() { require(cudaStreamSynchronize(bare_.stream()), "cudaStreamSynchronize"); }
  const BuildCost &cost() const { return cost_; }

private:
  const Bare &bare_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  BuildCost cost_;
};

struct LaunchTimes {
  std::vector<double> call; ///< of one launch, which the CPU spends
  std::vector<double> done; ///< from a launch until the GPU has finished
};

template <typename Graph> void measure(Graph &graph, LaunchTimes &times) {
  const auto start = Clock::now();
  for (int launch = 0; launch < batch; ++launch) {
    graph.launch();
  }
  times.call.push_back(microseconds(Clock::now() - start) / batch);
  graph.wait();
  const auto alone = Clock::now();
  graph.launch();
  graph.wait();
  times.done.push_back(microseconds(Clock::now() - alone));
}

void compare_launches(const Bare &bare, Shape shape, std::uint32_t nodes, int repetitions) {
  cgrt::Instance instance(cgrt::Program(graph_program(shape, nodes)), cgrt::Device::cuda());
  cgrt::Executable ours = instance.executable();
  BareGraph theirs(bare, shape, nodes);
  LaunchTimes our_times;
  LaunchTimes their_times;
  LaunchTimes ignored;
  for (int warm = 0; warm < 20; ++warm) {
    measure(ours, ignored);
    measure(theirs, ignored);
  }
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    // Neither always follows the other.
    if (repetition % 2 == 0) {
      measure(ours, our_times);
      measure(theirs, their_times);
    } else {
      measure(theirs, their_times);
      measure(ours, our_times);
    }
  }
  const double our_call = median(our_times.call);
  const double their_call = median(their_times.call);
  const double our_done = median(our_times.done);
  const double their_done = median(their_times.done);
  std::printf("%-8s %7u %10.3f %10.3f %7.3f %12.2f %10.2f %7.3f\n",
              shape == Shape::Chain ? "chain" : "fan-out", nodes, our_call, their_call,
              our_call / their_call, our_done, their_done, our_done / their_done);
  std::fflush(stdout);
}

void compare_builds(const Bare &bare, std::uint32_t nodes, int rounds) {
  cgrt::Instance instance(cgrt::Program(graph_program(Shape::Chain, nodes)), cgrt::Device::cuda());
  std::vector<double> our_build;
  std::vector<double> our_instantiate;
  std::vector<double> add;
  std::vector<double> instantiate;
  std::vector<double> upload;
  std::vector<double> ratio;
  double our_all = 0;
  BuildCost cost;
  const auto build_ours = [&](bool counts) {
    const auto start = Clock::now();
    const cgrt::Executable ours = instance.executable();
    our_all = microseconds(Clock::now() - start);
    if (counts) {
      our_build.push_back(ours.times().build_us);
      our_instantiate.push_back(ours.times().instantiate_us);
    }
  };
  const auto build_theirs = [&] { cost = BareGraph(bare, Shape::Chain, nodes).cost(); };
  for (int round = -1; round < rounds; ++round) { // the first one warms up
    if (round % 2 == 0) {
      build_ours(true);
      build_theirs();
    } else {
      build_theirs();
      build_ours(round > 0);
    }
    if (round >= 0) {
      add.push_back(cost.add);
      instantiate.push_back(cost.instantiate);
      upload.push_back(cost.upload);
      ratio.push_back(our_all / cost.all());
    }
  }
  std::printf("%7u %11.0f %11.0f %11.0f %11.0f %11.0f %6.3f\n", nodes, median(our_build),
              median(our_instantiate), median(add), median(instantiate), median(upload),
              median(ratio));
  std::fflush(stdout);
}

int run(int repetitions) {
  std::string why_none;
  if (cgrt::cuda_device_count(&why_none) == 0) {
    std::printf("skipped: %s\n", why_none.c_str());
    return 77;
  }
  std::printf("%s, %d repetitions, medians in microseconds\n", cgrt::Device::cuda().name().c_str(),
              repetitions);
  const Bare bare;
  std::printf("\nlaunching: call is one launch of %d in a row, done one alone until it is done\n",
              batch);
  std::printf("%-8s %7s %10s %10s %7s %12s %10s %7s\n", "graph", "kernels", "cgrt call",
              "bare call", "ratio", "cgrt done", "bare done", "ratio");
  for (const Shape shape : {Shape::Chain, Shape::FanOut}) {
    for (const std::uint32_t nodes : {1U, 10U, 100U, 1'000U}) {
      // The shortest calls need the most repetitions.
      compare_launches(bare, shape, nodes, nodes <= 10 ? 10 * repetitions : repetitions);
    }
  }
  std::printf(
      "\nbuilding a chain: ratio is all of Instance::executable() to all of the bare calls\n");
  std::printf("%7s %11s %11s %11s %11s %11s %6s\n", "kernels", "cgrt build", "cgrt inst.",
              "bare add", "bare inst.", "bare upload", "ratio");
  const bool quick = repetitions < 100;
  for (const std::uint32_t nodes : quick ? std::vector{1'000U} : std::vector{10'000U, 100'000U}) {
    compare_builds(bare, nodes, quick ? 1 : nodes > 10'000 ? 5 : 15);
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
