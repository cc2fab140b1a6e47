// Runs kernels: blocks in parallel on the device's workers.
#pragma once

#include "device.h"
#include "host/block_runner.h"
#include "host/thread_pool.h"

#include <cstdint>
#include <mutex>
#include <vector>

namespace cgrt {

class KernelRunner {
public:
  /// `threads` 0: one for each core, but at most 16, since each may need 1,024 stacks.
  explicit KernelRunner(std::uint32_t threads);

  /// Runs a whole kernel and returns when it is done. `backwards`: the even blocks begin with their
  /// last thread, else the odd ones do. `launcher` hears of what it launches. Error{Device} when a
  /// thread ends the launch. The caller holds a FaultHandlers and a SignalStack, which serve all
  /// kernels of a graph.
  void run(const KernelParams &params, bool backwards, GraphLauncher &launcher);

  /// Held for a whole launch: the threads serve one at a time.
  std::mutex &mutex() { return mutex_; }

private:
  std::mutex mutex_;
  ThreadPool pool_;
  std::vector<BlockRunner> runners_; ///< one for each worker
};

} // namespace cgrt
