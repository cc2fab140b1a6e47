// As inference servers do: one graph, made for the largest batch, serves every smaller one by an
// update. Each layer is C = relu(A · W) for the rows of the batch; grids follow the batch's size.
//
//   update_sweep [host|cuda]
//
// Exit status: 0 right, 1 wrong or an error, 2 wrong usage, 77 no GPU.
#include "example.h"
#include "update_sweep.cgraph.h"

#include <algorithm>
#include <chrono>
#include <random>

namespace {

constexpr std::size_t width = 32;

/// Whole numbers so small that all sums are exact.
void fill(std::span<float> values, unsigned seed) {
  std::mt19937 random(seed);
  std::ranges::generate(values, [&random] { return static_cast<float>(random() % 3) - 1; });
}

std::vector<float> layer(std::span<const float> x, std::span<const float> weights) {
  std::vector<float> y(x.size());
  for (std::size_t at = 0; at < y.size(); ++at) {
    float sum = 0;
    for (std::size_t i = 0; i < width; ++i) {
      sum += x[at / width * width + i] * weights[i * width + at % width];
    }
    y[at] = std::max(sum, 0.0F);
  }
  return y;
}

int run(const cgrt::Device &device) {
  UpdateSweepMain graph(device);
  fill(graph.hw(), 1);
  fill(graph.hx(), 2);
  std::size_t wrong = 0;
  std::size_t rebuilt = 0;
  double microseconds = 0;
  int updates = 0;
  for (const int batch : {64, 1, 2, 63, 17, 32, 0, 48, 64, 5}) {
    const auto start = std::chrono::steady_clock::now();
    rebuilt += graph.batch(batch).rebuilt;
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    microseconds += took.count();
    ++updates;
    graph.run();
    const auto elements = static_cast<std::size_t>(batch) * width;
    const std::span<const float> weights = graph.hw();
    const std::vector<float> expected =
        layer(layer(graph.hx().first(elements), weights.first(width * width)),
              weights.subspan(width * width));
    wrong += std::ranges::equal(graph.hy().first(elements), expected) ? 0 : 1;
  }
  std::printf("update_sweep on %s: %d batches, %zu wrong, %zu rebuilt, %.1f us an update\n",
              device.name().c_str(), updates, wrong, rebuilt, microseconds / updates);
  return wrong == 0 && rebuilt == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  return example::main_on_device(argc, argv, run);
}
