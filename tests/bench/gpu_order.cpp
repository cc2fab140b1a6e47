// How close a pipeline by hand comes to what the hardware allows: examples/overlap.cgraph, whose
// copies in, kernels and copies out run at the same time, against its bound, and the same work in a
// row beside it. The bound is the largest of what all copies in, all kernels and all copies out
// take, the copies while the other direction is busy too, and one chunk of the other stages, which
// fill and drain the pipeline. All in one process and in turns; medians in milliseconds. The
// graph's own timing events are held against events around a bare launch of the same graph.
//
//   CGRAPH_BUNDLES=FOLDER gpu_order [REPLAYS]     40 by default; FOLDER holds overlap.cgb
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
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using bare::require;
using bench::median;

constexpr std::int64_t chunk_elements = 4 << 20;
constexpr std::size_t chunk_bytes = chunk_elements * sizeof(float);
constexpr std::size_t ring = 3; ///< the example's RING
constexpr int warm_ups = 3;

class Event {
public:
  Event() { require(cudaEventCreate(&event_), "cudaEventCreate"); }
  operator cudaEvent_t() const { return event_; }
  double milliseconds_since(const Event &begin) const {
    float result = 0;
    require(cudaEventElapsedTime(&result, begin.event_, event_), "cudaEventElapsedTime");
    return double{result};
  }

private:
  cudaEvent_t event_ = nullptr;
};

/// The pipeline's steps as bare calls. What it makes lives as long as the process.
class Bare {
public:
  Bare(const cgrt::format::Program &program, std::span<float> x, std::span<float> y)
      : x_(x), y_(y), chunks_(x.size() / chunk_elements), kernel_(bare::load(program, {0})) {
    for (cudaStream_t &stream : streams_) {
      require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    }
    for (void *&chunk : memory_) {
      require(cudaMalloc(&chunk, chunk_bytes), "cudaMalloc");
    }
  }

  std::size_t chunks() const { return chunks_; }

  void copy_in(std::size_t i, std::size_t stream) const {
    require(cudaMemcpyAsync(memory_[i % ring], x_.data() + i * chunk_elements, chunk_bytes,
                            cudaMemcpyHostToDevice, streams_[stream]),
            "cudaMemcpyAsync");
  }
  void copy_out(std::size_t i, std::size_t stream) const {
    require(cudaMemcpyAsync(y_.data() + i * chunk_elements, memory_[i % ring], chunk_bytes,
                            cudaMemcpyDeviceToHost, streams_[stream]),
            "cudaMemcpyAsync");
  }
  void work(std::size_t i, std::size_t stream) const {
    std::int64_t n = chunk_elements;
    void *x = memory_[i % ring];
    std::array<void *, 2> arguments = {&n, &x};
    require(
        cudaLaunchKernel(kernel_, chunk_elements / 256, 256, arguments.data(), 0, streams_[stream]),
        "cudaLaunchKernel");
  }

  /// What `record` puts on stream 0, as a graph.
  cudaGraphExec_t capture(const std::function<void()> &record) const {
    require(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeThreadLocal),
            "cudaStreamBeginCapture");
    record();
    cudaGraph_t graph = nullptr;
    require(cudaStreamEndCapture(streams_[0], &graph), "cudaStreamEndCapture");
    cudaGraphExec_t executable = nullptr;
    require(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    require(cudaGraphUpload(executable, streams_[0]), "cudaGraphUpload");
    return executable;
  }

  /// Like examples/overlap.cgraph: three streams and a ring of chunks.
  void pipeline() {
    order(1, 0);
    order(2, 0);
    for (std::size_t i = 0; i < chunks_; ++i) {
      if (i >= ring) {
        require(cudaStreamWaitEvent(streams_[0], freed_[i % ring]), "cudaStreamWaitEvent");
      }
      copy_in(i, 0);
      order(1, 0);
      work(i, 1);
      order(2, 1);
      copy_out(i, 2);
      require(cudaEventRecord(freed_[i % ring], streams_[2]), "cudaEventRecord");
    }
    order(0, 1);
    order(0, 2);
  }

  /// Stream `later` goes on after what is on `earlier`.
  void order(std::size_t later, std::size_t earlier) const {
    require(cudaEventRecord(link_, streams_[earlier]), "cudaEventRecord");
    require(cudaStreamWaitEvent(streams_[later], link_), "cudaStreamWaitEvent");
  }

  cudaStream_t stream(std::size_t number) const { return streams_[number]; }
  void wait() const {
    for (cudaStream_t stream : streams_) {
      require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }
  }

private:
  std::span<float> x_, y_;
  std::size_t chunks_;
  cudaKernel_t kernel_;
  std::array<cudaStream_t, 3> streams_ = {};
  std::array<void *, ring> memory_ = {};
  std::array<Event, ring> freed_;
  Event link_;
};

struct Measured {
  std::string name;
  std::vector<double> milliseconds = {};
  double time() const { return median(milliseconds); }
};

enum Place : std::size_t {
  Ours,
  OursDone,
  HandMade,
  InARow,
  In,
  Out,
  Kernels,
  OneIn,
  OneOut,
  Count
};

class Benchmark {
public:
  Benchmark(cgrt::Executable &ours, Bare &bare) : ours_(ours), bare_(bare) {
    pipeline_ = bare.capture([this] { bare_.pipeline(); });
    row_ = bare.capture([this] {
      for (std::size_t i = 0; i < bare_.chunks(); ++i) {
        bare_.copy_in(i, 0);
        bare_.work(i, 0);
        bare_.copy_out(i, 0);
      }
    });
  }

