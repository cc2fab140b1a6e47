// A stack of its own to run a function on, that can be left in the middle and entered again.
#pragma once

#include "host/sanitizer.h"
#include "host/stack_switch.h"

#include <cstddef>
#ifdef CGRT_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CGRT_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

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
  std::byte *bottom_;
};

/// Runs `body(argument)` once for each time it is resumed from its end. Destroying a fiber in the
/// middle of a run is allowed and runs no destructors of what is on its stack. One thread at a
/// time. Switches are inline, since a processor mispredicts each return behind one.
class Fiber {
public:
  using Body = void (*)(void *argument);

  Fiber(Body body, void *argument)
      : body_(body), argument_(argument),
        inside_(place_at_function(stack_.end(), run_forever, this)) {
#ifdef CGRT_THREAD_SANITIZER
    inside_fiber_ = __tsan_create_fiber(0);
#endif
  }
  ~Fiber() { // NOLINT(modernize-use-equals-default): it is not where a sanitizer looks on
#ifdef CGRT_THREAD_SANITIZER
    __tsan_destroy_fiber(inside_fiber_);
#endif
  }
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// Begins the body, or goes on after its suspend(). True when the body has suspended itself
  /// again, false when it came to its end.
  bool resume() {
    start_switch(&outside_fake_stack_, stack_.bottom(), FiberStack::bytes);
#ifdef CGRT_THREAD_SANITIZER
    outside_fiber_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(inside_fiber_, 0);
#endif
    cgrt_switch_stack(&outside_, inside_);
    finish_switch(outside_fake_stack_, nullptr, nullptr);
    return suspended_;
  }
  /// Called by the body: back to resume(); returns when resumed. A signal handler that interrupted
  /// the body may call it, too, if the fiber is not resumed any more.
  void suspend() {
    suspended_ = true;
    leave();
    suspended_ = false;
  }

  const FiberStack &stack() const {
    return stack_;
  }

private:
  [[noreturn]] static void run_forever(void *self);

  void leave() {
    start_switch(&inside_fake_stack_, outside_bottom_, outside_bytes_);
#ifdef CGRT_THREAD_SANITIZER
    __tsan_switch_to_fiber(outside_fiber_, 0);
#endif
    cgrt_switch_stack(&inside_, outside_);
    finish_switch(inside_fake_stack_, &outside_bottom_, &outside_bytes_);
  }

  /// Announces the switch to another stack; the present one's state goes to `*saved`.
  static void start_switch([[maybe_unused]] void **saved, [[maybe_unused]] const void *bottom,
                           [[maybe_unused]] std::size_t bytes) {
#ifdef CGRT_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(saved, bottom, bytes);
#endif
  }
  /// Ends the switch on the new stack, whose state is `saved`; tells which stack was left.
  static void finish_switch([[maybe_unused]] void *saved, [[maybe_unused]] const void **bottom,
                            [[maybe_unused]] std::size_t *bytes) {
#ifdef CGRT_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(saved, bottom, bytes);
#endif
  }

  FiberStack stack_;
  Body body_;
  void *argument_;
  bool suspended_ = false;  ///< the body is in the middle of a run
  void *inside_;            ///< where resume() goes on
  void *outside_ = nullptr; ///< where suspend() goes on
  // For AddressSanitizer: the two sides' fake stacks, and the stack that resume() stands on.
  void *inside_fake_stack_ = nullptr;
  void *outside_fake_stack_ = nullptr;
  const void *outside_bottom_ = nullptr;
  std::size_t outside_bytes_ = 0;
#ifdef CGRT_THREAD_SANITIZER
  void *inside_fiber_ = nullptr;
  void *outside_fiber_ = nullptr;
#endif
};

} // namespace cgrt
