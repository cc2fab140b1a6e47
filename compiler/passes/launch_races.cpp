#include "passes/launch_races.h"

#include "ir/reachability.h"
#include "ir/region_relation.h"
#include "passes/access_history.h"
#include "passes/launched_effects.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace cgc {

using cgrt::format::BufferId;
using cgrt::format::Effect;
using cgrt::format::Graph;
using cgrt::format::GraphId;
using cgrt::format::LaunchId;
using cgrt::format::LaunchKind;
using cgrt::format::Node;
using cgrt::format::Program;

namespace {

class LaunchRaces {
public:
  LaunchRaces(const Module &module, Diagnostics &diagnostics)
      : module_(module), program_(module.program), diagnostics_(diagnostics),
        polynomials_(program_.exprs), effects_(program_) {
    assume_extents(polynomials_, program_);
  }

  void run() {
    for (std::uint32_t index = 0; index < program_.graphs.size(); ++index) {
      note_ranges({index});
    }
    for (std::uint32_t index = 0; index < program_.graphs.size(); ++index) {
      check_nodes({index});
      if (program_.graphs[index].entry) {
        check_pairs({index});
        check_tails({index});
      }
    }
  }

private:
  void note_ranges(GraphId graph) {
    for (std::size_t i = 0; i < program_[graph].nodes.size(); ++i) {
      for (const LaunchId launch : launches_of(program_[graph].nodes[i])) {
        ranges_[launch] = module_.origins[graph.index][i].range;
      }
    }
  }

  /// What is launched at once against the nodes of the same graph.
  void check_nodes(GraphId id) {
    const Graph &graph = program_[id];
    // Of all nodes, once something is launched.
    std::vector<std::vector<Effect>> effects;
    Reachability reachability;
    for (std::uint32_t launching = 0; launching < graph.nodes.size(); ++launching) {
      const std::vector<LaunchId> launches = effects_.at_once(graph.nodes[launching]);
      if (launches.empty()) {
        continue;
      }
      for (std::size_t i = effects.size(); i < graph.nodes.size(); ++i) {
        effects.push_back(effects_of(program_, graph.nodes[i]));
        reachability.add(predecessors(graph.nodes[i]));
      }
      const Reachability::Ancestors before(reachability, launching);
      for (std::uint32_t other = 0; other < graph.nodes.size(); ++other) {
        if (other == launching || (other < launching && before.contains(other))) {
          continue;
        }
        for (const LaunchId launch : launches) {
          if (const auto buffer = conflict(program_[launch].target, effects[other])) {
            const Node &node = graph.nodes[other];
            report(launch, "'" + describe(program_, node) + "'", node.place,
                   module_.origins[id.index][other].range, *buffer,
                   "put that before the launch, or use 'tail'");
          }
        }
      }
    }
  }

  static std::vector<std::uint32_t> predecessors(const Node &node) {
    std::vector<std::uint32_t> before;
    for (const auto &dependency : node.dependencies) {
      before.push_back(dependency.node.index);
    }
    return before;
  }

  /// What one graph launches at once, each against those before it.
  void check_pairs(GraphId graph) {
    AccessHistory earlier(program_, polynomials_);
    std::vector<LaunchId> launches;
    std::map<LaunchId, LaunchId> started; ///< what they start in their turn, with the first of them
    for (const LaunchId launch : launches_of(program_, graph)) {
      if (program_[launch].kind == LaunchKind::Tail) {
        continue;
      }
      const std::vector<Effect> &effects = effects_.of(program_[launch].target);
      std::map<std::uint32_t, BufferId> found; // by the earlier launch
      for (const Effect &effect : effects) {
        earlier.visit_conflicts(effect, [&](const Access &access) {
          if (overlap(polynomials_, access.region, effect.region) != Overlap::No) {
            found.emplace(access.node.index, effect.region.buffer);
          }
          return false;
        });
      }
      for (const auto &[other, buffer] : found) {
        report(launch, launches[other], buffer, "let them touch different memory, or use 'tail'");
      }
      for (const LaunchId inner : launches_behind(launch)) {
        const auto [first, added] = started.emplace(inner, launch);
        if (!added) {
          report_shared(launch, first->second, inner);
        }
      }
      for (const Effect &effect : effects) {
        earlier.add({static_cast<std::uint32_t>(launches.size())}, effect);
      }
      launches.push_back(launch);
    }
  }

  /// What outlives a graph against what its tails do then.
  void check_tails(GraphId graph) {
    std::set<LaunchId> outliving = siblings_of(graph);
    for (const LaunchId tail : launches_of(program_, graph)) {
      if (program_[tail].kind != LaunchKind::Tail) {
        continue;
      }
      for (const LaunchId sibling : outliving) {
        if (const auto buffer =
                conflict(program_[sibling].target, effects_.of(program_[tail].target))) {
          report(sibling, tail, *buffer, "use 'detach', which ends before the tails begin");
        }
        const std::set<LaunchId> behind = launches_behind(sibling);
        for (const LaunchId inner : launches_behind(tail)) {
          if (inner == sibling || behind.contains(inner)) {
            report_shared(sibling, tail, inner);
          }
        }
      }
      outliving.merge(outliving_of(program_[tail].target));
    }
  }

