// A stack of its own to run a function on, that can be left in the middle and entered again.
#pragma once

#include <cstddef>

namespace cgrt {

/// Overrunning it by less than its own size is a fault, not silent damage.
class FiberStack {
public:
  static constexpr std::size_t bytes = std::size_t{256} << 10;

  /// Error{Device} when the memory cannot be had.
  FiberStack();
  ~FiberStack();
  FiberStack(const FiberStack &) = delete;
  FiberStack &operator=(const FiberStack &) = delete;

  std::byte *bottom() const { return bottom_; }
  std::byte *end() const { return bottom_ + bytes; }
  /// Whether `address` is where an overrun faults.
  bool is_overrun(const void *address) const;

private:
  static constexpr std::size_t guard_bytes = bytes;

  std::byte *bottom_;
};

/// Runs `body(argument)` once for each time it is resumed from its end. Destroying a fiber in the
/// middle of a run is allowed and runs no destructors of what is on its stack. One thread at a
/// time.
class Fiber {
public:
  using Body = void (*)(void *argument);

  Fiber(Body body, void *argument) : body_(body), argument_(argument) {}
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// Begins the body, or goes on after its suspend(). True when the body has suspended itself
  /// again, false when it came to its end.
  bool resume();
  /// Called by the body: back to resume(); returns when resumed. A signal handler that interrupted
  /// the body may call it, too, if the fiber is not resumed any more.
  void suspend();

  const FiberStack &stack() const { return stack_; }

private:
  [[noreturn]] static void run_forever(void *self);
  void leave();

  FiberStack stack_;
  Body body_;
  void *argument_;
  bool suspended_ = false;  ///< the body is in the middle of a run
  void *inside_ = nullptr;  ///< where to go on in the body; null before the first time
  void *outside_ = nullptr; ///< where resume() goes on
  // For AddressSanitizer: the two sides' fake stacks, and the stack that resume() stands on.
  void *inside_fake_stack_ = nullptr;
  void *outside_fake_stack_ = nullptr;
  const void *outside_bottom_ = nullptr;
  std::size_t outside_bytes_ = 0;
};

} // namespace cgrt
