// How long the compiler takes for programs of many statements, and how much memory: from text to
// printed IR, and from text to a graph that is ready on the host device. All is to be linear (see
// the complexity lines): 100,000 statements within 5 s. And how long the proof takes that their
// order is enough: 10,000 nodes within 2 s.
#include "driver/compilation.h"
#include "passes/races.h"
#include "unit/text_compilation.h"

#include <cgrt/cgrt.h>

#include <benchmark/benchmark.h>

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

namespace {

using Generator = std::function<std::string(std::int64_t)>;

const std::string kernel = "param n: i32 = 256;\n"
                           "kernel k(n: i32, a: in f32[n], b: inout f32[n]) grid(1) block(32)\n"
                           "cuda { b[threadIdx.x] += a[threadIdx.x]; }\n";

/// `head`, then a graph of a statement for each number, for which every `#` stands.
std::string repeated(std::string head, std::string_view statement, std::int64_t count) {
  head += "graph main {\n";
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    for (const char c : statement) {
      head += c == '#' ? number : std::string(1, c);
    }
    head += '\n';
  }
  return head + "}\n";
}

/// Each launch waits for the one before.
std::string chain(std::int64_t count) {
  return repeated(kernel + "device x, y: f32[n];\n", "k(n, x, y);", count);
}

/// Launches that have nothing to do with each other.
std::string wide(std::int64_t count) {
  const std::string buffers =
      "device x: f32[" + std::to_string(count) + ", n];\ndevice y: f32[n];\n";
  return repeated(kernel + buffers, "k(n, y, x[#]);", count);
}

/// The same, each on a buffer of its own.
std::string buffers(std::int64_t count) {
  std::string head = kernel + "device y: f32[n];\n";
  for (std::int64_t i = 0; i < count; ++i) {
    head += "device x" + std::to_string(i) + ": f32[n];\n";
  }
  return repeated(head, "k(n, y, x#);", count);
}

std::string slices(std::int64_t count) {
  const std::string shape = ": f32[" + std::to_string(count) + " + 1];\n";
  return repeated("host in h" + shape + "device x" + shape, "copy x[#:# + 1] <- h[#:# + 1];",
                  count);
}

/// A call of a def, and a graph, for each of as many buffers.
std::string calls(std::int64_t count) {
  std::string head = "def d(x: inout f32[8]) { fill x <- 0; }\n";
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    head +=
        "device x" + number + ": f32[8];\ngraph g" + number + " { fill x" + number + " <- 1; }\n";
  }
  return repeated(head, "d(x#);", count);
}

/// Slices whose bounds depend on a param.
std::string symbolic_slices(std::int64_t count) {
  const std::string shape = ": f32[" + std::to_string(count) + " * n + n];\n";
  return repeated("param n: i32 = 8;\nhost in h" + shape + "device x" + shape,
                  "copy x[# * n:# * n + n] <- h[# * n:# * n + n];", count);
}

std::string loop(std::int64_t count) {
  const std::string number = std::to_string(count);
  return "host in h: f32[" + number + ", 8];\ndevice x: f32[" + number + ", 8];\n" +
         "graph main { for i in 0.." + number + " { copy x[i] <- h[i]; } }\n";
}

std::string copies_to_and_fro(std::int64_t count) {
  return repeated("device x, y: f32[64];\n", "copy x <- y; copy y <- x;", count / 2);
}

std::string fills(std::int64_t count) {
  return repeated("device x: f32[" + std::to_string(count) + ", 8];\n", "fill x[#] <- #;", count);
}

/// `lines` conditions, each of 12 terms that are joined by `&&`; `||` joins the lines.
std::string conditions(std::int64_t lines) {
  std::string text = "param n: i32 = 8;\ndevice x: f32[8];\ngraph main { fill x <-\n";
  for (std::int64_t line = 0; line < lines; ++line) {
    text += line == 0 ? "  " : "  || ";
    for (std::int64_t term = 0; term < 12; ++term) {
      text += (term == 0 ? "!(n == " : " && !(n == ") + std::to_string(line * 12 + term) + ")";
    }
    text += "\n";
  }
  return text + "; }\n";
}

std::string sum(std::int64_t terms) {
  std::string text = "param n: i32 = 8;\ndevice x: f32[8];\ngraph main { fill x <- n";
  for (std::int64_t term = 1; term < terms; ++term) {
    text += " + n * " + std::to_string(term);
  }
  return text + "; }\n";
}

