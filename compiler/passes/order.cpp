#include "passes/order.h"

#include "passes/reachability.h"

#include <algorithm>
#include <map>

namespace cgc {

using cgrt::format::BufferId;
using cgrt::format::Dependency;
using cgrt::format::Graph;
using cgrt::format::Node;
using cgrt::format::NodeId;
using cgrt::format::Program;

namespace {

/// Who touched a buffer last.
struct LastAccesses {
  NodeId writer;
  std::vector<NodeId> readers; ///< since that write
};

class GraphOrder {
public:
  GraphOrder(const Program &program, Graph &graph)
      : program_(program), graph_(graph), buffers_(program.buffers.size()),
        uses_(graph.nodes.size(), 0) {}

  void run() {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      order_node({i});
    }
  }

private:
  void order_node(NodeId id) {
    Node &node = graph_.nodes[id.index];
    const auto effects = effects_of(program_, node);
    std::map<NodeId, BufferId> causes; // the first buffer that asks for each edge
    for (const auto &effect : effects) {
      const BufferId buffer = effect.region.buffer;
      const LastAccesses &last = buffers_[buffer.index];
      if (last.writer.valid() && (effect.reads || last.readers.empty())) {
        causes.emplace(last.writer, buffer);
      }
      if (effect.writes) {
        for (const NodeId reader : last.readers) {
          causes.emplace(reader, buffer);
        }
      }
    }
    std::vector<std::uint32_t> candidates;
    candidates.reserve(causes.size());
    for (const auto &[predecessor, buffer] : causes) {
      candidates.push_back(predecessor.index);
    }
    const auto kept = reachability_.reduce(candidates);
    reachability_.add(kept);
    node.dependencies.clear();
    for (const std::uint32_t predecessor : kept) {
      node.dependencies.push_back({{predecessor}, causes.at({predecessor})});
    }
    ++uses_[id.index]; // until its accesses are recorded
    for (const auto &effect : effects) {
      record(id, effect);
    }
    release(id);
  }

  void record(NodeId id, const cgrt::format::Effect &effect) {
    LastAccesses &last = buffers_[effect.region.buffer.index];
    if (effect.writes) {
      if (last.writer.valid()) {
        release(last.writer);
      }
      for (const NodeId reader : last.readers) {
        release(reader);
      }
      last.readers.clear();
      last.writer = id;
      ++uses_[id.index];
    } else if (last.writer != id && (last.readers.empty() || last.readers.back() != id)) {
      last.readers.push_back(id);
      ++uses_[id.index];
    }
  }

  /// A node that no buffer's last accesses name any more will not be a predecessor again.
  void release(NodeId id) {
    if (--uses_[id.index] == 0) {
      reachability_.forget(id.index);
    }
  }

  const Program &program_;
  Graph &graph_;
  std::vector<LastAccesses> buffers_;
  std::vector<std::uint32_t> uses_; ///< how many last accesses name the node
  Reachability reachability_;
};

} // namespace

void order_by_data(Module &module) {
  for (Graph &graph : module.program.graphs) {
    GraphOrder(module.program, graph).run();
  }
}

} // namespace cgc
