// Memory whose overruns show.
#pragma once

#include <cstddef>

namespace cgrt {

/// Bytes aligned to 256, between inaccessible pages: one begins where the bytes, rounded up to a
/// multiple of 256, end; the other lies less than a page before them. So many mappings cost much,
/// and are limited per process: beyond some thousand blocks, memory comes without such pages. It is
/// filled with 0xFF, and so are the rest of its pages. std::bad_alloc when there is none.
class GuardedMemory {
public:
  static constexpr std::size_t alignment = 256;

  explicit GuardedMemory(std::size_t bytes);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  std::byte *data() const { return data_; }
  std::size_t size() const { return bytes_; }
  /// Behind the bytes and what their alignment adds.
  std::byte *end() const { return data_ + rounded_up(bytes_); }

  /// To a multiple of the alignment.
  static std::size_t rounded_up(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }

private:
  bool map();

  std::byte *data_ = nullptr;
  std::size_t bytes_;
  void *mapping_ = nullptr; ///< null for memory without guards
  std::size_t mapped_bytes_ = 0;
};

} // namespace cgrt
