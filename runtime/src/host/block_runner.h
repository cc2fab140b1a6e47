// Runs the threads of one block on one worker thread, one after the other.
//
// A fiber runs threads in a loop inside host code until none is left to begin. When a thread waits
// at a barrier, its fiber is suspended and another one takes the threads that are left; when none
// is left and all unfinished ones wait, the barrier opens. So a kernel without barriers costs one
// fiber and a tight loop.
#pragma once

#include "device.h"
#include "format/host_abi.h"
#include "host/fiber.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cgrt {

/// A kernel launch as all its blocks share it.
struct BlockLaunch {
  host_abi::Entry *entry = nullptr;
  Dim3 grid, block;
  std::uint32_t shared_bytes = 0;
  std::span<const std::uint64_t> arguments;
  bool backwards = false; ///< of block 0; every other block begins at its other end
};

/// One for each worker; it keeps its stacks and shared memory from block to block.
class BlockRunner {
public:
  BlockRunner();
  BlockRunner(const BlockRunner &) = delete;
  BlockRunner &operator=(const BlockRunner &) = delete;

  /// Runs one block; `index` counts x first. Error{Device} with what a thread says when it ends the
  /// launch (assert, trap).
  void run(const BlockLaunch &launch, std::uint64_t index);

private:
  struct Running : host_abi::Block {
    BlockRunner *runner = nullptr;
  };
  struct FreeAligned {
    void operator()(std::byte *memory) const;
  };

  static void run_threads(void *self);
  static void wait(host_abi::Block *block, host_abi::Group group);
  static void fault(host_abi::Block *block, const char *message);

  void prepare(const BlockLaunch &launch, std::uint64_t index);
  Fiber &unused_fiber();
  void resume(Fiber &fiber);
  [[noreturn]] void abandon();

  Running block_{};
  const BlockLaunch *launch_ = nullptr;
  std::unique_ptr<std::byte, FreeAligned> shared_;
  std::size_t shared_capacity_ = 0;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::size_t used_ = 0;          ///< fibers of this block
  std::vector<Fiber *> waiting_;  ///< at the block's barrier
  std::vector<Fiber *> resuming_; ///< behind it
  Fiber *current_ = nullptr;
  std::optional<std::string> fault_; ///< what the current thread ended the launch with
};

} // namespace cgrt
