#include "passes/reachability.h"

#include <algorithm>
#include <unordered_map>

namespace cgc {

void Reachability::add(std::span<const std::uint32_t> predecessors) {
  // The node prolongs a chain that one of its predecessors ends, if there is one.
  Position place = {static_cast<std::uint32_t>(chain_lengths_.size()), 0};
  for (const std::uint32_t predecessor : predecessors) {
    const Position &candidate = positions_[predecessor];
    if (candidate.position + 1 == chain_lengths_[candidate.chain]) {
      place = {candidate.chain, candidate.position + 1};
      break;
    }
  }
  if (place.position == 0) {
    chain_lengths_.push_back(0);
  }
  ++chain_lengths_[place.chain];
  const bool prolongs_only_one =
      predecessors.size() == 1 && positions_[predecessors[0]].chain == place.chain;
  ancestors_.push_back(prolongs_only_one ? ancestors_[predecessors[0]]
                                         : merged_marks(predecessors, place.chain));
  positions_.push_back(place);
}

Reachability::Ancestors::Ancestors(const Reachability &all, std::uint32_t node) : all_(all) {
  for (const Mark &mark : *all.ancestors_[node]) {
    reach_.emplace(mark.chain, mark.position);
  }
  const Position &own = all.positions_[node];
  if (own.position != 0) {
    reach_[own.chain] = own.position - 1;
  }
}

bool Reachability::Ancestors::contains(std::uint32_t earlier) const {
  const Position &place = all_.positions_[earlier];
  const auto found = reach_.find(place.chain);
  return found != reach_.end() && place.position <= found->second;
}

std::shared_ptr<const Reachability::Marks>
Reachability::merged_marks(std::span<const std::uint32_t> predecessors,
                           std::uint32_t own_chain) const {
  std::unordered_map<std::uint32_t, std::uint32_t> reach;
  const auto raise = [&](std::uint32_t chain, std::uint32_t position) {
    if (chain != own_chain) {
      const auto [entry, added] = reach.emplace(chain, position);
      entry->second = std::max(entry->second, position);
    }
  };
  for (const std::uint32_t predecessor : predecessors) {
    raise(positions_[predecessor].chain, positions_[predecessor].position);
    for (const Mark &mark : *ancestors_[predecessor]) {
      raise(mark.chain, mark.position);
    }
  }
  auto marks = std::make_shared<Marks>();
  marks->reserve(reach.size());
  for (const auto &[chain, position] : reach) {
    marks->push_back({chain, position});
  }
  return marks;
}

std::vector<std::uint32_t> Reachability::reduce(std::span<const std::uint32_t> predecessors) const {
  if (predecessors.size() <= 1) {
    return {predecessors.begin(), predecessors.end()};
  }
  // From the latest to the earliest: an ancestor of another predecessor comes after it here.
  std::unordered_map<std::uint32_t, std::uint32_t> reach;
  std::vector<std::uint32_t> kept;
  for (std::size_t i = predecessors.size(); i-- > 0;) {
    const std::uint32_t node = predecessors[i];
    const Position &place = positions_[node];
    const auto covered = reach.find(place.chain);
    if (covered != reach.end() && covered->second >= place.position) {
      continue;
    }
    kept.push_back(node);
    reach[place.chain] = place.position;
    for (const Mark &mark : *ancestors_[node]) {
      auto &position = reach.emplace(mark.chain, mark.position).first->second;
      position = std::max(position, mark.position);
    }
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

} // namespace cgc