  void measure(int replays) {
    for (int replay = -warm_ups; replay < replays; ++replay) {
      std::array<double, Count> times = {};
      run_ours(times);
      times[HandMade] = graph(pipeline_);
      times[InARow] = graph(row_);
      both_ways(times);
      times[Kernels] = alone([this] {
        for (std::size_t i = 0; i < bare_.chunks(); ++i) {
          bare_.work(i, 0);
        }
      });
      times[OneIn] = alone([this] { bare_.copy_in(0, 0); });
      times[OneOut] = alone([this] { bare_.copy_out(0, 0); });
      for (std::size_t i = 0; replay >= 0 && i < Count; ++i) {
        measured_[i].milliseconds.push_back(times[i]);
      }
    }
  }

  void run_by_hand() { graph(pipeline_); }

  void print() const {
    for (const Measured &each : measured_) {
      std::printf("%-44s %8.3f\n", each.name.c_str(), each.time());
    }
    const auto time = [this](Place place) { return measured_[place].time(); };
    const double kernel = time(Kernels) / static_cast<double>(bare_.chunks());
    // The stage that takes longest is never idle between its first chunk and its last.
    const double bound =
        std::max({time(In) + kernel + time(OneOut), time(Kernels) + time(OneIn) + time(OneOut),
                  time(Out) + time(OneIn) + kernel});
    std::printf("%-44s %8.3f\n\n", "the bound", bound);
    std::printf("%-44s %8.3f  (goal: at most 1.10)\n", "cgrt / bound", time(Ours) / bound);
    std::printf("%-44s %8.3f\n", "cgrt / by hand", time(Ours) / time(HandMade));
    std::printf("%-44s %8.3f\n", "in a row / cgrt", time(InARow) / time(Ours));
    std::printf("%-44s %8.3f  (goal: 0.90 to 1.10)\n", "timing events / events around it",
                time(Ours) / time(HandMade));
  }

private:
  void run_ours(std::array<double, Count> &times) {
    const auto start = std::chrono::steady_clock::now();
    ours_.launch();
    ours_.wait();
    times[OursDone] =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    times[Ours] = ours_.elapsed("begun", "done");
  }

  double alone(const std::function<void()> &work) {
    require(cudaEventRecord(begin_, bare_.stream(0)), "cudaEventRecord");
    work();
    require(cudaEventRecord(end_, bare_.stream(0)), "cudaEventRecord");
    bare_.wait();
    return end_.milliseconds_since(begin_);
  }

  double graph(cudaGraphExec_t executable) {
    return alone([&] { require(cudaGraphLaunch(executable, bare_.stream(0)), "cudaGraphLaunch"); });
  }

  /// Each direction is done before the other is: the longer one goes on.
  void both_ways(std::array<double, Count> &times) {
    const std::size_t each = 2 * bare_.chunks(); // half of them only keep the way busy
    require(cudaEventRecord(begin_, bare_.stream(0)), "cudaEventRecord");
    require(cudaStreamWaitEvent(bare_.stream(1), begin_), "cudaStreamWaitEvent");
    for (std::size_t i = 0; i < each; ++i) {
      bare_.copy_in(i % bare_.chunks(), 0);
      bare_.copy_out(i % bare_.chunks(), 1);
      if (i + 1 == bare_.chunks()) {
        require(cudaEventRecord(in_, bare_.stream(0)), "cudaEventRecord");
        require(cudaEventRecord(out_, bare_.stream(1)), "cudaEventRecord");
      }
    }
    bare_.wait();
    times[In] = in_.milliseconds_since(begin_);
    times[Out] = out_.milliseconds_since(begin_);
  }

  cgrt::Executable &ours_;
  Bare &bare_;
  cudaGraphExec_t pipeline_ = nullptr;
  cudaGraphExec_t row_ = nullptr;
  Event begin_, end_, in_, out_;
  std::array<Measured, Count> measured_ = {{{"cgrt, between its timing events"},
                                            {"cgrt, from launch to done"},
                                            {"captured from 3 streams, events around it"},
                                            {"the same in a row"},
                                            {"all copies in, while others go out"},
                                            {"all copies out, while others come in"},
                                            {"all kernels"},
                                            {"one copy in"},
                                            {"one copy out"}}};
};

void check(std::span<const float> x, std::span<const float> y, const char *who) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (y[i] != 2 * x[i] + 1) {
      throw std::runtime_error(std::string(who) + ": y[" + std::to_string(i) + "] is " +
                               std::to_string(y[i]));
    }
  }
}

void run(const std::string &bundle, int replays) {
  const cgrt::Program program = cgrt::Program::from_file(bundle);
  cgrt::Instance instance(program, cgrt::Device::cuda(), {{"n", chunk_elements}});
  const std::span<float> x = instance.host<float>("hx");
  const std::span<float> y = instance.host<float>("hy");
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i % 1000);
  }
  cgrt::Executable ours = instance.executable();
  Bare bare(program.contents(), x, y);
  std::printf("%s: %zu chunks of %zu MiB, %d replays, medians in milliseconds\n\n",
              cgrt::Device::cuda().name().c_str(), bare.chunks(), chunk_bytes >> 20, replays);
  Benchmark benchmark(ours, bare);
  benchmark.measure(replays);
  std::ranges::fill(y, -1.0F);
  benchmark.run_by_hand();
  check(x, y, "by hand");
  std::ranges::fill(y, -1.0F);
  ours.launch();
  ours.wait();
  check(x, y, "cgrt");
  benchmark.print();
}

} // namespace

int main(int argc, char **argv) {
  return bench::main(argc, argv, "gpu_order", 40, "overlap.cgb", run);
}
