#include "host/kernel_runner.h"

#include "host/host_code.h"

#include <algorithm>
#include <atomic>

namespace cgrt {

namespace {

constexpr std::uint32_t most_default_threads = 16;

std::uint32_t worker_count(std::uint32_t threads) {
  if (threads != 0) {
    return threads;
  }
  return std::clamp(std::thread::hardware_concurrency(), 1U, most_default_threads);
}

/// What a `host { }` body is given: the arguments, then the extents of grid and block.
std::vector<std::uint64_t> arguments_with_extents(const KernelParams &params) {
  std::vector<std::uint64_t> slots = params.arguments;
  for (const Dim3 &extents : {params.grid, params.block}) {
    slots.insert(slots.end(), {extents.x, extents.y, extents.z});
  }
  return slots;
}

} // namespace

KernelRunner::KernelRunner(std::uint32_t threads)
    : pool_(worker_count(threads)), runners_(pool_.workers()) {}

void KernelRunner::run(const KernelParams &params, bool backwards, GraphLauncher &launcher) {
  const auto &function = static_cast<const HostFunction &>(*params.function);
  BlockLaunch launch{
      .entry = function.entry(),
      .grid = params.grid,
      .block = params.block,
      .cluster = params.cluster,
      .shared_bytes = params.shared_bytes,
      .arguments = params.arguments,
      .backwards = backwards,
      .launcher = &launcher,
  };
  std::vector<std::uint64_t> once_arguments;
  if (function.once()) { // one block of one thread
    once_arguments = arguments_with_extents(params);
    launch.grid = launch.block = launch.cluster = Dim3{};
    launch.arguments = once_arguments;
  }
  const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  std::atomic<std::uint64_t> next = 0;
  const auto workers = static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, pool_.workers()));
  pool_.run(workers, [&](std::uint32_t worker) {
    try {
      const FaultTrap faults = runners_[worker].trap_faults();
      for (std::uint64_t index = next++; index < blocks; index = next++) {
        runners_[worker].run(launch, index);
      }
    } catch (...) {
      next = blocks; // the others need not go on
      throw;
    }
  });
}

} // namespace cgrt
