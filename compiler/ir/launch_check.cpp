#include "ir/launch_check.h"

#include "format/node_kind.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cgc {

using cgrt::format::ChildWork;
using cgrt::format::ConditionalWork;
using cgrt::format::GraphId;
using cgrt::format::KernelWork;
using cgrt::format::LaunchId;
using cgrt::format::LaunchKind;
using cgrt::format::Node;
using cgrt::format::Program;

namespace {

/// CUDA's limits in one execution, by kind; of a graph's tails at most one is itself.
constexpr std::array<std::size_t, cgrt::format::launch_kind_count> most_launches = {255, 120, 120};

class LaunchCheck {
public:
  explicit LaunchCheck(LoweringContext &context)
      : context_(context), program_(context.program), origins_(context.module.origins) {}

  void run() {
    for (std::uint32_t index = 0; index < program_.graphs.size(); ++index) {
      if (program_.graphs[index].entry) {
        check({index});
      }
    }
    warn_of_circles();
  }

private:
  void check(GraphId entry) {
    entry_ = entry;
    launches_ = launches_of(program_, entry);
    if (launches_.empty() && !program_[entry].device_launch) {
      return;
    }
    counts_ = {};
    selves_ = 0;
    check_nodes(entry);
  }

  /// Of the entry graph, or of a child of it; what is in bodies is refused with them.
  void check_nodes(GraphId graph) {
    for (std::size_t i = 0; i < program_[graph].nodes.size(); ++i) {
      const Node &node = program_[graph].nodes[i];
      const SourceRange &range = origins_[graph.index][i].range;
      if (const auto *branch = std::get_if<ConditionalWork>(&node.work)) {
        refuse_control_flow(*branch, range);
        continue;
      }
      if (program_[entry_].device_launch) {
        check_in_device_graph(node, range);
      }
      if (const auto *child = std::get_if<ChildWork>(&node.work)) {
        check_nodes(child->graph);
      }
      for (const LaunchId launch : launches_of(node)) {
        if (context_.unconditional_launches.contains(launch)) {
          count(program_[launch], range);
          sure_[entry_].push_back({program_[launch].target, launch, range});
        }
      }
    }
  }

  void refuse_control_flow(const ConditionalWork &branch, const SourceRange &range) {
    const bool in_body =
        std::any_of(branch.bodies.begin(), branch.bodies.end(),
                    [this](GraphId body) { return !launches_of(program_, body).empty(); });
    std::string why = "is for device launch";
    std::string advice =
        "let 'when (…)' behind a launch decide, such as 'tail self', or put it into a "
        "graph of its own";
    if (program_[branch.condition].text.starts_with("repeat ")) {
      advice = "write 'for' where the count is constant";
    } else if (in_body) {
      advice = "let 'when (…)' behind the launch decide, or the kernel that launches";
    }
    if (!launches_.empty()) {
      const auto &launch = program_[launches_.front()];
      why = "does '" + launch.text + "' (line " + std::to_string(launch.place.line) + ")";
    }
    context_.diagnostics.report(Diag::LaunchWithControlFlow, range, program_[branch.condition].text,
                                program_[entry_].name, why, advice);
  }

  void check_in_device_graph(const Node &node, const SourceRange &range) {
    const std::string &name = program_[entry_].name;
    if ((info(node.kind()).legal_in & cgrt::format::DeviceLaunchGraph) == 0) {
      context_.diagnostics.report(Diag::IllegalInDeviceGraph, range, describe(program_, node),
                                  name);
    } else if (const auto *kernel = std::get_if<KernelWork>(&node.work)) {
      const auto priority = program_.exprs.known(kernel->priority);
      if (priority && priority->ok() && priority->value.truthy()) {
        context_.diagnostics.report(Diag::PriorityInDeviceGraph, range, describe(program_, node),
                                    name);
      }
    }
  }

  void count(const cgrt::format::DeviceLaunch &launch, const SourceRange &range) {
    const auto kind = static_cast<std::size_t>(launch.kind);
    const std::string word(spelling(launch.kind));
    if (launch.target == entry_ && ++selves_ == 2) {
      context_.diagnostics.report(Diag::TooManyLaunches, range, 2, launch.text,
                                  program_[entry_].name, 1);
    }
    if (++counts_[kind] == most_launches[kind] + 1) {
      context_.diagnostics.report(Diag::TooManyLaunches, range, counts_[kind], word,
                                  program_[entry_].name, most_launches[kind]);
    }
  }

  /// A launch in any case that comes back to its graph by launches in any case.
  void warn_of_circles() {
    for (const auto &[graph, launches] : sure_) {
      for (const SureLaunch &launch : launches) {
        if (reaches(launch.target, graph)) {
          context_.diagnostics.report(Diag::EndlessLaunch, launch.range, program_[launch.id].text);
        }
      }
    }
  }

  bool reaches(GraphId from, GraphId to) const {
    std::set<GraphId> seen = {from};
    std::vector<GraphId> open = {from};
    while (!open.empty() && !seen.contains(to)) {
      const auto launches = sure_.find(open.back());
      open.pop_back();
      if (launches == sure_.end()) {
        continue;
      }
      for (const SureLaunch &launch : launches->second) {
        if (seen.insert(launch.target).second) {
          open.push_back(launch.target);
        }
      }
    }
    return seen.contains(to);
  }

  struct SureLaunch {
    GraphId target;
    LaunchId id;
    SourceRange range;
  };

  LoweringContext &context_;
  const Program &program_;
  const std::vector<NodeOrigins> &origins_;
  std::map<GraphId, std::vector<SureLaunch>> sure_; ///< by entry graph
  GraphId entry_;
  std::vector<LaunchId> launches_; ///< of the entry graph
  std::array<std::size_t, cgrt::format::launch_kind_count> counts_ = {};
  std::size_t selves_ = 0;
};

} // namespace

void check_launches(LoweringContext &context) {
  LaunchCheck(context).run();
}

} // namespace cgc
