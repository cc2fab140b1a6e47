#include "resize.h"

#include "box.h"

#include <algorithm>
#include <limits>

namespace cgrt {

namespace {

/// Adds the copies of one graph: each of up to three loops, as many of them as the others count.
class CommonCopy {
public:
  CommonCopy(DeviceGraph &graph, const Loops &loops, std::size_t element_bytes)
      : graph_(graph), loops_(loops.all()), bytes_(element_bytes) {
    // CUDA limits the bytes from one row to the next.
    const auto fits = [this](const Loop &loop) {
      const auto most = std::numeric_limits<std::int32_t>::max() / static_cast<long>(bytes_);
      return loop.stride[0] <= most && loop.stride[1] <= most;
    };
    inner_ = loops_.size() < 2 || !fits(loops_[1]) ? 1 : std::min<std::size_t>(loops_.size(), 3);
  }

  void add(std::byte *to, const std::byte *from) { add(to, from, loops_.size()); }

private:
  void add(std::byte *to, const std::byte *from, std::size_t loops) {
    if (loops <= inner_) {
      add_node(to, from);
      return;
    }
    const Loop &loop = loops_[loops - 1];
    for (std::int64_t i = 0; i < loop.count; ++i) {
      add(to + offset(loop, 0, i), from + offset(loop, 1, i), loops - 1);
    }
  }

  std::size_t offset(const Loop &loop, std::size_t side, std::int64_t index) const {
    return static_cast<std::size_t>(loop.stride[side] * index) * bytes_;
  }

  void add_node(std::byte *to, const std::byte *from) {
    CopyParams params;
    params.destination = to;
    params.source = from;
    params.width = static_cast<std::size_t>(loops_[0].count) * bytes_;
    if (inner_ > 1) {
      params.height = static_cast<std::size_t>(loops_[1].count);
      params.destination_rows.pitch = offset(loops_[1], 0, 1);
      params.source_rows.pitch = offset(loops_[1], 1, 1);
    }
    if (inner_ > 2) {
      params.depth = static_cast<std::size_t>(loops_[2].count);
      params.destination_rows.per_plane =
          static_cast<std::size_t>(loops_[2].stride[0] / loops_[1].stride[0]);
      params.source_rows.per_plane =
          static_cast<std::size_t>(loops_[2].stride[1] / loops_[1].stride[1]);
    }
    graph_.add_node(params, {}, {"keeping what a buffer held", {}}, true);
  }

  DeviceGraph &graph_;
  std::span<const Loop> loops_;
  std::size_t bytes_;
  std::size_t inner_ = 1; ///< loops that one node walks
};

} // namespace

void copy_common(DeviceBackend &device, const PlacedBuffer &from, const PlacedBuffer &to,
                 std::size_t element_bytes) {
  Box source;
  source.rank = from.extents.size();
  for (std::size_t axis = 0; axis < source.rank; ++axis) {
    source.count[axis] = std::min(from.extents[axis], to.extents[axis]);
  }
  Box destination = source;
  std::copy(from.extents.begin(), from.extents.end(), source.extent.begin());
  std::copy(to.extents.begin(), to.extents.end(), destination.extent.begin());
  if (source.empty()) {
    return;
  }
  const auto graph = device.create_graph();
  const Loops loops(destination, source);
  CommonCopy(*graph, loops, element_bytes).add(to.data, from.data);
  const auto executable = graph->instantiate();
  executable->launch();
  executable->wait();
}

} // namespace cgrt
