#include "host/fault_trap.h"

#include "host/sanitizer.h"

#include <cgrt/types.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <string>
#include <system_error>

namespace cgrt {

namespace {

constexpr std::size_t signal_stack_bytes = std::size_t{64} << 10;

constexpr std::array signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

/// The handlers of the process, which are global by nature.
struct Handlers {
  std::mutex mutex;
  std::size_t users = 0;
  std::array<struct sigaction, signals.size()> previous;
};

Handlers &handlers() {
  static Handlers instance;
  return instance;
}

thread_local const FaultTrap *current = nullptr;
#if defined(CGRT_ADDRESS_SANITIZER) || defined(CGRT_THREAD_SANITIZER)
thread_local bool has_signal_stack = true; // its own
#else
thread_local bool has_signal_stack = false;
#endif

/// Lets the signal do what it would have done without us.
void pass_on(int signal, siginfo_t *info, void *context) {
  std::size_t index = 0;
  while (signals[index] != signal) {
    ++index;
  }
  const struct sigaction &previous = handlers().previous[index];
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL ||
             (previous.sa_handler == SIG_IGN && info->si_code > 0)) {
    // A fault occurs again, a signal that someone sent is sent again.
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    sigaction(signal, &plain, nullptr);
    if (info->si_code <= 0) {
      raise(signal);
    }
  } else if (previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  }
}

[[maybe_unused]] void on_signal(int signal, siginfo_t *info, void *context) {
  const int saved_errno = errno;
  if (current != nullptr && info->si_code > 0) {
    (*current)(signal, *info);
  }
  pass_on(signal, info, context);
  errno = saved_errno;
}

} // namespace

SignalStack::SignalStack() {
  if (has_signal_stack) {
    return;
  }
  memory_ = std::make_unique<std::byte[]>(signal_stack_bytes);
  stack_t ours{};
  ours.ss_sp = memory_.get();
  ours.ss_size = signal_stack_bytes;
  if (sigaltstack(&ours, &outer_) != 0) {
    throw Error(ErrorCode::Device,
                "no stack for signal handlers: " + std::generic_category().message(errno));
  }
  has_signal_stack = true;
}

SignalStack::~SignalStack() {
  if (memory_) {
    sigaltstack(&outer_, nullptr);
    has_signal_stack = false;
  }
}

FaultHandlers::FaultHandlers() {
#if !defined(CGRT_ADDRESS_SANITIZER) && !defined(CGRT_THREAD_SANITIZER)
  Handlers &all = handlers();
  const std::lock_guard lock(all.mutex);
  if (all.users++ > 0) {
    return;
  }
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  // The signal stays deliverable: its handler may be left without returning.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], &action, &all.previous[i]);
  }
#endif
}

FaultHandlers::~FaultHandlers() {
#if !defined(CGRT_ADDRESS_SANITIZER) && !defined(CGRT_THREAD_SANITIZER)
  Handlers &all = handlers();
  const std::lock_guard lock(all.mutex);
  if (--all.users > 0) {
    return;
  }
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], &all.previous[i], nullptr);
  }
#endif
}

FaultTrap::FaultTrap(Handle handle, void *self) : handle_(handle), self_(self), outer_(current) {
  current = this;
}

FaultTrap::~FaultTrap() {
  current = outer_;
}

} // namespace cgrt
