#include "ir/reachability.h"

#include <algorithm>
#include <ranges>
#include <unordered_map>

namespace cgc {

void Reachability::add(std::span<const std::uint32_t> predecessors) {
  // The node prolongs a chain that one of its predecessors ends, if there is one.
  const auto end =
      std::find_if(predecessors.begin(), predecessors.end(), [this](std::uint32_t node) {
        return is_end(positions_[node].chain, positions_[node].position);
      });
  if (predecessors.size() == 1 && end != predecessors.end()) {
    ancestors_.push_back(ancestors_[*end]);
  } else {
    ancestors_.push_back(merged_marks(predecessors));
  }
  Position place = {static_cast<std::uint32_t>(chain_lengths_.size()), 0};
  if (end != predecessors.end()) {
    place = {positions_[*end].chain, positions_[*end].position + 1};
  } else { // or one that any ancestor ends, lest nodes behind a join begin chains each time
    const Marks &marks = *ancestors_.back();
    const auto mark = std::find_if(marks.begin(), marks.end(), [this](const Mark &each) {
      return is_end(each.chain, each.position);
    });
    if (mark != marks.end()) {
      place = {mark->chain, mark->position + 1};
    } else {
      chain_lengths_.push_back(0);
    }
  }
  ++chain_lengths_[place.chain];
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

bool Reachability::precedes(std::uint32_t earlier, std::uint32_t later) const {
  const Position &before = positions_[earlier];
  const Position &after = positions_[later];
  if (before.chain == after.chain) {
    return before.position < after.position;
  }
  const Marks &marks = *ancestors_[later];
  const auto mark =
      std::lower_bound(marks.begin(), marks.end(), before.chain,
                       [](const Mark &each, std::uint32_t chain) { return each.chain < chain; });
  return mark != marks.end() && mark->chain == before.chain && before.position <= mark->position;
}

std::shared_ptr<const Reachability::Marks>
Reachability::merged_marks(std::span<const std::uint32_t> predecessors) {
  if (std::ranges::equal(predecessors, last_predecessors_) && last_marks_ != nullptr) {
    return last_marks_; // nodes behind a join
  }
  std::unordered_map<std::uint32_t, std::uint32_t> reach;
  const auto raise = [&](std::uint32_t chain, std::uint32_t position) {
    const auto [entry, added] = reach.emplace(chain, position);
    entry->second = std::max(entry->second, position);
  };
  const Marks *last = nullptr;
  for (const std::uint32_t predecessor : predecessors) {
    raise(positions_[predecessor].chain, positions_[predecessor].position);
    const Marks *marks = ancestors_[predecessor].get();
    for (std::size_t i = 0; marks != last && i < marks->size(); ++i) {
      raise((*marks)[i].chain, (*marks)[i].position);
    }
    last = marks;
  }
  auto marks = std::make_shared<Marks>();
  marks->reserve(reach.size());
  for (const auto &[chain, position] : reach) {
    marks->push_back({chain, position});
  }
  std::sort(marks->begin(), marks->end(),
            [](const Mark &a, const Mark &b) { return a.chain < b.chain; });
  last_predecessors_.assign(predecessors.begin(), predecessors.end());
  last_marks_ = marks;
  return marks;
}

std::vector<std::uint32_t> Reachability::reduce(std::span<const std::uint32_t> predecessors) const {
  if (predecessors.size() <= 1) {
    return {predecessors.begin(), predecessors.end()};
  }
  // From the latest to the earliest: an ancestor of another predecessor comes after it here.
  std::unordered_map<std::uint32_t, std::uint32_t> reach;
  std::vector<std::uint32_t> kept;
  const Marks *last = nullptr; // seen last: nodes behind one join share them
  for (std::size_t i = predecessors.size(); i-- > 0;) {
    const std::uint32_t node = predecessors[i];
    const Position &place = positions_[node];
    const auto covered = reach.find(place.chain);
    if (covered != reach.end() && covered->second >= place.position) {
      continue;
    }
    kept.push_back(node);
    reach[place.chain] = place.position;
    const Marks *marks = ancestors_[node].get();
    for (std::size_t j = 0; marks != last && j < marks->size(); ++j) {
      auto &position = reach.emplace((*marks)[j].chain, (*marks)[j].position).first->second;
      position = std::max(position, (*marks)[j].position);
    }
    last = marks;
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

} // namespace cgc
