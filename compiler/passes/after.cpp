#include "passes/after.h"

#include "ir/reachability.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <span>

namespace cgc {

using cgrt::format::BufferId;
using cgrt::format::Graph;
using cgrt::format::Node;
using cgrt::format::Program;

namespace {

class AfterOrder {
public:
  AfterOrder(const Program &program, Graph &graph, NodeOrigins &origins,
             std::span<const AfterEdge> edges, Diagnostics &diagnostics)
      : program_(program), graph_(graph), origins_(origins), edges_(edges),
        diagnostics_(diagnostics), causes_(graph.nodes.size()) {}

  void run() {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const auto &dependency : graph_.nodes[i].dependencies) {
        causes_[i].emplace(dependency.node.index, dependency.buffer);
      }
    }
    // Edges between two nodes first: they tell more of what begins and ends a range.
    for (const bool single : {true, false}) {
      for (const AfterEdge &edge : edges_) {
        if (is_single(edge) == single) {
          add(edge);
        }
      }
    }
    const std::vector<std::uint32_t> order = topological_order();
    if (order.size() == graph_.nodes.size()) {
      apply(order);
    } else {
      report_circle(order);
    }
  }

private:
  static bool is_single(const AfterEdge &edge) {
    return edge.from.end - edge.from.begin == 1 && edge.to.end - edge.to.begin == 1;
  }

  /// From what ends one side to what begins the other; all else on both sides follows.
  void add(const AfterEdge &edge) {
    std::vector<bool> continued(edge.from.end - edge.from.begin, false);
    for (std::uint32_t i = edge.from.begin; i < edge.from.end; ++i) {
      for (auto cause = causes_[i].lower_bound(edge.from.begin);
           cause != causes_[i].end() && cause->first < edge.from.end; ++cause) {
        continued[cause->first - edge.from.begin] = true;
      }
    }
    for (std::uint32_t to = edge.to.begin; to < edge.to.end; ++to) {
      const auto inside = causes_[to].lower_bound(edge.to.begin);
      if (inside != causes_[to].end() && inside->first < edge.to.end) {
        continue; // begins nothing
      }
      for (std::uint32_t from = edge.from.begin; from < edge.from.end; ++from) {
        if (!continued[from - edge.from.begin]) {
          causes_[to].emplace(from, BufferId{});
        }
      }
    }
  }

  /// As near to the program's order as the edges allow; shorter than the graph where there is a
  /// circle.
  std::vector<std::uint32_t> topological_order() const {
    std::vector<std::size_t> missing(graph_.nodes.size());
    std::vector<std::vector<std::uint32_t>> successors(graph_.nodes.size());
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      missing[i] = causes_[i].size();
      for (const auto &[from, buffer] : causes_[i]) {
        successors[from].push_back(i);
      }
      if (missing[i] == 0) {
        ready.push(i);
      }
    }
    std::vector<std::uint32_t> order;
    while (!ready.empty()) {
      order.push_back(ready.top());
      ready.pop();
      for (const std::uint32_t successor : successors[order.back()]) {
        if (--missing[successor] == 0) {
          ready.push(successor);
        }
      }
    }
    return order;
  }

  void apply(const std::vector<std::uint32_t> &order) {
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
    }
    std::vector<std::size_t> successors(order.size());
    for (const auto &causes : causes_) {
      for (const auto &[from, buffer] : causes) {
        ++successors[place[from]];
      }
    }
    Reachability reachability;
    std::vector<Node> nodes;
    NodeOrigins origins;
    nodes.reserve(order.size());
    origins.reserve(order.size());
    for (const std::uint32_t old : order) {
      std::map<std::uint32_t, BufferId> causes;
      for (const auto &[from, buffer] : causes_[old]) {
        causes.emplace(place[from], buffer);
      }
      std::vector<std::uint32_t> candidates;
      candidates.reserve(causes.size());
      for (const auto &[from, buffer] : causes) {
        candidates.push_back(from);
      }
      const auto kept = reachability.reduce(candidates);
      reachability.add(kept);
      for (const std::uint32_t from : candidates) {
        if (--successors[from] == 0) {
          reachability.forget(from);
        }
      }
      nodes.push_back(std::move(graph_.nodes[old]));
      origins.push_back(origins_[old]);
      nodes.back().dependencies.clear();
      for (const std::uint32_t from : kept) {
        nodes.back().dependencies.push_back({{from}, causes.at(from)});
      }
    }
    graph_.nodes = std::move(nodes);
    origins_ = std::move(origins);
  }

  /// Who asked for the edge, if it is not one by data; two nodes rather than ranges.
  const AfterEdge *asking(std::uint32_t from, std::uint32_t to) const {
    const AfterEdge *found = nullptr;
    for (const AfterEdge &edge : edges_) {
      const bool asks = edge.from.begin <= from && from < edge.from.end && edge.to.begin <= to &&
                        to < edge.to.end;
      if (asks && (found == nullptr || (is_single(edge) && !is_single(*found)))) {
        found = &edge;
      }
    }
    return found;
  }

  /// Walks back along edges among the nodes that found no place until one comes up again.
  void report_circle(const std::vector<std::uint32_t> &order) {
    std::vector<bool> placed(graph_.nodes.size(), false);
    for (const std::uint32_t node : order) {
      placed[node] = true;
    }
    std::vector<std::uint32_t> way; // each after the next one
    auto node =
        static_cast<std::uint32_t>(std::find(placed.begin(), placed.end(), false) - placed.begin());
    while (std::find(way.begin(), way.end(), node) == way.end()) {
      way.push_back(node);
      node = std::find_if(causes_[node].begin(), causes_[node].end(), [&](const auto &cause) {
               return !placed[cause.first];
             })->first;
    }
    way.erase(way.begin(), std::find(way.begin(), way.end(), node));
    way.push_back(node);
    std::reverse(way.begin(), way.end());
    std::string text;
    SourceRange asked;
    for (std::size_t i = 0; i < way.size(); ++i) {
      const Node &each = graph_.nodes[way[i]];
      text += (i == 0 ? "" : " → ") + describe(program_, each) + " (line " +
              std::to_string(each.place.line) + ")";
      const AfterEdge *edge = i == 0 ? nullptr : asking(way[i - 1], way[i]);
      asked = edge != nullptr ? edge->range : asked;
    }
    diagnostics_.report(Diag::CircularOrder, asked, text);
  }

  const Program &program_;
  Graph &graph_;
  NodeOrigins &origins_;
  std::span<const AfterEdge> edges_;
  Diagnostics &diagnostics_;
  std::vector<std::map<std::uint32_t, BufferId>> causes_; ///< of each node's edges
};

} // namespace

void order_by_after(Module &module, Diagnostics &diagnostics) {
  const std::span<const AfterEdge> all = module.after;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].graph == all[begin].graph) {
      ++end;
    }
    const std::uint32_t graph = all[begin].graph.index;
    AfterOrder(module.program, module.program.graphs[graph], module.origins[graph],
               all.subspan(begin, end - begin), diagnostics)
        .run();
    begin = end;
  }
  module.after.clear();
}

} // namespace cgc
