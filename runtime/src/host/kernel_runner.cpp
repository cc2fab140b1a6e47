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

} // namespace

KernelRunner::KernelRunner(std::uint32_t threads)
    : pool_(worker_count(threads)), runners_(pool_.workers()) {}

void KernelRunner::run(const KernelParams &params, bool backwards) {
  const BlockLaunch launch{
      .entry = static_cast<const HostFunction &>(*params.function).entry(),
      .grid = params.grid,
      .block = params.block,
      .cluster = {},
      .shared_bytes = params.shared_bytes,
      .arguments = params.arguments,
      .backwards = backwards,
  };
  const std::uint64_t blocks = std::uint64_t{params.grid.x} * params.grid.y * params.grid.z;
  std::atomic<std::uint64_t> next = 0;
  const auto workers = static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, pool_.workers()));
  const FaultHandlers handlers;
  const SignalStack stack; // the other workers have one
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
