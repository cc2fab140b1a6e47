#include "passes/launch_races.h"

#include "ir/region_relation.h"
#include "passes/launched_effects.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

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
    for (std::uint32_t launching = 0; launching < graph.nodes.size(); ++launching) {
      const std::vector<LaunchId> launches = effects_.at_once(graph.nodes[launching]);
      if (launches.empty()) {
        continue;
      }
      const std::vector<bool> before = ancestors(graph, launching);
      for (std::uint32_t other = 0; other < graph.nodes.size(); ++other) {
        if (other == launching || before[other]) {
          continue;
        }
        const Node &node = graph.nodes[other];
        for (const LaunchId launch : launches) {
          if (const auto buffer = conflict(program_[launch].target, effects_of(program_, node))) {
            report(launch, "'" + describe(program_, node) + "'", node.place.line, *buffer,
                   "put that before the launch, or use 'tail'");
          }
        }
      }
    }
  }

  static std::vector<bool> ancestors(const Graph &graph, std::uint32_t node) {
    std::vector<bool> found(graph.nodes.size(), false);
    std::vector<std::uint32_t> open = {node};
    while (!open.empty()) {
      const std::uint32_t next = open.back();
      open.pop_back();
      for (const auto &dependency : graph.nodes[next].dependencies) {
        if (!found[dependency.node.index]) {
          found[dependency.node.index] = true;
          open.push_back(dependency.node.index);
        }
      }
    }
    return found;
  }

  /// What one graph launches at once, each against each.
  void check_pairs(GraphId graph) {
    std::vector<LaunchId> launches;
    for (const LaunchId launch : launches_of(program_, graph)) {
      if (program_[launch].kind != LaunchKind::Tail) {
        launches.push_back(launch);
      }
    }
    for (std::size_t i = 0; i < launches.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        check_pair(launches[i], launches[j], "let them touch different memory, or use 'tail'");
      }
    }
  }

  /// What outlives a graph against what its tails do then.
  void check_tails(GraphId graph) {
    std::vector<LaunchId> outliving = outliving_of(graph);
    for (const LaunchId tail : launches_of(program_, graph)) {
      if (program_[tail].kind != LaunchKind::Tail) {
        continue;
      }
      for (const LaunchId sibling : outliving) {
        check_pair(sibling, tail, "use 'detach', which ends before the tails begin");
      }
      // The next tail does not wait for the siblings of this one.
      for (const LaunchId sibling : outliving_of(program_[tail].target)) {
        if (std::find(outliving.begin(), outliving.end(), sibling) == outliving.end()) {
          outliving.push_back(sibling);
        }
      }
    }
  }

  std::vector<LaunchId> outliving_of(GraphId graph) const {
    std::vector<LaunchId> launches = launches_of(program_, graph);
    std::erase_if(launches,
                  [this](LaunchId launch) { return program_[launch].kind != LaunchKind::Sibling; });
    return launches;
  }

  void check_pair(LaunchId first, LaunchId second, const std::string &advice) {
    if (const auto buffer =
            conflict(program_[first].target, effects_.of(program_[second].target))) {
      report(first, "'" + program_[second].text + "'", program_[second].place.line, *buffer,
             advice);
    }
  }

  /// A buffer of which the graph and the effects may touch the same element.
  std::optional<BufferId> conflict(GraphId graph, const std::vector<Effect> &others) {
    std::map<BufferId, std::vector<const Effect *>> &own = by_buffer_[graph];
    if (own.empty()) {
      for (const Effect &effect : effects_.of(graph)) {
        own[effect.region.buffer].push_back(&effect);
      }
    }
    for (const Effect &other : others) {
      const auto found = own.find(other.region.buffer);
      if (found == own.end()) {
        continue;
      }
      for (const Effect *effect : found->second) {
        if ((effect->writes || other.writes) &&
            overlap(polynomials_, effect->region, other.region) != Overlap::No) {
          return other.region.buffer;
        }
      }
    }
    return std::nullopt;
  }

  void report(LaunchId launch, const std::string &other, std::uint32_t line, BufferId buffer,
              const std::string &advice) {
    const std::string who = other + (line == 0 ? "" : " (line " + std::to_string(line) + ")");
    if (reported_.emplace(program_[launch].place.line, who).second) {
      diagnostics_.report(Diag::LaunchRace, ranges_[launch], program_[launch].text, who,
                          program_[buffer].name, advice);
    }
  }

  const Module &module_;
  const Program &program_;
  Diagnostics &diagnostics_;
  Polynomials polynomials_;
  LaunchedEffects effects_;
  std::map<GraphId, std::map<BufferId, std::vector<const Effect *>>> by_buffer_;
  std::map<LaunchId, SourceRange> ranges_;
  std::set<std::pair<std::uint32_t, std::string>> reported_;
};

} // namespace

void check_launch_races(const Module &module, Diagnostics &diagnostics) {
  if (!module.program.launches.empty()) {
    LaunchRaces(module, diagnostics).run();
  }
}

} // namespace cgc
