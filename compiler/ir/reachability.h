// Which nodes of a growing graph come before which.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cgc {

/// Nodes are added in topological order and covered by chains: parts of paths along edges. A node
/// knows, for each chain, how far along it its ancestors reach; chains make that short for the
/// graphs people write, and nodes along one chain share it.
class Reachability {
public:
  /// Adds the next node (they count from 0) with the given predecessors, none of which is an
  /// ancestor of another.
  void add(std::span<const std::uint32_t> predecessors);

  /// The predecessors that no other one implies, ascending. `predecessors` is ascending without
  /// duplicates and holds nodes that have been added and not forgotten.
  std::vector<std::uint32_t> reduce(std::span<const std::uint32_t> predecessors) const;

  /// Tells of earlier nodes whether they come before one node.
  class Ancestors {
  public:
    Ancestors(const Reachability &all, std::uint32_t node);
    bool contains(std::uint32_t earlier) const;

  private:
    const Reachability &all_;
    std::unordered_map<std::uint32_t, std::uint32_t> reach_; ///< how far along each chain
  };

  /// Whether one node comes before another; neither has been forgotten.
  bool precedes(std::uint32_t earlier, std::uint32_t later) const;

  /// Frees what is known about a node that will not be a predecessor any more.
  void forget(std::uint32_t node) { ancestors_[node].reset(); }

private:
  struct Mark {
    std::uint32_t chain;
    std::uint32_t position; ///< of the last ancestor on that chain
  };
  /// One for each chain with ancestors, ascending; may say nothing about the node's own chain, all
  /// of which so far lies before it.
  using Marks = std::vector<Mark>;

  struct Position {
    std::uint32_t chain;
    std::uint32_t position;
  };

  bool is_end(std::uint32_t chain, std::uint32_t position) const {
    return position + 1 == chain_lengths_[chain];
  }
  std::shared_ptr<const Marks> merged_marks(std::span<const std::uint32_t> predecessors);

  std::vector<Position> positions_;
  std::vector<std::shared_ptr<const Marks>> ancestors_;
  std::vector<std::uint32_t> chain_lengths_;
  std::vector<std::uint32_t> last_predecessors_; ///< merged last
  std::shared_ptr<const Marks> last_marks_;
};

} // namespace cgc
