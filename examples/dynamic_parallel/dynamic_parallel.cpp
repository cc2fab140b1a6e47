// Runs dynamic_parallel.cgraph, checks both of its ways and prints what they take.
//
//   dynamic_parallel dynamic_parallel.cgb [host|cuda]
//
// Exit status: 0 right, 1 wrong or an error, 2 wrong usage, 77 no GPU.
#include "../example.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace {

constexpr int rows = 2000;
constexpr int longest = 200;
constexpr int replays = 50;

double median_us(cgrt::Instance &instance, const char *name) {
  cgrt::Executable graph = instance.executable(name);
  std::vector<double> times;
  for (int i = 0; i < replays; ++i) {
    graph.launch();
    graph.wait();
    times.push_back(1000 * graph.elapsed("begun", "done"));
  }
  std::ranges::nth_element(times, times.begin() + replays / 2);
  return times[replays / 2];
}

int run(const cgrt::Program &program, const cgrt::Device &device) {
  std::vector<std::int32_t> begin = {0};
  std::mt19937 random(1);
  for (int row = 0; row < rows; ++row) {
    begin.push_back(begin.back() + static_cast<std::int32_t>(random() % longest));
  }
  cgrt::Instance instance(program, device, {{"rows", rows}, {"values", begin.back()}});
  std::ranges::copy(begin, instance.host<std::int32_t>("hbegin").begin());
  cgrt::Executable graph = instance.executable();
  int wrong = 0;
  for (int replay = 0; replay < 3; ++replay) {
    graph.launch();
    graph.wait();
    for (const char *result : {"hparent", "hflat"}) {
      const std::span<const std::int32_t> y = instance.host<std::int32_t>(result);
      for (int row = 0; row < rows; ++row) {
        for (std::int32_t i = begin[row]; i < begin[row + 1]; ++i) {
          wrong += y[i] == 31 * row + i ? 0 : 1;
        }
      }
    }
  }
  const double parent = median_us(instance, "by_parent");
  const double flat = median_us(instance, "by_flat");
  std::printf("dynamic_parallel on %s: %d wrong elements; by dynamic parallelism %.1f us, by one "
              "kernel %.1f; ratio %.2f\n",
              device.name().c_str(), wrong, parent, flat, parent / flat);
  return wrong == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  return example::main(argc, argv, run);
}
