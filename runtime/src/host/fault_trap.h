// Hardware faults of kernels (SIGSEGV and its kin) as errors of their launch.
#pragma once

#include <csignal>
#include <cstddef>
#include <memory>

namespace cgrt {

/// While it lives, signal handlers on the thread that made it have a stack of their own, since a
/// kernel's may be overrun. Does nothing where an outer one is. Destroyed by the same thread.
class SignalStack {
public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack &) = delete;
  SignalStack &operator=(const SignalStack &) = delete;

private:
  std::unique_ptr<std::byte[]> memory_; ///< null where an outer one is
  stack_t outer_{};
};

/// While any lives in the process, its handlers for faults are ours. Faults that no FaultTrap knows
/// go where they went before. Under AddressSanitizer, which reports faults itself, nothing is
/// installed.
class FaultHandlers {
public:
  FaultHandlers();
  ~FaultHandlers();
  FaultHandlers(const FaultHandlers &) = delete;
  FaultHandlers &operator=(const FaultHandlers &) = delete;
};

/// While it, a FaultHandlers and a SignalStack of this thread live, the thread's faults go to
/// `handle(self, …)`, which leaves the signal handler by switching stacks, or returns for a fault
/// that it does not know. Destroyed by the same thread.
class FaultTrap {
public:
  using Handle = void (*)(void *self, int signal, const siginfo_t &info);

  FaultTrap(Handle handle, void *self);
  ~FaultTrap();
  FaultTrap(const FaultTrap &) = delete;
  FaultTrap &operator=(const FaultTrap &) = delete;

  void operator()(int signal, const siginfo_t &info) const { handle_(self_, signal, info); }

private:
  Handle handle_;
  void *self_;
  const FaultTrap *outer_; ///< of this thread
};

} // namespace cgrt
