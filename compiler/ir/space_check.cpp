#include "ir/space_check.h"

#include "ir/region_relation.h"

#include <algorithm>
#include <map>
#include <set>

namespace cgc {

using cgrt::CallerAccess;
using cgrt::format::Buffer;
using cgrt::format::Effect;
using cgrt::format::Program;
using cgrt::format::Region;

namespace {

/// How many different writes of one buffer are remembered; beyond that any may have been it.
constexpr std::size_t most_writes = 64;

class SpaceCheck {
public:
  explicit SpaceCheck(LoweringContext &context)
      : context_(context), program_(context.program), origins_(context.module.origins),
        diagnostics_(context.diagnostics), writers_(program_.buffers.size()) {}

  void run() {
    for (std::size_t g = 0; g < program_.graphs.size(); ++g) {
      for (const auto &node : program_.graphs[g].nodes) {
        for (const Effect &effect : effects_of(program_, node)) {
          if (effect.writes && program_.graphs[g].entry) {
            writers_[effect.region.buffer.index].insert(g);
          }
        }
      }
    }
    for (std::size_t g = 0; g < program_.graphs.size(); ++g) {
      if (program_.graphs[g].entry) {
        written_.clear();
        check_nodes(g, g);
      }
    }
  }

private:
  /// The nodes of the entry `graph`, or those of a child or a body as if they stood in the graph
  /// around it.
  void check_nodes(std::size_t of, std::size_t graph) {
    const auto &nodes = program_.graphs[of].nodes;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (const auto *child = std::get_if<cgrt::format::ChildWork>(&nodes[n].work)) {
        check_nodes(child->graph.index, graph);
      } else if (const auto *branch = std::get_if<cgrt::format::ConditionalWork>(&nodes[n].work)) {
        check_bodies(*branch, nodes[n], graph);
      } else {
        check_node(effects_of(program_, nodes[n]), origins_[of][n].range, graph);
      }
    }
  }

  /// The first iteration of a loop reads what stands before its reads; a branch in it may wait for
  /// another iteration, before which the whole loop has been written.
  void check_bodies(const cgrt::format::ConditionalWork &branch, const cgrt::format::Node &node,
                    std::size_t graph) {
    const bool is_loop = branch.type == cgrt::format::ConditionalType::While;
    if (is_loop) {
      loops_.push_back(&node);
    } else {
      for (const cgrt::format::Node *loop : loops_) {
        note_writes(effects_of(program_, *loop));
      }
      loops_.clear(); // they are noted
    }
    for (const cgrt::format::GraphId body : branch.bodies) {
      check_nodes(body.index, graph);
    }
    if (is_loop && !loops_.empty()) {
      loops_.pop_back();
    }
  }

  void check_node(const std::vector<Effect> &effects, const SourceRange &place, std::size_t graph) {
    for (const Effect &effect : effects) {
      const Buffer &buffer = program_[effect.region.buffer];
      if (effect.writes && buffer.access == CallerAccess::In) {
        diagnostics_.report(Diag::WritesInput, place, buffer.name);
      }
      if (effect.reads && !is_known_empty(effect.region)) {
        check_read(effect.region, place, graph);
      }
    }
    note_writes(effects);
  }

  void note_writes(const std::vector<Effect> &effects) {
    for (const Effect &effect : effects) {
      auto &writes = written_[effect.region.buffer];
      if (effect.writes && writes.size() <= most_writes) {
        writes.push_back(effect.region);
      }
    }
  }

  bool is_known_empty(const Region &region) const {
    return std::any_of(region.ranges.begin(), region.ranges.end(), [this](const auto &range) {
      const auto count = program_.exprs.known(range.count);
      return count && count->ok() && !count->value.truthy();
    });
  }

  void check_read(const Region &region, const SourceRange &place, std::size_t graph) {
    if (context_.unsure_buffers.contains(region.buffer)) {
      return;
    }
    const Buffer &buffer = program_[region.buffer];
    const auto &graphs = writers_[region.buffer.index];
    if (buffer.access == CallerAccess::Out) {
      const bool elsewhere = graphs.size() > (graphs.contains(graph) ? 1U : 0U);
      if (!elsewhere && !warned_.contains(region.buffer) && !may_be_written(region)) {
        diagnostics_.report(Diag::ReadsOutput, place, buffer.name);
        warned_.insert(region.buffer);
      }
      return;
    }
    // What a block declares is new at each entry; what the file does lives from launch to launch.
    const bool local = context_.local_buffers.contains(region.buffer);
    if (buffer.access == CallerAccess::Private && !warned_.contains(region.buffer) &&
        (local ? !may_be_written(region) : graphs.empty())) {
      diagnostics_.report(Diag::Uninitialized, place, buffer.name);
      warned_.insert(region.buffer);
    }
  }

  bool may_be_written(const Region &region) {
    const auto &writes = written_[region.buffer];
    return writes.size() > most_writes ||
           std::any_of(writes.begin(), writes.end(), [&](const Region &write) {
             return overlap(context_.polynomials, write, region) != Overlap::No;
           });
  }

  LoweringContext &context_;
  const Program &program_;
  const std::vector<NodeOrigins> &origins_;
  Diagnostics &diagnostics_;
  std::vector<const cgrt::format::Node *> loops_; ///< around, those whose writes are not noted
  std::set<cgrt::format::BufferId> warned_;       ///< each buffer is reported once
  std::vector<std::set<std::size_t>> writers_;    ///< entry graphs, by buffer
  std::map<cgrt::format::BufferId, std::vector<Region>> written_; ///< by the graph so far
};

} // namespace

void check_spaces(LoweringContext &context) {
  SpaceCheck(context).run();
}

} // namespace cgc