  std::set<LaunchId> siblings_of(GraphId graph) const {
    std::set<LaunchId> siblings;
    for (const LaunchId launch : launches_of(program_, graph)) {
      if (program_[launch].kind == LaunchKind::Sibling) {
        siblings.insert(launch);
      }
    }
    return siblings;
  }

  /// The siblings of a tail, and of its own tails, which all come before the next tail.
  std::set<LaunchId> outliving_of(GraphId graph) const {
    std::set<LaunchId> outliving;
    std::set<GraphId> seen = {graph};
    std::vector<GraphId> open = {graph};
    while (!open.empty()) {
      const GraphId next = open.back();
      open.pop_back();
      outliving.merge(siblings_of(next));
      for (const LaunchId launch : launches_of(program_, next)) {
        if (program_[launch].kind == LaunchKind::Tail &&
            seen.insert(program_[launch].target).second) {
          open.push_back(program_[launch].target);
        }
      }
    }
    return outliving;
  }

  /// The launches that what is launched does in its turn; each has one executable, but for graphs
  /// that launch themselves.
  std::set<LaunchId> launches_behind(LaunchId launch) const {
    std::set<LaunchId> found;
    for (const GraphId graph : graphs_run_by(program_, program_[launch].target)) {
      for (const LaunchId inner : launches_of(program_, graph)) {
        if (program_[inner].target != graph) {
          found.insert(inner);
        }
      }
    }
    return found;
  }

  void report_shared(LaunchId launch, LaunchId other, LaunchId inner) {
    const cgrt::format::Place &own = program_[launch].place;
    const cgrt::format::Place &place = program_[other].place;
    if (shared_.emplace(std::minmax(launch, other)).second) {
      diagnostics_
          .report(Diag::SharedLaunch, ranges_[launch], program_[launch].text, program_[other].text,
                  line_of(place, own), program_[inner].text, line_of(program_[inner].place, own))
          .notes.push_back({ranges_[other], "the other one"});
    }
  }

  /// A buffer of which the graph and the effects may touch the same element.
  std::optional<BufferId> conflict(GraphId graph, const std::vector<Effect> &others) {
    const auto [place, added] = accesses_.try_emplace(graph, program_, polynomials_);
    if (added) {
      for (const Effect &effect : effects_.of(graph)) {
        place->second.add({0}, effect);
      }
    }
    for (const Effect &other : others) {
      bool found = false;
      place->second.visit_conflicts(other, [&](const Access &access) {
        found = found || overlap(polynomials_, access.region, other.region) != Overlap::No;
        return false;
      });
      if (found) {
        return other.region.buffer;
      }
    }
    return std::nullopt;
  }

  void report(LaunchId launch, LaunchId other, BufferId buffer, const std::string &advice) {
    report(launch, "'" + program_[other].text + "'", program_[other].place, ranges_[other], buffer,
           advice);
  }

  void report(LaunchId launch, const std::string &other, const cgrt::format::Place &place,
              const SourceRange &range, BufferId buffer, const std::string &advice) {
    const cgrt::format::Place &own = program_[launch].place;
    if (!reported_.emplace(own.file, own.line, own.column, place.file, place.line, place.column)
             .second) {
      return;
    }
    const std::string what = program_[buffer].name;
    const bool is_local = what.find('.') != std::string::npos;
    diagnostics_
        .report(Diag::LaunchRace, ranges_[launch], program_[launch].text,
                other + " (" + line_of(place, own) + ")",
                what + (is_local ? ", which is there once, whoever starts its graph" : ""), advice)
        .notes.push_back({range, "the other one"});
  }

  /// "line 12", with the file's name where it is another one.
  std::string line_of(const cgrt::format::Place &place, const cgrt::format::Place &from) const {
    return "line " + std::to_string(place.line) +
           (place.file == from.file ? "" : " of " + program_.files[place.file.index]);
  }

  const Module &module_;
  const Program &program_;
  Diagnostics &diagnostics_;
  Polynomials polynomials_;
  LaunchedEffects effects_;
  std::map<GraphId, AccessHistory> accesses_; ///< of what a launch of the graph runs
  std::map<LaunchId, SourceRange> ranges_;
  using Places = std::tuple<cgrt::format::FileId, std::uint32_t, std::uint32_t,
                            cgrt::format::FileId, std::uint32_t, std::uint32_t>;
  std::set<Places> reported_;
  std::set<std::pair<LaunchId, LaunchId>> shared_; ///< that have been reported
};

} // namespace

void check_launch_races(const Module &module, Diagnostics &diagnostics) {
  if (!module.program.launches.empty()) {
    LaunchRaces(module, diagnostics).run();
  }
}

} // namespace cgc
