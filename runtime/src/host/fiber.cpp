#include "host/fiber.h"

#include <cgrt/types.h>

#include <cerrno>
#include <functional>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#ifdef CGRT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace cgrt {

namespace {

/// As large as the stack, so that a large frame does not reach beyond it; and an odd number of
/// pages with it, since a processor's caches have trouble with stacks at distances of powers of
/// two.
std::size_t guard_bytes() {
  return FiberStack::bytes + static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

FiberStack::FiberStack() {
  const std::size_t guard = guard_bytes();
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
  const std::size_t guard = guard_bytes();
  munmap(bottom_ - guard, guard + bytes);
}

bool FiberStack::is_overrun(const void *address) const {
  const std::less<const void *> before;
  return !before(address, bottom_ - guard_bytes()) && before(address, bottom_);
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
