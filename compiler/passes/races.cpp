#include "passes/races.h"

#include "emit/expr_text.h"
#include "ir/region_relation.h"
#include "passes/access_history.h"
#include "passes/hidden_state.h"
#include "passes/reachability.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

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
  RaceCheck(const Module &module, Polynomials &polynomials, const Graph &graph,
            const std::vector<States> &states, const SourceFiles &files, Diagnostics &diagnostics)
      : module_(module), program_(module.program), polynomials_(polynomials), graph_(graph),
        states_of_(states), files_(files), diagnostics_(diagnostics),
        history_(program_, polynomials) {}

  void run() {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> statements;
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      const cgrt::format::Place &place = graph_.nodes[i].place;
      const auto number = static_cast<std::uint32_t>(statements.size());
      statement_of_.push_back(
          statements.emplace(std::tuple(place.file.index, place.line, place.column), number)
              .first->second);
      std::vector<std::uint32_t> before;
      for (const auto &dependency : graph_.nodes[i].dependencies) {
        before.push_back(dependency.node.index);
      }
      reachability_.add(before);
      check({i});
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
        const auto [first, second] =
            std::minmax(statement_of_[access.node.index], statement_of_[id.index]);
        const std::uint64_t pair = std::uint64_t{first} << 32U | second;
        const bool is_known = !ordered && reported_.contains(pair);
        if (access.node == id || (is_known && first != second) ||
            overlap(polynomials_, access.region, effect.region) == Overlap::No) {
          return false;
        }
        if (!ordered && reported_.insert(pair).second) {
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
    case StateKind::Conditions:
      break;
    }
    return "the conditions of branches and loops";
  }

  void report(NodeId first, NodeId second, const std::string &what) {
    const Node &a = graph_.nodes[first.index];
    const Node &b = graph_.nodes[second.index];
    const auto key = [](const Node &node) {
      return std::tuple(node.place.file.index, node.place.line, node.place.column);
    };
    const bool in_order = key(a) <= key(b);
    const Node &earlier = in_order ? a : b;
    const Node &later = in_order ? b : a;
    diagnostics_
        .report(Diag::Race, range_of(later), describe(program_, later), describe(program_, earlier),
                earlier.place.line, what, advice(earlier, later))
        .notes.push_back({range_of(earlier), "the other statement"});
  }

  static std::string advice(const Node &earlier, const Node &later) {
    if (earlier.place.line == later.place.line && earlier.place.file == later.place.file) {
      return "put them on one stream, or record an event behind each and wait for it before the "
             "next";
    }
    return "add `record e;` after line " + std::to_string(earlier.place.line) +
           " and `wait e;` before line " + std::to_string(later.place.line);
  }

  /// From where the statement begins to the end of it or of its line.
  SourceRange range_of(const Node &node) const {
    const FileId file{module_.first_file + node.place.file.index};
    if (node.place.line == 0 || file.index >= files_.size() ||
        node.place.line > files_[file].line_count()) {
      return {file.index < files_.size() ? file : FileId{0}, 0, 0};
    }
    SourceRange range = files_.line(file, node.place.line);
    range.begin = std::min(range.begin + node.place.column - 1, range.end);
    const std::string_view text = files_.text(range);
    range.end = range.begin + static_cast<std::uint32_t>(std::min(text.find(';'), text.size()));
    return range;
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

  const Module &module_;
  const Program &program_;
  Polynomials &polynomials_;
  const Graph &graph_;
  const std::vector<States> &states_of_;
  const SourceFiles &files_;
  Diagnostics &diagnostics_;
  AccessHistory history_;
  std::map<cgrt::format::ConditionId, NodeId> setters_;
  std::map<State, NodeId> last_touching_;
  Reachability reachability_;
  std::vector<std::uint32_t> statement_of_;    ///< of each node: those at one place are one
  std::unordered_set<std::uint64_t> reported_; ///< pairs of statements
};

} // namespace

void check_races(Module &module, bool all, const SourceFiles &files, Diagnostics &diagnostics) {
  Polynomials polynomials(module.program.exprs);
  assume_extents(polynomials, module.program);
  std::vector<States> states; // bodies and children stand before their users
  for (const Graph &graph : module.program.graphs) {
    if (all || graph.explicit_order) {
      RaceCheck(module, polynomials, graph, states, files, diagnostics).run();
    }
    States &own = states.emplace_back();
    for (const Node &node : graph.nodes) {
      own.merge(states_of(module.program, node, states));
    }
  }
}

} // namespace cgc
