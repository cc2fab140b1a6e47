// Boxes of row-major buffers in numbers, and how copies and fills walk them.
#pragma once

#include "format/program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cgrt {

/// A region with the numbers in place: the elements [begin, begin + count) in each of `rank`
/// dimensions of a buffer with these extents, all within them.
struct Box {
  using Numbers = std::array<std::int64_t, format::max_dimensions>;

  std::size_t rank = 0;
  Numbers begin{}, count{}, extent{};

  bool empty() const;
  /// Whether its elements are neighbours in memory.
  bool contiguous() const;
  /// Where its first element stands in the buffer, in elements; of a box that is not empty.
  std::int64_t first() const;
  /// Whether it shares an element with `other`, a box of the same buffer.
  bool overlaps(const Box &other) const;
  /// "[4, 1, 3]"
  std::string text() const;
};

/// Whether the boxes have the same extents when those that are 1 are left out.
bool same_extents(const Box &a, const Box &b);

/// One of the nested loops that walk two boxes at once.
struct Loop {
  std::int64_t count = 1;
  std::array<std::int64_t, 2> stride = {1, 1}; ///< in the first and the second box, in elements
};

/// The fewest loops that walk two boxes in the same order.
class Loops {
public:
  /// The boxes have the same extents and are not empty.
  Loops(const Box &a, const Box &b);
  explicit Loops(const Box &box) : Loops(box, box) {}

  /// Innermost first: that one has stride 1. Each stride is a multiple of the one before.
  std::span<const Loop> all() const { return {loops_.data(), size_}; }
  std::size_t size() const { return size_; }

private:
  std::array<Loop, format::max_dimensions + 1> loops_{};
  std::size_t size_ = 1;
};

} // namespace cgrt