/// The most memory that this process has had since reset_peak(), in MB, as Linux counts it.
void reset_peak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
}

double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) {
      return std::strtod(line.c_str() + 6, nullptr) / 1024;
    }
  }
  return 0;
}

class SourceOnDisk {
public:
  explicit SourceOnDisk(const std::string &text)
      : path_(std::filesystem::temp_directory_path() /
              ("cgraph-bench-" + std::to_string(getpid()) + ".cgraph")) {
    std::ofstream(path_) << text;
  }
  SourceOnDisk(const SourceOnDisk &) = delete;
  SourceOnDisk &operator=(const SourceOnDisk &) = delete;
  ~SourceOnDisk() { std::filesystem::remove(path_); }

  std::string compile(cgc::Emit emit) const {
    cgc::CompileOptions options;
    options.input = path_.string();
    options.emit = emit;
    options.target = cgc::Target::Host;
    std::string messages;
    cgc::CompileResult result = cgc::compile(options, messages);
    if (result.status != cgc::CompileStatus::Done) {
      throw std::runtime_error(messages);
    }
    return std::move(result.output);
  }

private:
  std::filesystem::path path_;
};

void to_ir(benchmark::State &state, const Generator &generate) {
  const SourceOnDisk source(generate(state.range(0)));
  reset_peak();
  for (auto _ : state) {
    benchmark::DoNotOptimize(source.compile(cgc::Emit::Ir));
  }
  state.counters["peak_MB"] = peak_megabytes();
  state.SetComplexityN(state.range(0));
}

/// Programs without kernels: what the kernels' compilers take is another matter.
void to_graph(benchmark::State &state, const Generator &generate) {
  const SourceOnDisk source(generate(state.range(0)));
  reset_peak();
  for (auto _ : state) {
    const std::string bundle = source.compile(cgc::Emit::Bundle);
    const auto program =
        cgrt::Program::from_bytes(std::as_bytes(std::span(bundle.data(), bundle.size())));
    cgrt::Instance instance(program, cgrt::Device::host());
    benchmark::DoNotOptimize(instance.executable());
  }
  state.counters["peak_MB"] = peak_megabytes();
  state.SetComplexityN(state.range(0));
}

void races(benchmark::State &state, const Generator &generate) {
  cgc::testing::TextCompilation compilation(generate(state.range(0)));
  cgc::Diagnostics diagnostics;
  for (auto _ : state) {
    cgc::check_races(compilation.module(), true, compilation.files(), diagnostics);
  }
  if (diagnostics.has_errors()) {
    state.SkipWithError("a race in a dataflow graph");
  }
  state.SetComplexityN(state.range(0));
}

void many(benchmark::internal::Benchmark *benchmark) {
  benchmark->RangeMultiplier(10)
      ->Range(1'000, 100'000)
      ->Unit(benchmark::kMillisecond)
      ->Complexity();
}

void four_times(benchmark::internal::Benchmark *benchmark) {
  benchmark->Arg(10'000)->Arg(40'000)->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(to_ir, chain, chain)->Apply(many);
BENCHMARK_CAPTURE(to_ir, wide, wide)->Apply(many);
BENCHMARK_CAPTURE(to_ir, buffers, buffers)->Apply(many);
BENCHMARK_CAPTURE(to_ir, slices, slices)->Apply(many);
BENCHMARK_CAPTURE(to_ir, symbolic_slices, symbolic_slices)->Apply(many);
BENCHMARK_CAPTURE(to_ir, loop, loop)->Apply(many);
BENCHMARK_CAPTURE(to_ir, calls, calls)->Apply(many);
BENCHMARK_CAPTURE(to_graph, chain, copies_to_and_fro)->Apply(four_times);
BENCHMARK_CAPTURE(to_graph, wide, fills)->Apply(four_times);
BENCHMARK_CAPTURE(to_ir, conditions, conditions)->Arg(20)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(to_ir, sum, sum)->Arg(5'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(races, chain, chain)->Apply(many);
BENCHMARK_CAPTURE(races, wide, wide)->Apply(many);
BENCHMARK_CAPTURE(races, buffers, buffers)->Apply(many);
BENCHMARK_CAPTURE(races, slices, slices)->Apply(many);
BENCHMARK_CAPTURE(races, symbolic_slices, symbolic_slices)->Apply(many);

} // namespace

BENCHMARK_MAIN();
