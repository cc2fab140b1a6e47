// What dataflow order costs beside streams by hand: examples/gemm_batch.cgraph, replayed through
// cgrt, against the same kernel image and copies captured from 8 streams; beside them the copies
// and the kernels alone, which say how well they overlap. All are graphs, which run in one process
// and in turns. Prints a table of medians in milliseconds.
//
//   CGRAPH_BUNDLES=FOLDER gpu_gemm [REPLAYS]     40 by default; FOLDER holds gemm_batch.cgb
//
// Exit status: 0 done, 1 a wrong result or an error, 2 wrong usage, 77 no GPU.
#include <cgrt/cgrt.h>

#include "bench/bundle_kernel.h"
#include "bench/gpu_bench.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using bare::require;
using bench::median;
using Clock = std::chrono::steady_clock;

constexpr std::size_t stream_count = 8;
constexpr unsigned tile = 128; ///< elements of C that a block makes, each way; the example's TILE
constexpr unsigned threads = 256;
constexpr int warm_ups = 3;

/// C[i] = A[i] · B for each i below `batch`; A[i] is m × k, B is k × n. Sizes count elements.
struct Sizes {
  std::size_t batch = 0, m = 0, n = 0, k = 0;

  std::size_t a() const { return m * k; }
  std::size_t b() const { return k * n; }
  std::size_t c() const { return m * n; }
  double bytes_in() const { return static_cast<double>((batch * a() + b()) * sizeof(float)); }
  double bytes_out() const { return static_cast<double>(batch * c() * sizeof(float)); }
  double operations() const { return 2.0 * static_cast<double>(batch * m * n * k); }
};

Sizes sizes_of(const cgrt::Instance &instance) {
  const std::vector<std::size_t> a = instance.buffer("ha").shape;
  const std::vector<std::size_t> b = instance.buffer("hb").shape;
  return {a.at(0), a.at(1), b.at(1), a.at(2)};
}

/// Pinned host memory of both sides' inputs and of one side's result.
struct HostMemory {
  std::span<float> a, b, c;
};

/// The graphs made by hand. What it makes lives as long as the process, which returns everything.
class Bare {
public:
  using Record = std::function<void(const Bare &)>;

