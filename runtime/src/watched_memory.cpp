#include "watched_memory.h"

namespace cgrt {

WatchedMemory::WatchedMemory(const format::Program &program, std::span<const PlacedBuffer> buffers,
                             DeviceBackend &device)
    : buffers_(buffers), device_(device), sizes_(buffers.size()) {
  for (std::uint32_t index = 0; index < buffers.size(); ++index) {
    const format::BufferId id{index};
    const format::Buffer &buffer = program[id];
    const bool reachable = buffer.space == MemorySpace::Device || buffer.mapped;
    if (!reachable || id == program.reports || id == program.stops) {
      continue;
    }
    std::size_t bytes = format::size_of(buffer.type); // an extent of 0 makes 0 of what overflows
    for (const std::int64_t extent : buffers[index].extents) {
      bytes *= static_cast<std::size_t>(extent);
    }
    sizes_[index] = bytes;
    watched_.push_back(id);
  }
  held_ = read_all();
}

void WatchedMemory::look_at(format::BufferId buffer) {
  held_[buffer.index] = read(buffer);
}

Bytes WatchedMemory::read(format::BufferId buffer) const {
  Bytes bytes(sizes_[buffer.index]);
  if (!bytes.empty()) {
    device_.copy(bytes.data(), buffers_[buffer.index].data, bytes.size());
  }
  return bytes;
}

Contents WatchedMemory::read_all() const {
  Contents contents(buffers_.size());
  for (const format::BufferId buffer : watched_) {
    contents[buffer.index] = read(buffer);
  }
  return contents;
}

void WatchedMemory::write(format::BufferId buffer, const Bytes &bytes) const {
  if (!bytes.empty()) {
    device_.copy(buffers_[buffer.index].data, bytes.data(), bytes.size());
  }
}

} // namespace cgrt
