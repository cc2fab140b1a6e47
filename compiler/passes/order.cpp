#include "passes/order.h"

#include "ir/reachability.h"
#include "ir/region_relation.h"
#include "passes/access_history.h"
#include "passes/after.h"
#include "passes/hidden_state.h"
#include "passes/launched_effects.h"

#include <algorithm>
#include <map>
#include <set>

namespace cgc {

using cgrt::format::BufferId;
using cgrt::format::Effect;
using cgrt::format::Graph;
using cgrt::format::Node;
using cgrt::format::NodeId;
using cgrt::format::Program;

namespace {

class GraphOrder {
public:
  /// `states` tells of each graph before this one what hidden state it touches.
  GraphOrder(const Program &program, Polynomials &polynomials, Graph &graph,
             const std::vector<States> &states, LaunchedEffects &launched)
      : program_(program), polynomials_(polynomials), graph_(graph), launched_(launched),
        history_(program, polynomials), states_of_(states), uses_(graph.nodes.size(), 0) {}

  /// Returns the hidden state that this graph touches.
  States run() {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      order_node({i});
    }
    return std::move(states_);
  }

private:
  void order_node(NodeId id) {
    const std::vector<Effect> effects = graph_.explicit_order
                                            ? std::vector<Effect>{}
                                            : effects_of(program_, graph_.nodes[id.index]);
    ++uses_[id.index]; // until its accesses are recorded
    causes_.clear();
    for (const Effect &effect : effects) {
      collect(effect, id);
    }
    if (!graph_.explicit_order) {
      follow_for_launched(id);
    }
    follow_control(id);
    follow_states(id);
    std::vector<std::uint32_t> candidates;
    candidates.reserve(causes_.size());
    for (const auto &[predecessor, buffer] : causes_) {
      candidates.push_back(predecessor.index);
    }
    const auto kept = reachability_.reduce(candidates);
    reachability_.add(kept);
    auto &dependencies = graph_.nodes[id.index].dependencies;
    dependencies.clear();
    for (const std::uint32_t predecessor : kept) {
      dependencies.push_back({{predecessor}, causes_.at({predecessor})});
    }
    for (const Effect &effect : effects) {
      history_.add(id, effect);
      ++uses_[id.index];
    }
    for (const NodeId covered : covered_) {
      release(covered);
    }
    covered_.clear();
    release(id);
  }

  /// What is launched at once comes after what the program has put before its launch.
  void follow_for_launched(NodeId id) {
    for (const cgrt::format::LaunchId launch : launched_.at_once(graph_.nodes[id.index])) {
      for (const Effect &effect : launched_.of(program_[launch].target)) {
        history_.visit_conflicts(effect, [&](const Access &access) {
          if (overlap(polynomials_, access.region, effect.region) != Overlap::No) {
            causes_.emplace(access.node, effect.region.buffer);
          }
          return false;
        });
      }
    }
  }

  /// A conditional comes after the kernel that sets its condition.
  void follow_control(NodeId id) {
    const Node &node = graph_.nodes[id.index];
    if (const auto *branch = std::get_if<cgrt::format::ConditionalWork>(&node.work)) {
      const auto setter = setters_.find(branch->condition);
      if (setter != setters_.end()) {
        follow(setter->second);
        setters_.erase(setter);
      }
    }
    for (const cgrt::format::ConditionId condition : conditions_set_by(node)) {
      setters_[condition] = id;
      ++uses_[id.index];
    }
  }

  /// What touches the same hidden state runs in the program's order.
  void follow_states(NodeId id) {
    for (const State &state : states_of(program_, graph_.nodes[id.index], states_of_)) {
      const auto [last, added] = last_touching_.emplace(state, id);
      if (!added) {
        follow(last->second);
        last->second = id;
      }
      ++uses_[id.index];
      states_.insert(state);
    }
  }

  /// Comes after a node that was kept for this.
  void follow(NodeId earlier) {
    causes_.emplace(earlier, BufferId{});
    covered_.push_back(earlier);
  }

  /// The earlier accesses that conflict. What a write covers is of no further interest: who
  /// conflicts with that conflicts with the write, too.
  void collect(const Effect &effect, NodeId id) {
    const auto conflict = [&](const Access &access) {
      if (access.node == id || overlap(polynomials_, access.region, effect.region) == Overlap::No) {
        return false;
      }
      causes_.emplace(access.node, effect.region.buffer);
      const bool over = effect.writes && covers(polynomials_, effect.region, access.region);
      if (over) {
        covered_.push_back(access.node);
      }
      return over;
    };
    history_.visit_conflicts(effect, conflict);
  }

  /// A node that no recorded access names any more will not be a predecessor again.
  void release(NodeId id) {
    if (--uses_[id.index] == 0) {
      reachability_.forget(id.index);
    }
  }

  const Program &program_;
  Polynomials &polynomials_;
  Graph &graph_;
  LaunchedEffects &launched_;
  AccessHistory history_;
  std::map<NodeId, BufferId> causes_;     ///< of the current node: the first buffer for each edge
  const std::vector<States> &states_of_;  ///< of each graph before this one
  States states_;                         ///< of this one so far
  std::map<State, NodeId> last_touching_; ///< the last node that touches it
  std::map<cgrt::format::ConditionId, NodeId> setters_; ///< whose conditionals are still to come
  std::vector<NodeId> covered_;                         ///< whose accesses the current node covers
  std::vector<std::uint32_t> uses_; ///< how many recorded accesses name the node
  Reachability reachability_;
};

} // namespace

void order_by_data(Module &module, Diagnostics &diagnostics) {
  Polynomials polynomials(module.program.exprs);
  assume_extents(polynomials, module.program);
  std::vector<States> states; // bodies and children stand before their users
  LaunchedEffects launched(module.program);
  for (Graph &graph : module.program.graphs) {
    states.push_back(GraphOrder(module.program, polynomials, graph, states, launched).run());
  }
  order_by_after(module, diagnostics);
}

} // namespace cgc
