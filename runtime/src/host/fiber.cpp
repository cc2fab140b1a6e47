// The fortified longjmp refuses to leave one stack for another, which is all that happens here.
#undef _FORTIFY_SOURCE

#include "host/fiber.h"

#include <cgrt/types.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <sys/mman.h>
#include <system_error>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define CGRT_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CGRT_ADDRESS_SANITIZER
#endif
#endif
#ifdef CGRT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace cgrt {

namespace {

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

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
  const std::size_t guard = page_bytes();
  void *mapping = mmap(nullptr, guard + bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED || mprotect(mapping, guard, PROT_NONE) != 0) {
    const int code = errno;
    if (mapping != MAP_FAILED) {
      munmap(mapping, guard + bytes);
    }
    throw Error(ErrorCode::Device, "no memory for the stack of a kernel thread: " +
                                       std::generic_category().message(code) +
                                       "; fewer threads for the host device need less of it");
  }
  bottom_ = static_cast<std::byte *>(mapping) + guard;
#ifdef CGRT_ADDRESS_SANITIZER
  // The addresses may have belonged to a stack that was dropped in the middle of a run.
  __asan_unpoison_memory_region(bottom_, bytes);
#endif
}

FiberStack::~FiberStack() {
  const std::size_t guard = page_bytes();
  munmap(bottom_ - guard, guard + bytes);
}

bool Fiber::resume() {
  start_switch(&outside_fake_stack_, stack_.bottom(), FiberStack::bytes);
  if (_setjmp(outside_) == 0) {
    if (!has_begun_) {
      begin();
    }
    _longjmp(inside_, 1);
  }
  finish_switch(outside_fake_stack_, nullptr, nullptr);
  return suspended_;
}

void Fiber::suspend() {
  suspended_ = true;
  start_switch(&inside_fake_stack_, outside_bottom_, outside_bytes_);
  if (_setjmp(inside_) == 0) {
    _longjmp(outside_, 1);
  }
  finish_switch(inside_fake_stack_, &outside_bottom_, &outside_bytes_);
  suspended_ = false;
}

// The frame is left by setcontext, so AddressSanitizer must not mark it.
__attribute__((no_sanitize_address)) void Fiber::begin() {
  has_begun_ = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stack_.bottom();
  context.uc_stack.ss_size = FiberStack::bytes;
  context.uc_link = nullptr;
  // makecontext passes ints only.
  const auto self = std::bit_cast<std::uint64_t>(this);
  makecontext(&context, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self));
  setcontext(&context);
  // Only a damaged context comes here.
  std::terminate();
}

void Fiber::enter(unsigned high, unsigned low) {
  const auto self = (std::uint64_t{high} << 32) | low;
  std::bit_cast<Fiber *>(self)->run_forever();
}

void Fiber::run_forever() {
  finish_switch(nullptr, &outside_bottom_, &outside_bytes_);
  for (;;) {
    body_(argument_);
    // Like suspend(), but the next resume() begins the body anew.
    start_switch(&inside_fake_stack_, outside_bottom_, outside_bytes_);
    if (_setjmp(inside_) == 0) {
      _longjmp(outside_, 1);
    }
    finish_switch(inside_fake_stack_, &outside_bottom_, &outside_bytes_);
  }
}

} // namespace cgrt
