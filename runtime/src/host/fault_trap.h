// Hardware faults of kernels (SIGSEGV and its kin) as errors of their launch.
#pragma once

#include <csignal>
#include <cstddef>
#include <memory>

namespace cgrt {

/// The stack that signal handlers of one worker run on, since a kernel's own may be overrun.
class SignalStack {
public:
  static constexpr std::size_t bytes = std::size_t{64} << 10;

  SignalStack() : memory_(std::make_unique<std::byte[]>(bytes)) {}
  std::byte *data() const { return memory_.get(); }

private:
  std::unique_ptr<std::byte[]> memory_;
};

/// While it lives, faults on the thread that made it go to `handle(self, …)`, which leaves the
/// signal handler by switching stacks, or returns for a fault that it does not know. Such a fault,
/// and those of other threads, go where they went before. Destroyed by the same thread.
///
/// The signals' handlers belong to the process: they are installed while any FaultTrap lives. Under
/// AddressSanitizer, which reports faults itself, nothing is trapped.
class FaultTrap {
public:
  using Handle = void (*)(void *self, int signal, const siginfo_t &info);

  FaultTrap(const SignalStack &stack, Handle handle, void *self);
  ~FaultTrap();
  FaultTrap(const FaultTrap &) = delete;
  FaultTrap &operator=(const FaultTrap &) = delete;

  void operator()(int signal, const siginfo_t &info) const { handle_(self_, signal, info); }

private:
  Handle handle_;
  void *self_;
  const FaultTrap *outer_ = nullptr; ///< of this thread
  stack_t outer_stack_{};
};

} // namespace cgrt
