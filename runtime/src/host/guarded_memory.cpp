#include "host/guarded_memory.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace cgrt {

namespace {

/// Each takes three of the mappings that Linux allows a process, 65,530 by default; the stacks of
/// kernel threads need most of them.
constexpr int most_guarded = 4096;
std::atomic<int> guarded_count = 0;

} // namespace

GuardedMemory::GuardedMemory(std::size_t bytes) : bytes_(bytes) {
  if (bytes > PTRDIFF_MAX / 2) {
    throw std::bad_alloc();
  }
  if (++guarded_count <= most_guarded && map()) {
    return;
  }
  --guarded_count;
  data_ =
      static_cast<std::byte *>(::operator new[](rounded_up(bytes), std::align_val_t{alignment}));
  std::memset(data_, 0xFF, rounded_up(bytes));
}

bool GuardedMemory::map() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t inner = (bytes_ + page - 1) / page * page;
  void *mapping = mmap(nullptr, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return false;
  }
  std::byte *begin = static_cast<std::byte *>(mapping) + page;
  if (inner > 0 && mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, inner + 2 * page);
    return false;
  }
  mapping_ = mapping;
  mapped_bytes_ = inner + 2 * page;
  std::memset(begin, 0xFF, inner);
  data_ = begin + inner - rounded_up(bytes_);
  return true;
}

GuardedMemory::~GuardedMemory() {
  if (mapping_ == nullptr) {
    ::operator delete[](data_, std::align_val_t{alignment});
    return;
  }
  munmap(mapping_, mapped_bytes_);
  --guarded_count;
}

} // namespace cgrt
