#include "host/block_runner.h"

#include <cstring>
#include <new>

namespace cgrt {

namespace {
constexpr std::align_val_t shared_alignment{256};
}

void BlockRunner::FreeAligned::operator()(std::byte *memory) const {
  ::operator delete[](memory, shared_alignment);
}

BlockRunner::BlockRunner() {
  block_.runner = this;
  block_.wait = wait;
  block_.fault = fault;
}

void BlockRunner::run(const BlockLaunch &launch, std::uint64_t index) {
  prepare(launch, index);
  while (block_.started < block_.threads) {
    resume(unused_fiber());
  }
  while (!waiting_.empty()) {
    resuming_.swap(waiting_);
    for (Fiber *fiber : resuming_) {
      resume(*fiber);
    }
    resuming_.clear();
  }
}

void BlockRunner::prepare(const BlockLaunch &launch, std::uint64_t index) {
  launch_ = &launch;
  used_ = 0;
  const auto set = [](unsigned(&extents)[3], const Dim3 &from) {
    extents[0] = from.x;
    extents[1] = from.y;
    extents[2] = from.z;
  };
  set(block_.grid_dim, launch.grid);
  set(block_.block_dim, launch.block);
  block_.block_index[0] = static_cast<unsigned>(index % launch.grid.x);
  block_.block_index[1] = static_cast<unsigned>(index / launch.grid.x % launch.grid.y);
  block_.block_index[2] = static_cast<unsigned>(index / launch.grid.x / launch.grid.y);
  block_.threads = launch.block.x * launch.block.y * launch.block.z;
  block_.started = 0;
  block_.backwards = launch.backwards != (index % 2 == 1);
  if (launch.shared_bytes > shared_capacity_) {
    shared_.reset(
        static_cast<std::byte *>(::operator new[](launch.shared_bytes, shared_alignment)));
    shared_capacity_ = launch.shared_bytes;
    block_.dynamic_shared = reinterpret_cast<unsigned char *>(shared_.get());
  }
  if (launch.shared_bytes > 0) {
    // As in fresh memory: what a thread reads without having written it should show.
    std::memset(shared_.get(), 0xFF, launch.shared_bytes);
  }
}

Fiber &BlockRunner::unused_fiber() {
  if (used_ == fibers_.size()) {
    fibers_.push_back(std::make_unique<Fiber>(run_threads, this));
  }
  return *fibers_[used_++];
}

void BlockRunner::resume(Fiber &fiber) {
  current_ = &fiber;
  if (fiber.resume()) {
    if (fault_) {
      abandon();
    }
    waiting_.push_back(&fiber);
  }
}

void BlockRunner::abandon() {
  const std::string message = std::move(*fault_);
  fault_.reset();
  waiting_.clear();
  resuming_.clear();
  // Their stacks are in the middle of threads that will never go on.
  fibers_.clear();
  throw Error(ErrorCode::Device, message);
}

void BlockRunner::run_threads(void *self) {
  auto &runner = *static_cast<BlockRunner *>(self);
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  runner.launch_->entry(&runner.block_, reinterpret_cast<const unsigned long long *>(
                                            runner.launch_->arguments.data()));
}

void BlockRunner::wait(host_abi::Block *block, host_abi::Group /*the only one: Block*/) {
  static_cast<Running *>(block)->runner->current_->suspend();
}

void BlockRunner::fault(host_abi::Block *block, const char *message) {
  BlockRunner &runner = *static_cast<Running *>(block)->runner;
  runner.fault_ = message;
  runner.current_->suspend();
}

} // namespace cgrt
