#include "format/geometry.h"

namespace cgrt::format {

namespace {

std::optional<std::string> axis_problem(std::string_view what,
                                        const std::array<std::int64_t, 3> &values,
                                        const std::array<std::int64_t, 3> &limits,
                                        std::int64_t least) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t value = values[axis];
    const std::string name = std::string(what) + "." + "xyz"[axis];
    if (value < least) {
      return name + " is " + std::to_string(value) + "; it must be at least " +
             std::to_string(least);
    }
    if (value > limits[axis]) {
      return name + " is " + std::to_string(value) + "; the limit is " +
             std::to_string(limits[axis]);
    }
  }
  return std::nullopt;
}

std::optional<std::string> cluster_problem(const Geometry &geometry) {
  constexpr std::int64_t most = max_blocks_per_cluster;
  if (auto problem = axis_problem("cluster", geometry.cluster, {most, most, most}, 1)) {
    return problem;
  }
  const std::int64_t blocks = geometry.cluster[0] * geometry.cluster[1] * geometry.cluster[2];
  if (blocks > most) {
    return "the cluster has " + std::to_string(blocks) + " blocks; the limit is " +
           std::to_string(most);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (geometry.grid[axis] % geometry.cluster[axis] != 0) {
      return std::string("grid.") + "xyz"[axis] + " is " + std::to_string(geometry.grid[axis]) +
             ", not a multiple of the cluster's " + std::to_string(geometry.cluster[axis]);
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> geometry_problem(const Geometry &geometry) {
  if (auto problem = axis_problem("grid", geometry.grid, max_grid, 0)) {
    return problem;
  }
  if (auto problem = axis_problem("block", geometry.block, max_block, 1)) {
    return problem;
  }
  const std::int64_t threads = geometry.block[0] * geometry.block[1] * geometry.block[2];
  if (threads > max_threads_per_block) {
    return "the block has " + std::to_string(threads) + " threads; the limit is " +
           std::to_string(max_threads_per_block);
  }
  if (geometry.shared_bytes < 0 || geometry.shared_bytes > max_shared_bytes) {
    return "the dynamic shared memory is " + std::to_string(geometry.shared_bytes) +
           " bytes; it must be 0 to " + std::to_string(max_shared_bytes);
  }
  return cluster_problem(geometry);
}

} // namespace cgrt::format
