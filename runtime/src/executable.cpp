#include "executable_state.h"

namespace cgrt {

Executable::Executable(std::shared_ptr<State> state) : state_(std::move(state)) {}

void Executable::launch() {
  state_->executable->launch();
}
void Executable::wait() {
  try {
    state_->executable->wait();
  } catch (...) {
    static_cast<void>(state_->take_reports()); // of a launch that came to no end
    throw;
  }
  if (const auto stopped = state_->take_reports()) {
    throw Error(*stopped);
  }
}

// The device writes and reads these words, too: each access is one of its own.
std::optional<Error> Executable::State::take_reports() {
  std::string reports;
  SourceLocation where;
  for (const Loop &loop : loops) {
    const auto end =
        static_cast<format::LoopEnd>(__atomic_exchange_n(loop.report, 0, __ATOMIC_ACQ_REL));
    if (end == format::LoopEnd::Condition) {
      continue;
    }
    std::string text = loop.text;
    if (reports.empty()) {
      where = loop.where;
    } else {
      text = "; " + text + " (line " + std::to_string(loop.where.line) + ")";
    }
    reports += text + (end == format::LoopEnd::Limit
                           ? " was ended after " + std::to_string(loop.limit) +
                                 (loop.limit == 1 ? " iteration" : " iterations") +
                                 ", its max, and its condition still holds"
                           : " was stopped, as asked");
  }
  if (stop != nullptr) {
    __atomic_store_n(stop, 0, __ATOMIC_RELEASE);
  }
  return reports.empty() ? std::nullopt
                         : std::optional<Error>(std::in_place, ErrorCode::Stopped, reports, where);
}

void Executable::stop() noexcept {
  if (state_->stop != nullptr) {
    __atomic_store_n(state_->stop, 1, __ATOMIC_RELEASE);
  }
}

bool Executable::is_cancellable() const {
  return state_->stop != nullptr;
}

std::size_t Executable::node_count() const {
  return state_->nodes;
}
std::size_t Executable::edge_count() const {
  return state_->edges;
}
BuildTimes Executable::times() const {
  return state_->times;
}

} // namespace cgrt
