#include "device.h"
#include "effect_check.h"
#include "instance_state.h"
#include "update.h"

#include <cgrt/cgrt.h>

#include <algorithm>

namespace cgrt {

namespace {

InstanceState &valid(const std::shared_ptr<InstanceState> &state) {
  if (state == nullptr) {
    throw Error(ErrorCode::Usage, "this Instance was moved from");
  }
  return *state;
}

/// For one call. What waits for a callback must not be called by it.
std::lock_guard<std::mutex> locked(const std::shared_ptr<InstanceState> &state) {
  CallbackScope::refuse();
  return std::lock_guard(valid(state).mutex);
}

/// Error{Usage} where a buffer has been unbound.
void require_memory(const InstanceState &state, std::size_t buffer) {
  if (state.buffers[buffer].missing) {
    throw Error(ErrorCode::Usage, "buffer " + state.contents().buffers[buffer].name +
                                      " has no memory since it was unbound");
  }
}

/// Error{Usage} where what is bound to a buffer is const.
void require_writable(const InstanceState &state, std::size_t buffer) {
  if (!state.buffers[buffer].writable) {
    throw Error(ErrorCode::Usage, "the memory bound to buffer " +
                                      state.contents().buffers[buffer].name + " is const");
  }
}

} // namespace

Instance::Instance(const Program &program, const Device &device,
                   const std::map<std::string, Scalar> &params)
    : state_((CallbackScope::refuse(), std::make_shared<InstanceState>(program, device, params))) {}

void Instance::bind_function(const std::string &name, bool is_captured, TypedHostCall function,
                             bool any_parameters) {
  const std::lock_guard lock = locked(state_);
  if (is_captured && !state_->has_captured(name)) {
    bind_host_kernel(name, std::move(function), any_parameters);
    return;
  }
  const auto kind = is_captured ? format::CallableKind::Captured : format::CallableKind::Callback;
  const format::CallableId id =
      state_->function(name, kind, any_parameters ? nullptr : &function.parameters);
  Bindings::Function bound = state_->bindings.functions[id.index];
  bound.host = std::move(function.call);
  state_->rebind(id, std::move(bound));
}

void Instance::bind_function(const std::string &name, TypedStreamCall function,
                             bool any_parameters) {
  const std::lock_guard lock = locked(state_);
  const format::CallableId id = state_->function(name, format::CallableKind::Captured,
                                                 any_parameters ? nullptr : &function.parameters);
  Bindings::Function bound = state_->bindings.functions[id.index];
  bound.stream = std::move(function.call);
  state_->rebind(id, std::move(bound));
}

void Instance::bind_host_kernel(const std::string &name, TypedHostCall function,
                                bool any_parameters) {
  const format::KernelId id =
      find_external_kernel(state_->contents(), name, "captured function or external kernel");
  const format::Kernel &kernel = state_->contents()[id];
  if (!any_parameters) {
    check_parameters("kernel " + name, kernel.params, state_->contents().locate(kernel.place),
                     function.parameters);
  }
  Bindings::Kernel bound = state_->bindings.kernels[id.index];
  bound.host = std::move(function.call);
  state_->rebind(id, std::move(bound));
}

void Instance::bind_kernel(const std::string &name, const void *function) {
  const std::lock_guard lock = locked(state_);
  const format::KernelId id = find_external_kernel(state_->contents(), name);
  const format::Kernel &kernel = state_->contents()[id];
  const NodeLabel label("kernel " + name, state_->contents().locate(kernel.place));
  if (function == nullptr) {
    throw Error(ErrorCode::Usage, label.text() + ": what is bound to it is null", label.where());
  }
  Bindings::Kernel bound = state_->bindings.kernels[id.index];
  bound.function = state_->device.backend().wrap_kernel(kernel, function, label);
  state_->rebind(id, std::move(bound));
}

void Instance::bind_event(const std::string &name, CUevent_st *event) {
  const std::lock_guard lock = locked(state_);
  const std::vector<format::Event> &events = state_->contents().events;
  const auto is_bound = [&](const format::Event &each) {
    return each.name == name && each.external;
  };
  if (std::none_of(events.begin(), events.end(), is_bound)) {
    throw Error(ErrorCode::Usage, "there is no external event " + name);
  }
  Bindings others = state_->bindings;
  for (std::size_t i = 0; i < events.size(); ++i) { // one for each graph that has it
    if (is_bound(events[i])) {
      others.events[i] = state_->device.backend().wrap_event(event);
    }
  }
  state_->rebind(std::move(others), [&](const format::Node &node) {
    const format::EventId id = event_of(node);
    return id.valid() && is_bound(events[id.index]);
  });
}

UpdateReport Instance::update(const Changes &changes) {
  if (changes.params.size() == 1 && changes.memory.empty()) {
    const auto &[name, value] = *changes.params.begin();
    return set(name, value);
  }
  if (changes.params.empty() && changes.memory.size() == 1) {
    const auto &[name, memory] = *changes.memory.begin();
    return bind(name, memory);
  }
  std::vector<BufferMemory> gone; // behind the lock
  const std::lock_guard lock = locked(state_);
  Transaction &transaction = state_->transaction();
  for (const auto &[name, value] : changes.params) {
    transaction.assign(name, value);
  }
  for (const auto &[name, memory] : changes.memory) {
    transaction.bind(name, memory);
  }
  UpdateReport report = transaction.commit();
  gone = state_->take_retired();
  return report;
}

UpdateReport Instance::set(const std::map<std::string, Scalar> &params) {
  return update({params, {}});
}

[[gnu::hot]] UpdateReport Instance::set(std::string_view param, const Scalar &value) {
  std::vector<BufferMemory> gone; // behind the lock
  const std::lock_guard lock = locked(state_);
  InstanceState &state = *state_;
  std::optional<UpdateReport> report = state.shortcuts.set(state, param, value);
  if (!report) {
    Transaction &transaction = state.transaction();
    transaction.assign(param, value);
    report = transaction.commit();
    state.shortcuts.note(state, param, *report);
  }
  gone = state.take_retired();
  return std::move(*report);
}

UpdateReport Instance::bind(const std::string &buffer, const BoundMemory &memory) {
  std::vector<BufferMemory> gone; // behind the lock
  const std::lock_guard lock = locked(state_);
  Transaction &transaction = state_->transaction();
  transaction.bind(buffer, memory);
  UpdateReport report = transaction.commit();
  const format::BufferId id{static_cast<std::uint32_t>(state_->find(buffer))};
  state_->shortcuts.note(*state_, id, report);
  gone = state_->take_retired();
  return report;
}

void Instance::unbind(const std::string &buffer) {
  std::vector<BufferMemory> gone; // behind the lock
  const std::lock_guard lock = locked(state_);
  BufferMemory &memory = state_->buffers[state_->find(buffer)];
  if (!memory.bound) {
    throw Error(ErrorCode::Usage, "buffer " + buffer + " has no memory of the caller's");
  }
  BufferMemory nothing;
  nothing.view = memory.view;
  nothing.missing = true;
  std::swap(memory, nothing);
  state_->retired.push_back(std::move(nothing));
  ++state_->unbound;
  gone = state_->take_retired();
}

const Program &Instance::program() const {
  return valid(state_).program;
}

const Device &Instance::device() const {
  return valid(state_).device;
}

Scalar Instance::param(const std::string &name) const {
  const std::lock_guard lock = locked(state_);
  const std::vector<format::Param> &params = state_->contents().params;
  for (std::uint32_t i = 0; i < params.size(); ++i) {
    if (params[i].name == name) {
      const format::Value &value = state_->parameters.value(format::ParamId{i});
      switch (value.kind()) {
      case format::ValueKind::Bool:
        return value.truthy();
      case format::ValueKind::Int:
        return static_cast<std::int64_t>(value.bits());
      case format::ValueKind::Uint:
        return value.bits();
      case format::ValueKind::Float:
        return value.as_double();
      }
    }
  }
  throw Error(ErrorCode::Usage, "there is no param " + name);
}

std::span<std::byte> Instance::host_bytes(const std::string &name, std::optional<ScalarType> type) {
  const std::lock_guard lock = locked(state_);
  const std::size_t index = state_->find(name);
  const BufferView &view = state_->buffers[index].view;
  if (view.space != MemorySpace::Host) {
    throw Error(ErrorCode::Usage, "buffer " + name + " is device memory; use read() and write()");
  }
  if (type && view.type != *type) {
    throw Error(ErrorCode::Usage, "buffer " + name + " holds " + std::string(spelling(view.type)) +
                                      ", not " + std::string(spelling(*type)));
  }
  require_memory(*state_, index);
  require_writable(*state_, index);
  return {state_->placed[index].data, view.bytes};
}

BufferView Instance::buffer(const std::string &name) const {
  const std::lock_guard lock = locked(state_);
  return state_->buffers[state_->find(name)].view;
}

void Instance::write(const std::string &name, std::span<const std::byte> bytes) {
  std::vector<BufferMemory> gone; // behind the lock
  const std::lock_guard lock = locked(state_);
  const std::size_t index = state_->find(name);
  const BufferView &view = state_->buffers[index].view;
  require_memory(*state_, index);
  require_writable(*state_, index);
  if (state_->contents().buffers[index].access == CallerAccess::Out) {
    throw Error(ErrorCode::Usage, "buffer " + name + " is out: the caller only reads it");
  }
  if (bytes.size() != view.bytes) {
    throw Error(ErrorCode::Usage, "buffer " + name + " is " + type_and_shape(view) + ", " +
                                      std::to_string(view.bytes) + " bytes, not " +
                                      std::to_string(bytes.size()));
  }
  if (!bytes.empty()) {
    state_->order.wait(); // whose launches read what was there before
    gone = state_->take_retired();
    state_->device.backend().copy(state_->placed[index].data, bytes.data(), bytes.size());
  }
}

std::vector<std::byte> Instance::read(const std::string &name) const {
  std::vector<BufferMemory> gone; // behind the lock
  const std::lock_guard lock = locked(state_);
  const std::size_t index = state_->find(name);
  require_memory(*state_, index);
  if (state_->contents().buffers[index].access == CallerAccess::In) {
    throw Error(ErrorCode::Usage, "buffer " + name + " is in: the caller only fills it");
  }
  std::vector<std::byte> bytes(state_->buffers[index].view.bytes);
  if (!bytes.empty()) {
    state_->order.wait();
    gone = state_->take_retired();
    state_->device.backend().copy(bytes.data(), state_->placed[index].data, bytes.size());
  }
  return bytes;
}

Executable Instance::executable(const std::string &graph) {
  const std::lock_guard lock = locked(state_);
  InstanceState &state = *state_;
  auto made = std::make_shared<ExecutableState>();
  made->instance = state_;
  made->graph = state.find_graph(graph);
  state.require_bindings(made->graph);
  made->timers = state.timers_of(made->graph);
  made->nodes = state.contents()[made->graph].nodes.size();
  made->edges = state.contents()[made->graph].edge_count();
  state.add_signals(*made);
  state.make(made);
  return Executable(std::move(made));
}

namespace {

/// The check of effects runs kernels again and again, which must not launch or change anything.
void refuse_requests(const format::Program &program, format::GraphId graph) {
  format::for_each_node_in(program, graph, [&](const format::Node &node) {
    if (!format::launches_of(node).empty() || !format::updatables_of(node).empty()) {
      throw Error(ErrorCode::Usage,
                  format::describe(program, node) +
                      ": the check of effects does not follow what kernels launch, and what they "
                      "change of other launches; check graphs without that",
                  program.locate(node.place));
    }
  });
}

} // namespace

EffectReport Instance::check_effects(const std::string &graph) {
  const std::lock_guard lock = locked(state_);
  InstanceState &state = *state_;
  ExecutableState signals; // of an executable that nobody needs
  signals.graph = state.find_graph(graph);
  refuse_requests(state.contents(), signals.graph);
  state.require_bindings(signals.graph);
  state.require_memory(signals.graph);
  state.add_signals(signals);
  state.order.wait();
  const GraphBuilder builder = state.builder();
  EffectCheck check(state.contents(), builder, state.device.backend(), state.placed);
  try {
    EffectReport report = check.run(signals.graph);
    report.stopped = signals.take_reports();
    return report;
  } catch (...) {
    static_cast<void>(signals.take_reports()); // of a run that came to no end
    throw;
  }
}

} // namespace cgrt
