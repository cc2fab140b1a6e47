#include "host/fiber.h"

#include "host/sanitizer.h"
#include "host/stack_switch.h"

#include <cgrt/types.h>

#include <cerrno>
#include <functional>
#include <sys/mman.h>
#include <system_error>
#ifdef CGRT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace cgrt {

namespace {

/// Announces the switch to another stack; the present one's state goes to `*saved`.
void start_switch([[maybe_unused]] void **saved, [[maybe_unused]] const void *bottom,
                  [[maybe_unused]] std::size_t bytes) {
#ifdef CGRT_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(saved, bottom, bytes);
#endif
}

/// Ends the switch on the new stack, whose state is `saved`; tells which stack was left.
void finish_switch([[maybe_unused]] void *saved, [[maybe_unused]] const void **bottom,
                   [[maybe_unused]] std::size_t *bytes) {
#ifdef CGRT_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(saved, bottom, bytes);
#endif
}

} // namespace

FiberStack::FiberStack() {
  void *mapping = mmap(nullptr, guard_bytes + bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED || mprotect(mapping, guard_bytes, PROT_NONE) != 0) {
    const int code = errno;
    if (mapping != MAP_FAILED) {
      munmap(mapping, guard_bytes + bytes);
    }
    throw Error(ErrorCode::Device, "no memory for the stack of a kernel thread: " +
                                       std::generic_category().message(code) +
                                       "; fewer threads for the host device need less of it");
  }
  bottom_ = static_cast<std::byte *>(mapping) + guard_bytes;
#ifdef CGRT_ADDRESS_SANITIZER
  // The addresses may have belonged to a stack that was dropped in the middle of a run.
  __asan_unpoison_memory_region(bottom_, bytes);
#endif
}

FiberStack::~FiberStack() {
  munmap(bottom_ - guard_bytes, guard_bytes + bytes);
}

bool FiberStack::is_overrun(const void *address) const {
  const std::less<const void *> before;
  return !before(address, bottom_ - guard_bytes) && before(address, bottom_);
}

bool Fiber::resume() {
  if (inside_ == nullptr) {
    inside_ = place_at_function(stack_.end(), run_forever, this);
  }
  start_switch(&outside_fake_stack_, stack_.bottom(), FiberStack::bytes);
  cgrt_switch_stack(&outside_, inside_);
  finish_switch(outside_fake_stack_, nullptr, nullptr);
  return suspended_;
}

void Fiber::suspend() {
  suspended_ = true;
  leave();
  suspended_ = false;
}

void Fiber::leave() {
  start_switch(&inside_fake_stack_, outside_bottom_, outside_bytes_);
  cgrt_switch_stack(&inside_, outside_);
  finish_switch(inside_fake_stack_, &outside_bottom_, &outside_bytes_);
}

void Fiber::run_forever(void *self) {
  auto &fiber = *static_cast<Fiber *>(self);
  finish_switch(nullptr, &fiber.outside_bottom_, &fiber.outside_bytes_);
  for (;;) {
    fiber.body_(fiber.argument_);
    // The next resume() begins the body anew.
    fiber.leave();
  }
}

} // namespace cgrt
