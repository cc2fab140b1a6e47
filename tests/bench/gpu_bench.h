// What the benchmarks on a GPU share.
#pragma once

#include "device.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace bench {

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The main() of `name [REPETITIONS]`, which runs a bundle: CGRAPH_BUNDLES names its folder. Calls
/// run(path, repetitions). The exit status is 0, 1 for an error, 2 for wrong usage, 77 without a
/// GPU.
template <typename Run>
int main(int argc, char **argv, const char *name, int default_repetitions, const char *bundle,
         const Run &run) {
  try {
    const int repetitions = argc > 1 ? std::atoi(argv[1]) : default_repetitions;
    const char *folder = std::getenv("CGRAPH_BUNDLES");
    if (repetitions < 1 || folder == nullptr) {
      std::fprintf(stderr, "usage: CGRAPH_BUNDLES=FOLDER %s [REPETITIONS]\n", name);
      return 2;
    }
    std::string why_none;
    if (cgrt::cuda_device_count(&why_none) == 0) {
      std::printf("skipped: %s\n", why_none.c_str());
      return 77;
    }
    run(std::string(folder) + "/" + bundle, repetitions);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

} // namespace bench
