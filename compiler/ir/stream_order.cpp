#include "ir/stream_order.h"

#include <algorithm>
#include <iterator>

namespace cgc {

namespace {

bool holds(const NodeRange &range, std::uint32_t node) {
  return range.begin <= node && node < range.end;
}

/// Ranges that touch become one.
void add_range(Mark &into, const NodeRange &range) {
  NodeRange all = range;
  std::erase_if(into.ranges, [&](const NodeRange &other) {
    const bool touches = other.begin <= all.end && all.begin <= other.end;
    all = touches ? NodeRange{std::min(all.begin, other.begin), std::max(all.end, other.end)} : all;
    return touches;
  });
  std::erase_if(into.nodes, [&](std::uint32_t node) { return holds(all, node); });
  into.ranges.push_back(all);
}

} // namespace

Mark Mark::of(NodeRange nodes) {
  switch (nodes.end - nodes.begin) {
  case 0:
    return {};
  case 1:
    return {{nodes.begin}, {}};
  default:
    return {{}, {nodes}};
  }
}

void StreamOrder::add_up_to(std::uint32_t count) {
  for (; count_ < count; ++count_) {
    reachability_.add({});
  }
}

void StreamOrder::add(std::uint32_t node, const Mark &after) {
  add_up_to(node);
  reachability_.add(after.nodes);
  ++count_;
}

bool StreamOrder::implies(const Mark &mark, std::uint32_t node) const {
  const auto later = std::lower_bound(mark.nodes.begin(), mark.nodes.end(), node);
  return std::any_of(later, mark.nodes.end(),
                     [&](std::uint32_t other) {
                       return other == node || reachability_.precedes(node, other);
                     }) ||
         std::any_of(mark.ranges.begin(), mark.ranges.end(),
                     [&](const NodeRange &range) { return holds(range, node); });
}

void StreamOrder::merge(Mark &into, const Mark &mark) const {
  std::vector<std::uint32_t> added;
  for (const std::uint32_t node : mark.nodes) {
    if (!implies(into, node)) {
      added.push_back(node);
    }
  }
  if (!added.empty()) {
    const Mark rest = {std::move(added), {}};
    std::erase_if(into.nodes, [&](std::uint32_t node) { return implies(rest, node); });
    std::vector<std::uint32_t> both;
    std::merge(into.nodes.begin(), into.nodes.end(), rest.nodes.begin(), rest.nodes.end(),
               std::back_inserter(both));
    into.nodes = std::move(both);
  }
  for (const NodeRange &range : mark.ranges) {
    add_range(into, range);
  }
}

void StreamOrder::merge(Front &into, const Mark &mark) const {
  Mark rest = {mark.nodes, {}};
  for (const NodeRange &range : mark.ranges) {
    std::uint32_t &passed = into.passed.try_emplace(range.begin, range.begin).first->second;
    if (passed < range.end) {
      rest.ranges.push_back({passed, range.end});
      passed = range.end;
    }
  }
  merge(into.mark, rest);
}

} // namespace cgc
