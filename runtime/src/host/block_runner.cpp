#include "host/block_runner.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

namespace cgrt {

using host_abi::Arrival;
using host_abi::Group;

namespace {

constexpr unsigned warp_threads = 32;

void set(unsigned (&extents)[3], const Dim3 &from) {
  extents[0] = from.x;
  extents[1] = from.y;
  extents[2] = from.z;
}

/// The place in `extents` that has this linear index.
Dim3 place_of(std::uint64_t index, const unsigned (&extents)[3]) {
  return {static_cast<std::uint32_t>(index % extents[0]),
          static_cast<std::uint32_t>(index / extents[0] % extents[1]),
          static_cast<std::uint32_t>(index / extents[0] / extents[1])};
}

std::string name_of(int signal) {
  switch (signal) {
  case SIGFPE:
    return "integer division by zero or with overflow";
  case SIGILL:
    return "illegal instruction";
  case SIGTRAP:
    return "trap instruction";
  default:
    return "memory fault";
  }
}

} // namespace

BlockRunner::BlockRunner() {
  block_.runner = this;
  block_.wait = wait;
  block_.fault = fault;
  block_.launch_graph = launch_graph;
  block_.current_graph = current_graph;
  block_.update_node = update_node;
}

[[gnu::always_inline]] inline void BlockRunner::resume(Fiber &fiber) {
  current_ = &fiber;
  const bool suspended = fiber.resume();
  current_ = nullptr;
  if (suspended && (fault_ || message_)) {
    abandon(fault_ ? describe(*fault_, fiber) : *message_);
  }
}

void BlockRunner::run(const BlockLaunch &launch, std::uint64_t index) {
  prepare(launch, index);
  while (block_.started < block_.threads) {
    resume(unused_fiber());
  }
  while (waiting_ > 0) {
    open_groups();
    go_on();
  }
}

void BlockRunner::prepare(const BlockLaunch &launch, std::uint64_t index) {
  launch_ = &launch;
  used_ = 0;
  set(block_.grid_dim, launch.grid);
  set(block_.block_dim, launch.block);
  set(block_.cluster_dim, launch.cluster);
  set(block_.block_index, place_of(index, block_.grid_dim));
  block_.threads = launch.block.x * launch.block.y * launch.block.z;
  block_.started = 0;
  block_.backwards = launch.backwards != (index % 2 == 1);
  if (waits_.size() < block_.threads) {
    waits_.resize(block_.threads);
    values_.resize(block_.threads);
    block_.values = values_.data();
  }
  prepare_shared(launch.shared_bytes);
}

/// Its end lies before a guard whatever its size.
void BlockRunner::prepare_shared(std::size_t bytes) {
  if (!shared_ || bytes > shared_->size()) {
    shared_.emplace(bytes);
  }
  std::byte *begin = shared_->end() - GuardedMemory::rounded_up(bytes);
  block_.dynamic_shared = reinterpret_cast<unsigned char *>(begin);
  // As in fresh memory: what a thread reads without having written it should show.
  std::memset(begin, 0xFF, bytes);
}

Fiber &BlockRunner::unused_fiber() {
  if (used_ == fibers_.size()) {
    fibers_.push_back(std::make_unique<Fiber>(run_threads, this));
  }
  return *fibers_[used_++];
}

void BlockRunner::open_groups() {
  opened_.clear();
  if (at_barrier_ == waiting_) {
    open_block();
  } else {
    for (unsigned first = 0; first < block_.threads; first += warp_threads) {
      open_warp(first);
    }
  }
  if (opened_.empty()) {
    abandon("threads wait for each other for ever (a barrier that not all threads reach) in " +
            std::string("block (") + std::to_string(block_.block_index[0]) + ", " +
            std::to_string(block_.block_index[1]) + ", " + std::to_string(block_.block_index[2]) +
            ")");
  }
}

void BlockRunner::open_block() {
  Arrival arrival{};
  for (unsigned thread = 0; thread < block_.threads; ++thread) {
    const Wait &wait = waits_[thread];
    if (wait.fiber != nullptr) {
      opened_.push_back(thread);
      ++arrival.present;
      arrival.nonzero += wait.value != 0 ? 1 : 0;
    }
  }
  for (const unsigned thread : opened_) {
    waits_[thread].arrival = arrival;
  }
}

/// Opens the groups that are complete among the warp's threads, `first` being its first one.
void BlockRunner::open_warp(unsigned first) {
  const unsigned lanes = std::min(warp_threads, block_.threads - first);
  unsigned alive = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    alive |= (waits_[first + lane].fiber != nullptr ? 1U : 0U) << lane;
  }
  for (unsigned left = alive; left != 0;) {
    const Wait &wait = waits_[first + static_cast<unsigned>(std::countr_zero(left))];
    unsigned alike = 0;
    for (unsigned rest = left; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const Wait &other = waits_[first + lane];
      alike |= (other.group == wait.group && other.mask == wait.mask ? 1U : 0U) << lane;
    }
    left &= ~alike;
    if (wait.group == Group::Active ||
        (wait.group == Group::Warp && (wait.mask & alive) == alike)) {
      open(first, alike);
    }
  }
}

