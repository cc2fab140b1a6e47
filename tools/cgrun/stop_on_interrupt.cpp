#include "stop_on_interrupt.h"

#include <algorithm>
#include <atomic>

namespace cgrun {

namespace {

// What a signal handler can reach.
std::span<cgrt::Executable> running;       // NOLINT: set before the handler is installed
struct sigaction earlier;                  // NOLINT: likewise
std::atomic<bool> was_interrupted = false; // NOLINT

void stop_graphs(int) {
  was_interrupted = true;
  for (cgrt::Executable &graph : running) {
    graph.stop();
  }
  sigaction(SIGINT, &earlier, nullptr);
}

} // namespace

StopOnInterrupt::StopOnInterrupt(std::span<cgrt::Executable> graphs) {
  if (std::none_of(graphs.begin(), graphs.end(),
                   [](const cgrt::Executable &graph) { return graph.is_cancellable(); })) {
    return;
  }
  running = graphs;
  struct sigaction action {};
  action.sa_handler = stop_graphs;
  sigaction(SIGINT, nullptr, &earlier);
  sigaction(SIGINT, &action, nullptr);
  installed_ = true;
}

StopOnInterrupt::~StopOnInterrupt() {
  if (installed_) {
    sigaction(SIGINT, &earlier, nullptr);
  }
}

bool StopOnInterrupt::interrupted() {
  return was_interrupted;
}

} // namespace cgrun
