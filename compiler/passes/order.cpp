#include "passes/order.h"

#include "ir/region_relation.h"
#include "passes/access_index.h"
#include "passes/after.h"
#include "passes/reachability.h"

#include <algorithm>
#include <map>

namespace cgc {

using cgrt::format::BufferId;
using cgrt::format::Effect;
using cgrt::format::Graph;
using cgrt::format::Node;
using cgrt::format::NodeId;
using cgrt::format::Program;

namespace {

/// Who touched a buffer and may matter to what comes.
struct Accesses {
  AccessIndex writes;
  AccessIndex reads;
};

class GraphOrder {
public:
  /// `setting` tells of each graph before this one whether it sets conditions.
  GraphOrder(const Program &program, Polynomials &polynomials, Graph &graph,
             const std::vector<bool> &setting)
      : program_(program), polynomials_(polynomials), graph_(graph), setting_(setting),
        uses_(graph.nodes.size(), 0) {}

  /// Returns whether this graph does.
  bool run() {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      order_node({i});
    }
    return sets_any_;
  }

private:
  void order_node(NodeId id) {
    const std::vector<Effect> effects = effects_of(program_, graph_.nodes[id.index]);
    ++uses_[id.index]; // until its accesses are recorded
    causes_.clear();
    for (const Effect &effect : effects) {
      collect(effect, id);
    }
    follow_control(id);
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
      Accesses &accesses = accesses_of(effect.region.buffer);
      (effect.writes ? accesses.writes : accesses.reads).add({id, effect.region});
      ++uses_[id.index];
    }
    for (const NodeId covered : covered_) {
      release(covered);
    }
    covered_.clear();
    release(id);
  }

  /// A conditional comes after the kernel that sets its condition. CUDA leaves calls of
  /// cudaGraphSetConditional undefined that may run at the same time, and says nothing of different
  /// handles; so the nodes in which such calls happen come one after the other.
  void follow_control(NodeId id) {
    const Node &node = graph_.nodes[id.index];
    if (const auto *branch = std::get_if<cgrt::format::ConditionalWork>(&node.work)) {
      const auto setter = setters_.find(branch->condition);
      if (setter != setters_.end()) {
        follow(setter->second);
        setters_.erase(setter);
      }
    }
    if (!sets_conditions(node)) {
      return;
    }
    sets_any_ = true;
    if (last_setting_.valid()) {
      follow(last_setting_);
    }
    last_setting_ = id;
    ++uses_[id.index];
    if (const auto *kernel = std::get_if<cgrt::format::KernelWork>(&node.work)) {
      for (const auto &argument : kernel->arguments) {
        if (const auto *condition = std::get_if<cgrt::format::ConditionId>(&argument)) {
          setters_[*condition] = id;
          ++uses_[id.index];
        }
      }
    }
  }

  /// Comes after a node that was kept for this.
  void follow(NodeId earlier) {
    causes_.emplace(earlier, BufferId{});
    covered_.push_back(earlier);
  }

  /// Itself, or in one of its bodies.
  bool sets_conditions(const Node &node) const {
    if (const auto *branch = std::get_if<cgrt::format::ConditionalWork>(&node.work)) {
      return std::any_of(branch->bodies.begin(), branch->bodies.end(),
                         [this](cgrt::format::GraphId body) { return setting_[body.index]; });
    }
    const auto *kernel = std::get_if<cgrt::format::KernelWork>(&node.work);
    return kernel != nullptr &&
           std::any_of(kernel->arguments.begin(), kernel->arguments.end(), [](const auto &each) {
             return std::holds_alternative<cgrt::format::ConditionId>(each);
           });
  }

  /// The earlier accesses that conflict. What a write covers is of no further interest: who
  /// conflicts with that conflicts with the write, too.
  void collect(const Effect &effect, NodeId id) {
    Accesses &accesses = accesses_of(effect.region.buffer);
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
    accesses.writes.visit_near(effect.region, conflict);
    if (effect.writes) {
      accesses.reads.visit_near(effect.region, conflict);
    }
  }

  Accesses &accesses_of(BufferId buffer) {
    const auto found = accesses_.find(buffer);
    if (found != accesses_.end()) {
      return found->second;
    }
    // Sorting by a dimension of extent 1 would tell nothing apart.
    const auto &shape = program_[buffer].shape;
    std::size_t dimension = 0;
    while (dimension + 1 < shape.size() && polynomials_.of(shape[dimension]) == Polynomial{1, {}}) {
      ++dimension;
    }
    const AccessIndex empty(polynomials_, dimension);
    return accesses_.emplace(buffer, Accesses{empty, empty}).first->second;
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
  std::map<BufferId, Accesses> accesses_;
  std::map<NodeId, BufferId> causes_; ///< of the current node: the first buffer for each edge
  const std::vector<bool> &setting_; ///< for each graph before this one: whether it sets conditions
  bool sets_any_ = false;            ///< whether this one does
  NodeId last_setting_;              ///< the last node that does
  std::map<cgrt::format::ConditionId, NodeId> setters_; ///< whose conditionals are still to come
  std::vector<NodeId> covered_;                         ///< whose accesses the current node covers
  std::vector<std::uint32_t> uses_; ///< how many recorded accesses name the node
  Reachability reachability_;
};

} // namespace

void order_by_data(Module &module, Diagnostics &diagnostics) {
  Polynomials polynomials(module.program.exprs);
  assume_extents(polynomials, module.program);
  std::vector<bool> setting; // bodies stand before their users
  for (Graph &graph : module.program.graphs) {
    setting.push_back(GraphOrder(module.program, polynomials, graph, setting).run());
  }
  order_by_after(module, diagnostics);
}

} // namespace cgc
