// What streams and events order while statements are lowered.
#pragma once

#include "ir/module.h"
#include "ir/reachability.h"

#include <cstdint>
#include <map>
#include <vector>

namespace cgc {

/// Nodes of one graph that something comes after.
struct Mark {
  std::vector<std::uint32_t> nodes; ///< ascending; none is known to come after another
  std::vector<NodeRange> ranges;

  static Mark of(NodeRange nodes);
  bool empty() const { return nodes.empty() && ranges.empty(); }
};

/// What the next node of a stream comes after.
struct Front {
  Mark mark;
  /// Ranges that have come into the mark, by begin: the next node comes after them, or has.
  std::map<std::uint32_t, std::uint32_t> passed;
};

/// Knows the order among the nodes of streams, so that marks hold nothing that others imply: a
/// stream may wait and record any number of times between two nodes.
class StreamOrder {
public:
  /// Adds the next nodes, up to that number, which come after none.
  void add_up_to(std::uint32_t count);
  /// Adds the nodes up to this one, which comes after the mark's.
  void add(std::uint32_t node, const Mark &after);

  /// Makes `into` stand for what both do, all of which have been added.
  void merge(Mark &into, const Mark &mark) const;
  void merge(Front &into, const Mark &mark) const;

private:
  bool implies(const Mark &mark, std::uint32_t node) const;

  std::uint32_t count_ = 0;
  Reachability reachability_;
};

} // namespace cgc
