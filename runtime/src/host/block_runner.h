// Runs the threads of one block on one worker thread, one after the other.
//
// A fiber runs threads in a loop inside host code until none is left to begin. When a thread waits,
// its fiber is suspended and another one takes the threads that are left. When none is left, every
// unfinished thread waits: then the groups that are complete open, and their threads go on to their
// next wait, and so on in rounds. So a kernel without barriers costs one fiber and a tight loop.
#pragma once

#include "device.h"
#include "format/host_abi.h"
#include "host/fault_trap.h"
#include "host/fiber.h"
#include "host/guarded_memory.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cgrt {

/// Where the calls of cudaGraphLaunch(), cudaGetCurrentGraphExec() and device node update in a
/// kernel end up; any of its threads may make them.
class GraphLauncher {
public:
  virtual ~GraphLauncher() = default;
  /// Returns a cudaError_t.
  virtual int launch_graph(std::uint64_t executable, std::uint64_t stream) = 0;
  virtual std::uint64_t current_graph() = 0;
  /// Returns a cudaError_t.
  virtual int update_node(std::uint64_t node, const host_abi::NodeChange &change) = 0;
};

/// A kernel launch as all its blocks share it.
struct BlockLaunch {
  host_abi::Entry *entry = nullptr;
  Dim3 grid, block, cluster;
  std::uint32_t shared_bytes = 0;
  std::span<const std::uint64_t> arguments;
  bool backwards = false; ///< of block 0; every other block begins at its other end
  GraphLauncher *launcher = nullptr;
};

/// One for each worker; it keeps its stacks and shared memory from block to block.
class BlockRunner {
public:
  BlockRunner();
  BlockRunner(const BlockRunner &) = delete;
  BlockRunner &operator=(const BlockRunner &) = delete;

  /// While it lives, a hardware fault in a thread of a block ends the launch like an assert.
  FaultTrap trap_faults() { return {on_fault, this}; }

  /// Runs one block; `index` counts x first. Error{Device} with what a thread says when it ends the
  /// launch (assert, trap), with its fault, or when the threads that are left wait for ever.
  void run(const BlockLaunch &launch, std::uint64_t index);

private:
  struct Running : host_abi::Block {
    BlockRunner *runner = nullptr;
  };
  /// A thread that waits, or one that does not (without a fiber).
  struct Wait {
    Fiber *fiber = nullptr;
    host_abi::Group group{};
    unsigned mask = 0;
    unsigned long long value = 0;
    host_abi::Arrival arrival{}; ///< when its group opens
  };
  struct Fault {
    int signal = 0;
    int code = 0;
    const void *address = nullptr;
  };

  static void run_threads(void *self);
  static host_abi::Arrival wait(host_abi::Block *block, host_abi::Group group, unsigned mask,
                                unsigned long long value);
  static void fault(host_abi::Block *block, const char *message);
  static int launch_graph(host_abi::Block *block, unsigned long long executable,
                          unsigned long long stream);
  static unsigned long long current_graph(host_abi::Block *block);
  static int update_node(host_abi::Block *block, unsigned long long node,
                         const host_abi::NodeChange *change);
  static void on_fault(void *self, int signal, const siginfo_t &info);

  void prepare(const BlockLaunch &launch, std::uint64_t index);
  void prepare_shared(std::size_t bytes);
  Fiber &unused_fiber();
  void resume(Fiber &fiber);

  void open_groups();
  void open_block();
  void open_warp(unsigned first);
  void open(unsigned first, unsigned lanes);
  void go_on();

  std::string describe(const Fault &fault, const Fiber &fiber) const;
  [[noreturn]] void abandon(const std::string &message);

  Running block_{};
  const BlockLaunch *launch_ = nullptr;
  std::optional<GuardedMemory> shared_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::size_t used_ = 0;                   ///< fibers of this block
  Fiber *current_ = nullptr;               ///< null while no thread of a block runs
  std::vector<Wait> waits_;                ///< one for each thread
  std::size_t waiting_ = 0;                ///< how many of them wait
  std::size_t at_barrier_ = 0;             ///< and for their block
  std::vector<unsigned long long> values_; ///< Block::values
  std::vector<unsigned> opened_;           ///< threads that go on in this round
  // What the current thread ended the launch with.
  std::optional<std::string> message_;
  std::optional<Fault> fault_;
};

} // namespace cgrt
