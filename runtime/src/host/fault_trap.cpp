#include "host/fault_trap.h"

#include "host/sanitizer.h"

#include <cgrt/types.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <string>
#include <system_error>

namespace cgrt {

#ifdef CGRT_ADDRESS_SANITIZER

FaultTrap::FaultTrap(const SignalStack & /*stack*/, Handle handle, void *self)
    : handle_(handle), self_(self) {}
FaultTrap::~FaultTrap() = default;

#else

namespace {

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

void on_signal(int signal, siginfo_t *info, void *context) {
  const int saved_errno = errno;
  if (current != nullptr && info->si_code > 0) {
    (*current)(signal, *info);
  }
  pass_on(signal, info, context);
  errno = saved_errno;
}

void install() {
  Handlers &all = handlers();
  const std::lock_guard lock(all.mutex);
  if (all.users++ > 0) {
    return;
  }
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  // The signal stays deliverable: its handler is left without returning.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], &action, &all.previous[i]);
  }
}

void uninstall() {
  Handlers &all = handlers();
  const std::lock_guard lock(all.mutex);
  if (--all.users > 0) {
    return;
  }
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], &all.previous[i], nullptr);
  }
}

} // namespace

FaultTrap::FaultTrap(const SignalStack &stack, Handle handle, void *self)
    : handle_(handle), self_(self), outer_(current) {
  stack_t ours{};
  ours.ss_sp = stack.data();
  ours.ss_size = SignalStack::bytes;
  if (sigaltstack(&ours, &outer_stack_) != 0) {
    throw Error(ErrorCode::Device, "no stack for signal handlers: " +
                                       std::generic_category().message(errno));
  }
  install();
  current = this;
}

FaultTrap::~FaultTrap() {
  current = outer_;
  uninstall();
  sigaltstack(&outer_stack_, nullptr);
}

#endif

} // namespace cgrt