  Bare(const cgrt::format::Program &program, const Sizes &sizes, const HostMemory &inputs)
      : sizes_(sizes), host_(inputs), kernel_(bare::load(program, {0})) {
    a_ = allocate(sizes.batch * sizes.a());
    b_ = allocate(sizes.b());
    c_ = allocate(sizes.batch * sizes.c());
    void *result = nullptr;
    require(cudaMallocHost(&result, sizes.batch * sizes.c() * sizeof(float)), "cudaMallocHost");
    host_.c = {static_cast<float *>(result), sizes.batch * sizes.c()};
    for (cudaStream_t &stream : streams_) {
      require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    }
    for (cudaEvent_t &event : events_) {
      require(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
    }
  }

  const Sizes &sizes() const { return sizes_; }
  const HostMemory &host() const { return host_; }

  /// What `before` does on stream 0 and then `work` on all streams, as a graph.
  cudaGraphExec_t capture(const Record &before, const Record &work) const {
    require(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeThreadLocal),
            "cudaStreamBeginCapture");
    before(*this);
    require(cudaEventRecord(events_[0], streams_[0]), "cudaEventRecord");
    for (std::size_t s = 1; s < stream_count; ++s) {
      require(cudaStreamWaitEvent(streams_[s], events_[0], 0), "cudaStreamWaitEvent");
    }
    work(*this);
    for (std::size_t s = 1; s < stream_count; ++s) {
      require(cudaEventRecord(events_[s], streams_[s]), "cudaEventRecord");
      require(cudaStreamWaitEvent(streams_[0], events_[s], 0), "cudaStreamWaitEvent");
    }
    cudaGraph_t graph = nullptr;
    require(cudaStreamEndCapture(streams_[0], &graph), "cudaStreamEndCapture");
    cudaGraphExec_t executable = nullptr;
    require(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    require(cudaGraphUpload(executable, streams_[0]), "cudaGraphUpload");
    require(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return executable;
  }

  void run(cudaGraphExec_t executable) const {
    require(cudaGraphLaunch(executable, streams_[0]), "cudaGraphLaunch");
    require(cudaStreamSynchronize(streams_[0]), "cudaStreamSynchronize");
  }

  void copy_b_in(std::size_t stream) const {
    copy(b_, host_.b.data(), sizes_.b(), cudaMemcpyHostToDevice, stream);
  }
  void copy_a_in(std::size_t i, std::size_t stream) const {
    const std::size_t first = i * sizes_.a();
    copy(a_ + first, host_.a.data() + first, sizes_.a(), cudaMemcpyHostToDevice, stream);
  }
  void copy_c_out(std::size_t i, std::size_t stream) const {
    const std::size_t first = i * sizes_.c();
    copy(host_.c.data() + first, c_ + first, sizes_.c(), cudaMemcpyDeviceToHost, stream);
  }
  void multiply(std::size_t i, std::size_t stream) const {
    int m = static_cast<int>(sizes_.m);
    int n = static_cast<int>(sizes_.n);
    int k = static_cast<int>(sizes_.k);
    const float *a = a_ + i * sizes_.a();
    const float *b = b_;
    float *c = c_ + i * sizes_.c();
    std::array<void *, 6> arguments = {&m, &n, &k, &a, &b, &c};
    const dim3 grid((static_cast<unsigned>(n) + tile - 1) / tile,
                    (static_cast<unsigned>(m) + tile - 1) / tile);
    require(cudaLaunchKernel(kernel_, grid, threads, arguments.data(), 0, streams_[stream]),
            "cudaLaunchKernel");
  }

private:
  static float *allocate(std::size_t elements) {
    void *memory = nullptr;
    require(cudaMalloc(&memory, elements * sizeof(float)), "cudaMalloc");
    return static_cast<float *>(memory);
  }

  void copy(float *to, const float *from, std::size_t elements, cudaMemcpyKind kind,
            std::size_t stream) const {
    require(cudaMemcpyAsync(to, from, elements * sizeof(float), kind, streams_[stream]),
            "cudaMemcpyAsync");
  }

  Sizes sizes_;
  HostMemory host_;
  cudaKernel_t kernel_;
  float *a_ = nullptr;
  float *b_ = nullptr;
  float *c_ = nullptr;
  std::array<cudaStream_t, stream_count> streams_ = {};
  std::array<cudaEvent_t, stream_count> events_ = {};
};

void nothing(const Bare &) {}

void all_in(const Bare &bare, std::size_t stream) {
  bare.copy_b_in(stream);
  for (std::size_t i = 0; i < bare.sizes().batch; ++i) {
    bare.copy_a_in(i, stream);
  }
}

void all_out(const Bare &bare, std::size_t stream) {
  for (std::size_t i = 0; i < bare.sizes().batch; ++i) {
    bare.copy_c_out(i, stream);
  }
}

/// What is measured.
struct Contestant {
  std::string name;
  std::function<void()> run; ///< from launch to done
  std::vector<double> milliseconds = {};

  double time() const { return median(milliseconds); }
};

enum Place : std::size_t { Ours, Captured, In, Out, BothWays, Kernels };

std::vector<Contestant> contestants(cgrt::Executable &ours, const Bare &bare) {
  const auto graph = [&bare](const char *name, const Bare::Record &before,
                             const Bare::Record &work) {
    const cudaGraphExec_t executable = bare.capture(before, work);
    return Contestant{name, [&bare, executable] { bare.run(executable); }};
  };
  std::vector<Contestant> all;
  all.push_back({"cgrt", [&ours] {
                   ours.launch();
                   ours.wait();
                 }});
  all.push_back(graph(
      "captured from 8 streams", [](const Bare &b) { b.copy_b_in(0); },
      [](const Bare &b) {
        for (std::size_t i = 0; i < b.sizes().batch; ++i) {
          b.copy_a_in(i, i % stream_count);
          b.multiply(i, i % stream_count);
          b.copy_c_out(i, i % stream_count);
        }
      }));
  all.push_back(graph("copies in", nothing, [](const Bare &b) { all_in(b, 0); }));
  all.push_back(graph("copies out", nothing, [](const Bare &b) { all_out(b, 0); }));
  all.push_back(graph("copies both ways", nothing, [](const Bare &b) {
    all_in(b, 0);
    all_out(b, 1);
  }));
  all.push_back(graph("kernels", nothing, [](const Bare &b) {
    for (std::size_t i = 0; i < b.sizes().batch; ++i) {
      b.multiply(i, i % stream_count);
    }
  }));
  return all;
}

/// Throws where a result is not what A and B give; of each product, two random rows are computed.
/// A sum of k products, in any order, is within k + 1 roundings of the exact one.
void check(const std::string &name, const Sizes &sizes, const HostMemory &memory) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::size_t> any_row(0, sizes.m - 1);
  std::vector<double> sums(sizes.n);
  std::vector<double> magnitudes(sizes.n);
  for (std::size_t sample = 0; sample < 2 * sizes.batch; ++sample) {
    const std::size_t i = sample / 2;
    const std::size_t row = any_row(random);
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(magnitudes.begin(), magnitudes.end(), 0.0);
    const std::span<float> a = memory.a.subspan(i * sizes.a() + row * sizes.k, sizes.k);
    for (std::size_t depth = 0; depth < sizes.k; ++depth) {
      const std::span<float> b = memory.b.subspan(depth * sizes.n, sizes.n);
      for (std::size_t column = 0; column < sizes.n; ++column) {
        const double product = double{a[depth]} * double{b[column]};
        sums[column] += product;
        magnitudes[column] += std::abs(product);
      }
    }
    const std::span<float> c = memory.c.subspan(i * sizes.c() + row * sizes.n, sizes.n);
    for (std::size_t column = 0; column < sizes.n; ++column) {
      const double bound = static_cast<double>(sizes.k + 1) * 0x1p-24 * magnitudes[column];
      if (!(std::abs(double{c[column]} - sums[column]) <= bound)) { // a NaN is wrong too
        throw std::runtime_error(name + ": C[" + std::to_string(i) + "][" + std::to_string(row) +
                                 "][" + std::to_string(column) + "] is " +
                                 std::to_string(c[column]) + ", not " +
                                 std::to_string(sums[column]));
      }
    }
  }
}

/// Runs it on results that were wiped out, and checks those it makes.
void check_anew(const Contestant &contestant, const Sizes &sizes, const HostMemory &memory) {
  std::fill(memory.c.begin(), memory.c.end(), std::numeric_limits<float>::quiet_NaN());
  contestant.run();
  check(contestant.name, sizes, memory);
}

void measure(std::vector<Contestant> &all, int replays) {
  for (int replay = -warm_ups; replay < replays; ++replay) {
    // Nobody always follows the same one.
    const bool backwards = replay % 2 != 0;
    for (std::size_t turn = 0; turn < all.size(); ++turn) {
      Contestant &next = all[backwards ? all.size() - 1 - turn : turn];
      const auto start = Clock::now();
      next.run();
      const std::chrono::duration<double, std::milli> took = Clock::now() - start;
      if (replay >= 0) {
        next.milliseconds.push_back(took.count());
      }
    }
  }
}

void print(const std::vector<Contestant> &all, const Sizes &sizes) {
  const auto rate = [](double amount, double milliseconds) { return amount / milliseconds * 1e3; };
  for (const Contestant &each : all) {
    std::printf("%-26s %8.3f", each.name.c_str(), each.time());
    const auto place = static_cast<std::size_t>(&each - all.data());
    if (place == In || place == Out || place == BothWays) {
      const double bytes =
          (place == Out ? 0.0 : sizes.bytes_in()) + (place == In ? 0.0 : sizes.bytes_out());
      std::printf("  %6.1f GB/s", rate(bytes, each.time()) * 1e-9);
    } else {
      std::printf("  %6.1f TFLOP/s", rate(sizes.operations(), each.time()) * 1e-12);
    }
    std::printf("\n");
  }
  const double ours = all[Ours].time();
  std::printf("\n%-38s %6.3f  (goal: at most 1.05)\n", "cgrt / captured from 8 streams",
              ours / all[Captured].time());
  std::printf("%-38s %6.3f  (goal: at most 1.15)\n", "cgrt / copies in the larger direction",
              ours / std::max(all[In].time(), all[Out].time()));
}

void run(const std::string &bundle, int replays) {
  const cgrt::Program program = cgrt::Program::from_file(bundle);
  cgrt::Instance instance(program, cgrt::Device::cuda());
  const Sizes sizes = sizes_of(instance);
  const HostMemory ours{instance.host<float>("ha"), instance.host<float>("hb"),
                        instance.host<float>("hc")};
  std::mt19937 random(1);
  for (const std::span<float> input : {ours.a, ours.b}) {
    std::generate(input.begin(), input.end(), [&random] {
      return static_cast<float>(random() >> 8) * 0x1p-23F - 1.0F; // in [-1, 1)
    });
  }
  cgrt::Executable executable = instance.executable();
  const Bare bare(program.contents(), sizes, ours);
  std::vector<Contestant> all = contestants(executable, bare);

  check_anew(all[Ours], sizes, ours);
  check_anew(all[Captured], sizes, bare.host());
  std::printf("%s: %zu products of %zu x %zu by %zu x %zu, %d replays, medians in milliseconds\n\n",
              cgrt::Device::cuda().name().c_str(), sizes.batch, sizes.m, sizes.k, sizes.k, sizes.n,
              replays);
  measure(all, replays);
  check(all[Ours].name, sizes, ours);
  check(all[Captured].name, sizes, bare.host());
  check_anew(all[Ours], sizes, ours);
  check_anew(all[Captured], sizes, bare.host());
  print(all, sizes);
}

} // namespace

int main(int argc, char **argv) {
  return bench::main(argc, argv, "gpu_gemm", 40, "gemm_batch.cgb", run);
}
