// What an Executable holds; made by Instance::executable().
#pragma once

#include "device.h"
#include "format/program.h"
#include "graph_builder.h"

#include <cgrt/cgrt.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cgrt {

struct InstanceState;

struct ExecutableState {
  ExecutableState();
  ~ExecutableState();
  ExecutableState(const ExecutableState &) = delete;
  ExecutableState &operator=(const ExecutableState &) = delete;

  /// A loop of the graph, and where its kernels say why it has ended.
  struct Loop {
    std::uint32_t *report;
    std::string text;
    SourceLocation where;
    std::int64_t limit; ///< of one with `max`
    format::ExprId limit_expr;
  };

  /// What a kernel of the graph, or of one that it launches, launches or changes; and where that
  /// kernel says what CUDA answered.
  struct Request {
    std::uint32_t *report;
    std::string text;
    SourceLocation where;
    std::string_view hint; ///< why it may have been refused
  };

  /// A node that has been changed in the executable.
  struct LiveNode {
    std::uint32_t place; ///< in the executable
    bool enabled;
    bool planned; ///< the update at work changes it
    NodeParams params;
  };

  /// `node` counts through all graphs of the program. None where it stands in no graph of this
  /// executable or has not been changed yet.
  LiveNode *live(std::uint32_t node) {
    return live_of.empty() || live_of[node] == 0 ? nullptr : &live_nodes[live_of[node] - 1];
  }

  /// The Error{Stopped} of loops that ended early since the last call, or the Error{Device} of
  /// launches and changes that were refused; forgets them and any wish to stop.
  std::optional<Error> take_reports();

  std::shared_ptr<InstanceState> instance; ///< keeps all else alive; none where that owns this
  format::GraphId graph;
  BuiltGraphs built; ///< its last graph is the one that `executable` is of
  std::unique_ptr<DeviceExecutable> executable;
  std::vector<DeviceGraph *> graphs;  ///< by the program's graphs: those in this executable
  std::vector<std::uint32_t> live_of; ///< by the program's nodes: 1 + its index; 0: none
  std::deque<LiveNode> live_nodes;
  /// Of its callbacks, also of launches before it was made anew.
  std::shared_ptr<CallbackFailures> failures = std::make_shared<CallbackFailures>();
  /// By the program's events: those that the graph records.
  std::vector<std::shared_ptr<DeviceEvent>> timers;
  bool launched = false;
  std::size_t nodes = 0;
  std::size_t edges = 0;
  BuildTimes times;
  std::vector<Loop> loops;
  std::vector<Request> requests;
  std::uint32_t *stop = nullptr; ///< of a graph that can be asked to
};

} // namespace cgrt
