// The memory that kernels can reach, and what it held when last looked at.
#pragma once

#include "device.h"
#include "format/program.h"
#include "graph_builder.h"

#include <cstddef>
#include <span>
#include <vector>

namespace cgrt {

using Bytes = std::vector<std::byte>;
/// Contents by the buffer's index.
using Contents = std::vector<Bytes>;

/// Device memory and mapped host memory, but for the words that loops and the caller exchange.
class WatchedMemory {
public:
  /// Everything must outlive this object; `buffers` is parallel to the program's. Looks at all.
  WatchedMemory(const format::Program &program, std::span<const PlacedBuffer> buffers,
                DeviceBackend &device);

  const std::vector<format::BufferId> &buffers() const { return watched_; }
  const PlacedBuffer &placed(format::BufferId buffer) const { return buffers_[buffer.index]; }
  /// As last looked at; empty for a buffer that is not watched.
  const Bytes &held(format::BufferId buffer) const { return held_[buffer.index]; }
  void hold(Contents contents) { held_ = std::move(contents); }
  /// Looks again, if it is watched.
  void look_at(format::BufferId buffer);

  Bytes read(format::BufferId buffer) const;
  Contents read_all() const;
  void write(format::BufferId buffer, const Bytes &bytes) const;

private:
  std::span<const PlacedBuffer> buffers_;
  DeviceBackend &device_;
  std::vector<format::BufferId> watched_;
  std::vector<std::size_t> sizes_; ///< by the buffer's index, 0 for one that is not watched
  Contents held_;
};

} // namespace cgrt
