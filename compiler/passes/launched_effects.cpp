#include "passes/launched_effects.h"

#include <algorithm>

namespace cgc {

using cgrt::format::Effect;
using cgrt::format::GraphId;
using cgrt::format::LaunchId;
using cgrt::format::LaunchKind;
using cgrt::format::Node;

const std::vector<Effect> &LaunchedEffects::of(GraphId graph) {
  const auto [place, added] = known_.try_emplace(graph);
  if (added) {
    std::vector<Effect> &all = place->second;
    for (const GraphId each : graphs_run_by(program_, graph)) {
      for (const Node &node : program_[each].nodes) {
        for (Effect &effect : effects_of(program_, node)) {
          // Where launches say that they were refused is nothing of the program's.
          if (effect.region.buffer != program_.refusals) {
            all.push_back(std::move(effect));
          }
        }
      }
    }
  }
  return place->second;
}

std::vector<LaunchId> LaunchedEffects::at_once(const Node &node) const {
  const auto *child = std::get_if<cgrt::format::ChildWork>(&node.work);
  std::vector<LaunchId> launches =
      child != nullptr ? launches_of(program_, child->graph) : launches_of(node);
  std::erase_if(launches,
                [this](LaunchId launch) { return program_[launch].kind == LaunchKind::Tail; });
  return launches;
}

} // namespace cgc
