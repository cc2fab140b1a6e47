#include "executable_state.h"
#include "instance_state.h"

#include <mutex>

namespace cgrt {

namespace {

ExecutableState &valid(const std::shared_ptr<ExecutableState> &state) {
  if (state == nullptr) {
    throw Error(ErrorCode::Usage, "this Executable was moved from");
  }
  return *state;
}

std::lock_guard<std::mutex> locked(const std::shared_ptr<ExecutableState> &state) {
  CallbackScope::refuse();
  return std::lock_guard(valid(state).instance->mutex);
}

} // namespace

std::string_view spelling(UpdateKind kind) {
  switch (kind) {
  case UpdateKind::None:
    return "none";
  case UpdateKind::InPlace:
    return "in place";
  case UpdateKind::Rebuilt:
    break;
  }
  return "rebuilt";
}

ExecutableState::ExecutableState() = default;
ExecutableState::~ExecutableState() = default;

Executable::Executable(std::shared_ptr<ExecutableState> state) : state_(std::move(state)) {}

void Executable::launch(CUstream_st *stream, Order order) {
  const std::lock_guard lock = locked(state_);
  InstanceState &instance = *state_->instance;
  if (instance.unbound != 0) {
    instance.require_memory(state_->graph);
  }
  state_->executable->launch(&instance.order.next(stream, order));
  state_->launched = true;
}

// Others go on meanwhile.
void Executable::wait() {
  InstanceState &instance = *valid(state_).instance;
  std::uint64_t launches = 0;
  std::vector<LaunchOrder::Queue> pending;
  {
    const std::lock_guard lock = locked(state_);
    launches = instance.order.launches();
    pending = instance.order.pending();
  }
  try {
    for (const LaunchOrder::Queue &queue : pending) {
      queue->wait();
    }
  } catch (...) {
    const std::lock_guard lock = locked(state_);
    static_cast<void>(state_->take_reports()); // of a launch that came to no end
    throw;
  }
  std::vector<BufferMemory> gone; // behind the lock
  const std::lock_guard lock = locked(state_);
  if (launches == instance.order.launches()) {
    instance.order.settle();
    gone = instance.take_retired();
  }
  try {
    state_->executable->report();
  } catch (...) {
    static_cast<void>(state_->take_reports());
    throw;
  }
  if (const auto stopped = state_->take_reports()) {
    throw Error(*stopped);
  }
  if (const std::optional<Error> thrown = state_->failures->take()) {
    throw Error(*thrown);
  }
}

// The device writes and reads these words, too: each access is one of its own.
std::optional<Error> ExecutableState::take_reports() {
  std::optional<Error> refused;
  for (const Request &request : requests) {
    const std::uint32_t error = __atomic_exchange_n(request.report, 0, __ATOMIC_ACQ_REL);
    if (error != 0 && !refused) {
      refused.emplace(ErrorCode::Device,
                      request.text + " was refused on the device with CUDA error " +
                          std::to_string(error) + ": " + std::string(request.hint) +
                          " [device-launch]",
                      request.where);
    }
  }
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
  return refused ? refused
         : reports.empty()
             ? std::nullopt
             : std::optional<Error>(std::in_place, ErrorCode::Stopped, reports, where);
}

void Executable::stop() noexcept {
  if (state_ != nullptr && state_->stop != nullptr) {
    __atomic_store_n(state_->stop, 1, __ATOMIC_RELEASE);
  }
}

bool Executable::is_cancellable() const {
  return valid(state_).stop != nullptr;
}

double Executable::elapsed(const std::string &begin, const std::string &end) const {
  const std::lock_guard lock = locked(state_);
  const auto find = [this](const std::string &name) -> const DeviceEvent & {
    const std::vector<format::Event> &events = state_->instance->contents().events;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].name == name && state_->timers[i] != nullptr) {
        return *state_->timers[i];
      }
    }
    throw Error(ErrorCode::Usage, "this graph records no timing event " + name);
  };
  const DeviceEvent &from = find(begin);
  const DeviceEvent &to = find(end);
  if (!state_->launched) {
    throw Error(ErrorCode::Usage, "the graph has not been launched, so there is no time between " +
                                      begin + " and " + end);
  }
  return from.milliseconds_to(to);
}

std::vector<std::string> Executable::timing_events() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < valid(state_).timers.size(); ++i) {
    if (state_->timers[i] != nullptr) {
      names.push_back(state_->instance->contents().events[i].name);
    }
  }
  return names;
}

std::size_t Executable::node_count() const {
  return valid(state_).nodes;
}
std::size_t Executable::edge_count() const {
  return valid(state_).edges;
}
BuildTimes Executable::times() const {
  return valid(state_).times;
}

} // namespace cgrt
