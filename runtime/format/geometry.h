// The launch geometry every device accepts, so that all of them refuse the same programs.
// CUDA C++ Programming Guide, "Compute Capabilities", table of technical specifications.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cgrt::format {

inline constexpr std::array<std::int64_t, 3> max_grid = {2147483647, 65535, 65535};
inline constexpr std::array<std::int64_t, 3> max_block = {1024, 1024, 64};
inline constexpr std::int64_t max_threads_per_block = 1024;

/// Dynamic plus static shared memory of one block on compute capability 9.0, opted in.
inline constexpr std::int64_t max_shared_bytes = 232448;

/// Blocks of a cluster that every device with clusters can run.
inline constexpr std::int64_t max_blocks_per_cluster = 8;

struct Geometry {
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::array<std::int64_t, 3> block = {1, 1, 1};
  std::int64_t shared_bytes = 0;
  std::array<std::int64_t, 3> cluster = {1, 1, 1}; ///< in blocks

  /// A grid dimension of 0 makes the launch do nothing.
  bool empty() const { return grid[0] == 0 || grid[1] == 0 || grid[2] == 0; }
};

/// What is illegal about the geometry: "grid.y is 65536; the limit is 65535". Nothing: legal.
std::optional<std::string> geometry_problem(const Geometry &geometry);

} // namespace cgrt::format
