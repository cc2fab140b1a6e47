#include "passes/races.h"

#include "emit/expr_text.h"
#include "ir/reachability.h"
#include "ir/region_relation.h"
#include "passes/access_history.h"
#include "passes/hidden_state.h"
#include "passes/race_report.h"

#include <algorithm>
#include <map>

namespace cgc {

using cgrt::format::Effect;
using cgrt::format::ExprId;
using cgrt::format::Graph;
using cgrt::format::Node;
using cgrt::format::NodeId;
using cgrt::format::Program;
using cgrt::format::Range;
using cgrt::format::Region;

namespace {

class RaceCheck {
public:
  /// `states` tells of each graph before this one what hidden state it touches.
  RaceCheck(const Program &program, Polynomials &polynomials, std::uint32_t graph,
            const std::vector<States> &states, RaceReports &reports)
      : program_(program), polynomials_(polynomials), graph_(program.graphs[graph]), number_(graph),
        states_of_(states), reports_(reports), history_(program_, polynomials) {}

  void run() {
    std::vector<std::size_t> successors(graph_.nodes.size());
    for (const Node &node : graph_.nodes) {
      for (const auto &dependency : node.dependencies) {
        ++successors[dependency.node.index];
      }
    }
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      statement_of_.push_back(reports_.statement(number_, i));
      std::vector<std::uint32_t> before;
      for (const auto &dependency : graph_.nodes[i].dependencies) {
        before.push_back(dependency.node.index);
      }
      reachability_.add(before);
      check({i});
      for (const std::uint32_t each : before) {
        if (--successors[each] == 0) {
          reachability_.forget(each);
        }
      }
    }
  }

private:
  /// What a write covers that comes after it is of no further interest: whoever conflicts with that
  /// conflicts with the write, too. Neither is what the same statement wrote before, in another
  /// iteration, once that race is reported.
  void check(NodeId id) {
    const std::vector<Effect> effects = effects_of(program_, graph_.nodes[id.index]);
    const Reachability::Ancestors ancestors(reachability_, id.index);
    check_control(id, ancestors);
    check_states(id, ancestors);
    for (const Effect &effect : effects) {
      history_.visit_conflicts(effect, [&](const Access &access) {
        const bool ordered = ancestors.contains(access.node.index);
        const std::uint32_t first = statement_of_[access.node.index];
        const std::uint32_t second = statement_of_[id.index];
        const bool is_known = !ordered && reports_.is_known(first, second);
        if (access.node == id || (is_known && first != second) ||
            overlap(polynomials_, access.region, effect.region) == Overlap::No) {
          return false;
        }
        if (!ordered && !is_known) {
          report(access.node, id, overlap_text(access.region, effect.region));
        }
        return (ordered || first == second) && effect.writes &&
               covers(polynomials_, effect.region, access.region);
      });
    }
    for (const Effect &effect : effects) {
      history_.add(id, effect);
    }
  }

  /// A conditional runs after the kernel that sets its condition.
  void check_control(NodeId id, const Reachability::Ancestors &ancestors) {
    const Node &node = graph_.nodes[id.index];
    if (const auto *branch = std::get_if<cgrt::format::ConditionalWork>(&node.work)) {
      const auto setter = setters_.find(branch->condition);
      if (setter != setters_.end() && !ancestors.contains(setter->second.index)) {
        report(setter->second, id, "the condition of " + program_[branch->condition].text);
      }
    }
    for (const cgrt::format::ConditionId condition : conditions_set_by(node)) {
      setters_[condition] = id;
    }
  }

  void check_states(NodeId id, const Reachability::Ancestors &ancestors) {
    for (const State &state : states_of(program_, graph_.nodes[id.index], states_of_)) {
      const auto [last, added] = last_touching_.emplace(state, id);
      if (!added && !ancestors.contains(last->second.index)) {
        report(last->second, id, state_text(state));
      }
      last->second = id;
    }
  }

  std::string state_text(const State &state) const {
    switch (state.first) {
    case StateKind::Callable:
      return "what " + program_.callables[state.second].name + " keeps";
    case StateKind::Event:
      return "event " + program_.events[state.second].name;
    case StateKind::Updatable:
      return "what is changed of " + program_.updatables[state.second].name;
    case StateKind::Tails:
      return "the order of the tails";
    case StateKind::Conditions:
      break;
    }
    return "the conditions of branches and loops";
  }

  void report(NodeId first, NodeId second, const std::string &what) {
    reports_.report(number_, first.index, second.index, what);
  }

  /// "x[8:16]": what both touch, as far as it shows.
  std::string overlap_text(const Region &a, const Region &b) const {
    std::string text = program_[a.buffer].name;
    if (is_whole(program_, a) && is_whole(program_, b)) {
      return text;
    }
    for (std::size_t axis = 0; axis < a.ranges.size(); ++axis) {
      text += (axis == 0 ? "[" : ", ") + overlap_text(a.ranges[axis], b.ranges[axis]);
    }
    return text + "]";
  }

  std::string overlap_text(const Range &a, const Range &b) const {
    const auto first = bounds(a);
    const auto second = bounds(b);
    if (first && second) {
      const std::int64_t begin = std::max(first->first, second->first);
      const std::int64_t end = std::min(first->second, second->second);
      return std::to_string(begin) + (end == begin + 1 ? "" : ":" + std::to_string(end));
    }
    std::string begin = expr_text(program_, b.begin);
    const auto count = polynomials_.of(b.count);
    if (count == Polynomial{1, {}}) {
      return begin;
    }
    return (begin == "0" ? "" : begin) + ":" + (begin == "0" ? "" : begin + " + ") +
           expr_text(program_, b.count);
  }

  std::optional<std::pair<std::int64_t, std::int64_t>> bounds(const Range &range) const {
    const Polynomial &begin = polynomials_.of(range.begin);
    const Polynomial &count = polynomials_.of(range.count);
    std::int64_t end = 0;
    if (!begin.is_constant() || !count.is_constant() ||
        __builtin_add_overflow(begin.constant, count.constant, &end)) {
      return std::nullopt;
    }
    return std::pair(begin.constant, end);
  }

  const Program &program_;
  Polynomials &polynomials_;
  const Graph &graph_;
  std::uint32_t number_; ///< the graph's
  const std::vector<States> &states_of_;
  RaceReports &reports_;
  AccessHistory history_;
  std::map<cgrt::format::ConditionId, NodeId> setters_;
  std::map<State, NodeId> last_touching_;
  Reachability reachability_;
  std::vector<std::uint32_t> statement_of_; ///< of each node: those at one place are one
};

} // namespace

void check_races(Module &module, bool all, const SourceFiles &files, Diagnostics &diagnostics) {
  Polynomials polynomials(module.program.exprs);
  assume_extents(polynomials, module.program);
  std::vector<States> states; // bodies and children stand before their users
  RaceReports reports(module, files, diagnostics);
  for (const Graph &graph : module.program.graphs) {
    if (all || graph.explicit_order) {
      const auto number = static_cast<std::uint32_t>(states.size());
      RaceCheck(module.program, polynomials, number, states, reports).run();
    }
    States &own = states.emplace_back();
    for (const Node &node : graph.nodes) {
      own.merge(states_of(module.program, node, states));
    }
  }
}

} // namespace cgc
