// What an Executable holds; made by Instance::executable().
#pragma once

#include "device.h"
#include "format/program.h"
#include "graph_builder.h"

#include <cgrt/cgrt.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cgrt {

struct Executable::State {
  /// A loop of the graph, and where its kernels say why it has ended.
  struct Loop {
    std::uint32_t *report;
    std::string text;
    SourceLocation where;
    std::int64_t limit; ///< of one with `max`
  };

  /// The Error{Stopped} of loops that ended early since the last call; forgets them and any wish
  /// to stop.
  std::optional<Error> take_reports();

  std::shared_ptr<const void> instance; ///< keeps memory, code and device alive
  std::unique_ptr<DeviceExecutable> executable;
  format::GraphId graph;
  /// Kept where params can change; its last graph is the one that `executable` is of.
  BuiltGraphs built;
  /// Of its callbacks, also of launches before it was made anew.
  std::shared_ptr<CallbackFailures> failures = std::make_shared<CallbackFailures>();
  /// By the program's events: those that the graph records.
  std::vector<std::shared_ptr<DeviceEvent>> timers;
  std::shared_ptr<const format::Program> program;
  bool launched = false;
  std::size_t nodes = 0;
  std::size_t edges = 0;
  BuildTimes times;
  std::vector<Loop> loops;
  std::uint32_t *stop = nullptr; ///< of a graph that can be asked to
};

} // namespace cgrt
