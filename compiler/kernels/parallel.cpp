#include "kernels/parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

namespace cgc {

void run_in_parallel(const std::vector<std::function<void()>> &jobs) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t index = next++; index < jobs.size(); index = next++) {
      jobs[index]();
    }
  };
  const std::size_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  std::vector<std::thread> helpers;
  try {
    while (helpers.size() + 1 < std::min(cores, jobs.size())) {
      helpers.emplace_back(work);
    }
  } catch (const std::system_error &) {
    // No more threads to be had: those there are do it all.
  }
  work();
  for (std::thread &helper : helpers) {
    helper.join();
  }
}

} // namespace cgc
