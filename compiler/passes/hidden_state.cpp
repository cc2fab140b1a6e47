#include "passes/hidden_state.h"

#include <algorithm>

namespace cgc {

using cgrt::format::ConditionId;
using cgrt::format::Node;

std::vector<ConditionId> conditions_set_by(const Node &node) {
  std::vector<ConditionId> conditions;
  if (const auto *kernel = std::get_if<cgrt::format::KernelWork>(&node.work)) {
    for (const auto &argument : kernel->arguments) {
      if (const auto *condition = std::get_if<ConditionId>(&argument)) {
        conditions.push_back(*condition);
      }
    }
  }
  return conditions;
}

namespace {

void add_states_of_kernel(const cgrt::format::Program &program, const Node &node, States &states) {
  if (node.updatable.valid()) {
    states.emplace(StateKind::Updatable, node.updatable.index);
  }
  for (const cgrt::format::UpdatableId changed : updatables_of(node)) {
    states.emplace(StateKind::Updatable, changed.index);
  }
  for (const cgrt::format::LaunchId launch : launches_of(node)) {
    if (program[launch].kind == cgrt::format::LaunchKind::Tail) {
      states.emplace(StateKind::Tails, 0);
    }
  }
  if (!conditions_set_by(node).empty()) {
    states.emplace(StateKind::Conditions, 0);
  }
}

} // namespace

States states_of(const cgrt::format::Program &program, const Node &node,
                 const std::vector<States> &of_graphs) {
  States result;
  const auto add_all = [&](cgrt::format::GraphId graph) {
    result.insert(of_graphs[graph.index].begin(), of_graphs[graph.index].end());
  };
  if (const auto *branch = std::get_if<cgrt::format::ConditionalWork>(&node.work)) {
    std::for_each(branch->bodies.begin(), branch->bodies.end(), add_all);
  } else if (const auto *child = std::get_if<cgrt::format::ChildWork>(&node.work)) {
    add_all(child->graph);
  } else if (const auto function = callable_of(node); function.valid()) {
    if (!program[function].concurrent) {
      result.emplace(StateKind::Callable, function.index);
    }
  } else if (const auto event = event_of(node); event.valid()) {
    result.emplace(StateKind::Event, event.index);
  } else if (node.kind() == cgrt::format::NodeKind::Kernel) {
    add_states_of_kernel(program, node, result);
  }
  return result;
}

} // namespace cgc