void BlockRunner::open(unsigned first, unsigned lanes) {
  Arrival arrival{lanes, 0};
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    values_[first + lane] = waits_[first + lane].value;
    arrival.nonzero |= (values_[first + lane] != 0 ? 1U : 0U) << lane;
  }
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const unsigned thread = first + static_cast<unsigned>(std::countr_zero(left));
    waits_[thread].arrival = arrival;
    opened_.push_back(thread);
  }
}

void BlockRunner::go_on() {
  if (block_.backwards) {
    std::reverse(opened_.begin(), opened_.end());
  }
  for (const unsigned thread : opened_) {
    Wait &wait = waits_[thread];
    --waiting_;
    at_barrier_ -= wait.group == Group::Block ? 1 : 0;
    resume(*std::exchange(wait.fiber, nullptr));
  }
}

std::string BlockRunner::describe(const Fault &fault, const Fiber &fiber) const {
  std::string text = name_of(fault.signal);
  if (fault.signal == SIGSEGV || fault.signal == SIGBUS) {
    char address[32];
    std::snprintf(address, sizeof address, " at address 0x%" PRIxPTR,
                  reinterpret_cast<std::uintptr_t>(fault.address));
    if (fiber.stack().is_overrun(fault.address)) {
      text = "stack overflow (more than " + std::to_string(FiberStack::bytes >> 10) + " KiB)";
    } else if (fault.code != SI_KERNEL) { // else the address is none that an address space has
      text += address;
    }
  }
  const Dim3 thread = place_of(block_.thread, block_.block_dim);
  char place[128];
  std::snprintf(place, sizeof place, " in block (%u, %u, %u), thread (%u, %u, %u)",
                block_.block_index[0], block_.block_index[1], block_.block_index[2], thread.x,
                thread.y, thread.z);
  return text + place;
}

void BlockRunner::abandon(const std::string &message) {
  const Error error(ErrorCode::Device, message);
  message_.reset();
  fault_.reset();
  waits_.assign(waits_.size(), {});
  waiting_ = 0;
  at_barrier_ = 0;
  // Their stacks are in the middle of threads that will never go on.
  fibers_.clear();
  throw error;
}

void BlockRunner::run_threads(void *self) {
  auto &runner = *static_cast<BlockRunner *>(self);
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  runner.launch_->entry(&runner.block_, reinterpret_cast<const unsigned long long *>(
                                            runner.launch_->arguments.data()));
}

Arrival BlockRunner::wait(host_abi::Block *block, Group group, unsigned mask,
                          unsigned long long value) {
  BlockRunner &runner = *static_cast<Running *>(block)->runner;
  const unsigned thread = block->thread;
  Wait &wait = runner.waits_[thread];
  wait = {runner.current_, group, mask, value, {}};
  ++runner.waiting_;
  runner.at_barrier_ += group == Group::Block ? 1 : 0;
  runner.current_->suspend();
  block->thread = thread;
  return wait.arrival;
}

void BlockRunner::fault(host_abi::Block *block, const char *message) {
  BlockRunner &runner = *static_cast<Running *>(block)->runner;
  runner.message_ = message;
  runner.current_->suspend();
}

int BlockRunner::launch_graph(host_abi::Block *block, unsigned long long executable,
                              unsigned long long stream) {
  return static_cast<Running *>(block)->runner->launch_->launcher->launch_graph(executable, stream);
}

unsigned long long BlockRunner::current_graph(host_abi::Block *block) {
  return static_cast<Running *>(block)->runner->launch_->launcher->current_graph();
}

int BlockRunner::update_node(host_abi::Block *block, unsigned long long node,
                             const host_abi::NodeChange *change) {
  return static_cast<Running *>(block)->runner->launch_->launcher->update_node(node, *change);
}

/// On the signal stack. What the thread has done is not to be trusted, so this only takes notes.
void BlockRunner::on_fault(void *self, int signal, const siginfo_t &info) {
  auto &runner = *static_cast<BlockRunner *>(self);
  if (runner.current_ != nullptr) {
    runner.fault_ = Fault{signal, info.si_code, info.si_addr};
    runner.current_->suspend();
  }
}

} // namespace cgrt
