#include "device.h"
#include "effect_check.h"
#include "executable_state.h"
#include "format/program.h"
#include "graph_builder.h"
#include "parameters.h"

#include <cgrt/cgrt.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

namespace cgrt {

namespace {

/// Bytes one buffer may have: an address difference must stay representable.
constexpr auto max_buffer_bytes =
    static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());

/// The extents of a buffer; Error{InvalidValue} where one is negative or all are too large.
std::vector<std::size_t> shape_of(const format::Program &program, const format::Buffer &buffer,
                                  const Parameters &parameters) {
  const NodeLabel subject("buffer " + buffer.name, program.locate(buffer.place));
  std::vector<std::size_t> shape;
  std::uint64_t bytes = format::size_of(buffer.type);
  bool too_large = false;
  bool empty = false;
  for (const format::ExprId id : buffer.shape) {
    const std::string role = "dimension " + std::to_string(shape.size());
    const std::int64_t extent = parameters.integer(id, {subject, role});
    if (extent < 0) {
      throw Error(ErrorCode::InvalidValue,
                  subject.text() + ": " + role + " is " + std::to_string(extent) +
                      "; it must be at least 0 [range]",
                  subject.where());
    }
    too_large = __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes) ||
                bytes > max_buffer_bytes || too_large;
    empty = empty || extent == 0;
    shape.push_back(static_cast<std::size_t>(extent));
  }
  if (too_large && !empty) {
    throw Error(ErrorCode::InvalidValue,
                subject.text() + " is larger than the address space [range]", subject.where());
  }
  return shape;
}

std::string type_and_shape(const BufferView &view) {
  std::string text = std::string(spelling(view.type)) + "[";
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(view.shape[i]);
  }
  return text + "]";
}

std::string describe(const CallParameter &parameter) {
  const std::string type(format::spelling(parameter.type));
  return !parameter.is_buffer ? type
                              : (parameter.writes ? "a span of " : "a span of const ") + type;
}

/// Error{Usage} where a C++ function's parameters are not those of the declaration.
void check_parameters(const std::string &who, const std::vector<format::KernelParam> &params,
                      const SourceLocation &where, const std::vector<CallParameter> &given) {
  if (given.size() != params.size()) {
    throw Error(ErrorCode::Usage,
                who + " has " + std::to_string(params.size()) +
                    " parameters; the function bound to it has " + std::to_string(given.size()),
                where);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const format::KernelParam &declared = params[i];
    const bool is_half = declared.type == ScalarType::F16 || declared.type == ScalarType::BF16;
    const CallParameter wanted = {!is_half             ? declared.type
                                  : declared.is_buffer ? ScalarType::U16
                                                       : ScalarType::F32,
                                  declared.is_buffer,
                                  declared.is_buffer && declared.mode != format::Mode::In};
    if (wanted.type != given[i].type || wanted.is_buffer != given[i].is_buffer ||
        wanted.writes != given[i].writes) {
      throw Error(ErrorCode::Usage,
                  who + ": parameter " + declared.name + " of the function bound to it is " +
                      describe(given[i]) + "; the declaration asks for " + describe(wanted),
                  where);
    }
  }
}

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

} // namespace

// Members are destroyed from the last to the first: memory and code before their device.
struct Instance::State {
  State(const Program &given_program, const Device &given_device,
        const std::map<std::string, Scalar> &params)
      : program(given_program), device(given_device), given(params),
        parameters(contents(), params) {
    for (const format::Buffer &buffer : contents().buffers) {
      add_view(buffer);
    }
    code = device.backend().load(contents());
    for (std::size_t i = 0; i < views.size(); ++i) {
      const BufferView &view = views[i];
      memory.push_back(allocate(contents().buffers[i], view));
      placed.push_back({memory.back()->data(), {view.shape.begin(), view.shape.end()}});
    }
    bindings.on_host = !device.is_cuda();
    bindings.functions.resize(contents().callables.size());
    bindings.kernels.resize(contents().kernels.size());
    for (const format::Event &event : contents().events) {
      const bool is_ours = !event.external || !device.is_cuda();
      bindings.events.push_back(is_ours ? device.backend().create_event() : nullptr);
    }
    placeholder = device.backend().allocate(MemorySpace::Device, GraphBuilder::placeholder_bytes);
    for (const format::BufferId signals : {contents().reports, contents().stops}) {
      if (signals.valid()) {
        std::memset(memory[signals.index]->data(), 0, views[signals.index].bytes);
      }
    }
  }

  std::uint32_t *signal(format::BufferId signals, std::uint32_t index) const {
    return reinterpret_cast<std::uint32_t *>(memory[signals.index]->data()) + index;
  }

  /// What the graph's loops report, and how they are asked to stop.
  void add_signals(const Parameters &with, Executable::State &to) const {
    to.loops.clear();
    if (contents().reports.valid()) {
      for (const format::ConditionId id : format::conditions_of(contents(), to.graph)) {
        const format::Condition &condition = contents()[id];
        const NodeLabel label(condition.text, contents().locate(condition.place));
        to.loops.push_back(
            {signal(contents().reports, id.index), condition.text, label.where(),
             condition.limit.valid() ? with.integer(condition.limit, {label, "max"}) : 0});
      }
    }
    if (contents()[to.graph].stop) {
      to.stop = signal(contents().stops, *contents()[to.graph].stop);
    }
  }

  const format::Program &contents() const { return program.contents(); }
  std::shared_ptr<const format::Program> shared_contents() const {
    return program.shared_contents();
  }

  std::unique_ptr<Memory> allocate(const format::Buffer &buffer, const BufferView &view) {
    try {
      return device.backend().allocate(view.space, view.bytes);
    } catch (const Error &error) {
      throw Error(error.code(), "buffer " + buffer.name + ": " + error.message(),
                  contents().locate(buffer.place));
    }
  }

  void add_view(const format::Buffer &buffer) {
    BufferView view{buffer.type, buffer.space, shape_of(contents(), buffer, parameters),
                    format::size_of(buffer.type)};
    for (const std::size_t extent : view.shape) {
      view.bytes *= extent;
    }
    views.push_back(std::move(view));
  }

  /// The index of a buffer that the caller may touch.
  std::size_t find(const std::string &name) const {
    const std::vector<format::Buffer> &buffers = contents().buffers;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i].name != name) {
        continue;
      }
      if (buffers[i].access == CallerAccess::Private) {
        throw Error(ErrorCode::Usage, "buffer " + name + " is private to the program",
                    contents().locate(buffers[i].place));
      }
      return i;
    }
    throw Error(ErrorCode::Usage, "there is no buffer " + name);
  }

  format::GraphId find_graph(const std::string &name) const {
    const std::vector<format::Graph> &graphs = contents().graphs;
    for (std::uint32_t index = 0; index < graphs.size(); ++index) {
      if (graphs[index].entry && graphs[index].name == name) {
        return {index};
      }
    }
    throw Error(ErrorCode::Usage, "there is no graph " + name);
  }

  GraphBuilder builder(const Parameters &with) const {
    return {contents(), with, placed, *code, bindings, placeholder->data()};
  }

  /// Builds and instantiates the executable's graph.
  void make(Executable::State &executable, const Parameters &with) const {
    install(made(executable, with), executable);
  }

  /// What is new of an executable that is made anew.
  struct Made {
    BuiltGraphs built;
    std::unique_ptr<DeviceExecutable> executable;
    BuildTimes times;
  };

  Made made(const Executable::State &executable, const Parameters &with) const {
    Made result;
    const auto start = std::chrono::steady_clock::now();
    result.built = builder(with).build(
        executable.graph, [this] { return device.backend().create_graph(); }, executable.failures);
    result.times.build_us = microseconds_since(start);
    const auto finished = std::chrono::steady_clock::now();
    result.executable = result.built.owned.back()->instantiate();
    result.times.instantiate_us = microseconds_since(finished);
    return result;
  }

  void install(Made made, Executable::State &executable) const {
    executable.executable = std::move(made.executable);
    executable.built = contents().params.empty() ? BuiltGraphs{} : std::move(made.built);
    executable.times = made.times;
  }

  /// Everything that a graph's nodes use from outside must be bound.
  void require_bindings(format::GraphId graph) const {
    format::for_each_node_in(contents(), graph, [this](const format::Node &node) {
      if (const format::CallableId function = callable_of(node); function.valid()) {
        require_function(function, node);
      }
      if (const format::EventId event = event_of(node); event.valid()) {
        require_event(event, node);
      }
      require_kernel(contents(), bindings, *code, node);
    });
  }

  void require_function(format::CallableId id, const format::Node &node) const {
    const format::Callable &callable = contents()[id];
    const bool is_callback = callable.kind == format::CallableKind::Callback;
    const Bindings::Function &bound = bindings.functions[id.index];
    const bool takes_host = is_callback || bindings.on_host;
    if (takes_host ? bound.host == nullptr : bound.stream == nullptr) {
      throw Error(ErrorCode::Usage,
                  std::string(spelling(callable.kind)) + " " + callable.name +
                      " is not bound; the program that embeds cgrt does that with Instance::" +
                      (is_callback  ? "bind_callback"
                       : takes_host ? "bind_host"
                                    : "bind_captured") +
                      "(\"" + callable.name + "\", …)",
                  contents().locate(node.place));
    }
  }

  void require_event(format::EventId id, const format::Node &node) const {
    if (bindings.events[id.index] == nullptr) {
      const std::string &name = contents()[id].name;
      throw Error(ErrorCode::Usage,
                  "event " + name +
                      " is not bound; the program that embeds cgrt does that with "
                      "Instance::bind_event(\"" +
                      name + "\", …)",
                  contents().locate(node.place));
    }
  }

  /// The events of a graph that cgrt can take times of.
  std::vector<std::shared_ptr<DeviceEvent>> timers_of(format::GraphId graph) const {
    std::vector<std::shared_ptr<DeviceEvent>> timers(contents().events.size());
    format::for_each_node_in(contents(), graph, [&](const format::Node &node) {
      const auto *record = std::get_if<format::EventRecordWork>(&node.work);
      if (record != nullptr && !contents()[record->event].external) {
        timers[record->event.index] = bindings.events[record->event.index];
      }
    });
    return timers;
  }

  /// Takes other bindings and makes the executables anew that have a node for which `is_user(node)`
  /// holds. Where that fails, everything stays as it was.
  template <typename IsUser> void rebind(Bindings others, const IsUser &is_user) {
    std::swap(bindings, others); // the old ones stay until no executable uses them
    std::vector<std::pair<std::shared_ptr<Executable::State>, Made>> all;
    try {
      for (const auto &weak : executables) {
        auto executable = weak.lock();
        bool uses = false;
        if (executable) {
          format::for_each_node_in(contents(), executable->graph,
                                   [&](const format::Node &node) { uses = uses || is_user(node); });
        }
        if (uses) {
          Made anew = made(*executable, parameters);
          all.emplace_back(std::move(executable), std::move(anew));
        }
      }
    } catch (...) {
      std::swap(bindings, others);
      throw;
    }
    for (auto &[executable, anew] : all) {
      install(std::move(anew), *executable);
    }
  }

  void rebind(format::CallableId function, Bindings::Function bound) {
    Bindings others = bindings;
    others.functions[function.index] = std::move(bound);
    rebind(std::move(others),
           [function](const format::Node &node) { return callable_of(node) == function; });
  }

  void rebind(format::KernelId kernel, Bindings::Kernel bound) {
    Bindings others = bindings;
    others.kernels[kernel.index] = std::move(bound);
    rebind(std::move(others), [this, kernel](const format::Node &node) {
      return format::external_kernel_of(contents(), node) == kernel;
    });
  }

  bool has_captured(const std::string &name) const {
    const std::vector<format::Callable> &callables = contents().callables;
    return std::any_of(callables.begin(), callables.end(), [&](const format::Callable &it) {
      return it.kind == format::CallableKind::Captured && it.name == name;
    });
  }

  /// Error{Usage} where there is no such function or its parameters are others.
  format::CallableId function(const std::string &name, format::CallableKind kind,
                              const std::vector<CallParameter> *parameters_given) const {
    const std::vector<format::Callable> &callables = contents().callables;
    const auto found =
        std::find_if(callables.begin(), callables.end(), [&](const format::Callable &it) {
          return it.name == name && it.kind == kind;
        });
    if (found == callables.end()) {
      throw Error(ErrorCode::Usage,
                  "there is no " +
                      std::string(kind == format::CallableKind::Callback ? "callback "
                                                                         : "captured function ") +
                      name);
    }
    if (parameters_given != nullptr) {
      check_parameters(std::string(spelling(kind)) + " " + name, found->params,
                       contents().locate(found->place), *parameters_given);
    }
    return {static_cast<std::uint32_t>(found - callables.begin())};
  }

  /// Error{InvalidValue} where these parameters give a buffer another shape.
  void check_shapes(const Parameters &with) const {
    for (std::size_t i = 0; i < views.size(); ++i) {
      const format::Buffer &buffer = contents().buffers[i];
      if (shape_of(contents(), buffer, with) != views[i].shape) {
        throw Error(ErrorCode::InvalidValue,
                    "buffer " + buffer.name +
                        " would change its shape; make a new instance for that [shape]",
                    contents().locate(buffer.place));
      }
    }
  }

  Program program;
  Device device;
  std::map<std::string, Scalar> given;
  Parameters parameters;
  std::unique_ptr<LoadedCode> code;
  std::vector<BufferView> views;               ///< parallel to the program's buffers
  std::vector<std::unique_ptr<Memory>> memory; ///< likewise
  std::vector<PlacedBuffer> placed;            ///< likewise
  Bindings bindings;
  std::unique_ptr<Memory> placeholder;
  std::vector<std::weak_ptr<Executable::State>> executables;
};

Instance::Instance(const Program &program, const Device &device,
                   const std::map<std::string, Scalar> &params)
    : state_((CallbackScope::refuse(), std::make_shared<State>(program, device, params))) {}

void Instance::bind(const std::string &name, bool is_captured, TypedHostCall function,
                    bool any_parameters) {
  CallbackScope::refuse();
  if (is_captured && !state_->has_captured(name)) {
    bind_host_kernel(name, std::move(function));
    return;
  }
  const auto kind = is_captured ? format::CallableKind::Captured : format::CallableKind::Callback;
  const format::CallableId id =
      state_->function(name, kind, any_parameters ? nullptr : &function.parameters);
  Bindings::Function bound = state_->bindings.functions[id.index];
  bound.host = std::move(function.call);
  state_->rebind(id, std::move(bound));
}

void Instance::bind(const std::string &name, TypedStreamCall function) {
  CallbackScope::refuse();
  const format::CallableId id =
      state_->function(name, format::CallableKind::Captured, &function.parameters);
  Bindings::Function bound = state_->bindings.functions[id.index];
  bound.stream = std::move(function.call);
  state_->rebind(id, std::move(bound));
}

void Instance::bind_host_kernel(const std::string &name, TypedHostCall function) {
  const format::KernelId id =
      find_external_kernel(state_->contents(), name, "captured function or external kernel");
  const format::Kernel &kernel = state_->contents()[id];
  check_parameters("kernel " + name, kernel.params, state_->contents().locate(kernel.place),
                   function.parameters);
  Bindings::Kernel bound = state_->bindings.kernels[id.index];
  bound.host = std::move(function.call);
  state_->rebind(id, std::move(bound));
}

void Instance::bind_kernel(const std::string &name, const void *function) {
  CallbackScope::refuse();
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
  CallbackScope::refuse();
  const std::vector<format::Event> &events = state_->contents().events;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (events[i].name == name && events[i].external) {
      Bindings others = state_->bindings;
      others.events[i] = state_->device.backend().wrap_event(event);
      state_->rebind(std::move(others),
                     [i](const format::Node &node) { return event_of(node).index == i; });
      return;
    }
  }
  throw Error(ErrorCode::Usage, "there is no external event " + name);
}

void Instance::set(const std::map<std::string, Scalar> &params) {
  CallbackScope::refuse();
  State &state = *state_;
  std::map<std::string, Scalar> given = params;
  given.insert(state.given.begin(), state.given.end());
  Parameters changed(state.contents(), given);
  state.check_shapes(changed);
  const std::vector<bool> changes = changed.changes_from(state.parameters);
  struct Change {
    std::shared_ptr<Executable::State> executable;
    std::vector<NodeUpdate> updates;
  };
  std::vector<Change> all; // everything that can be refused comes before anything is changed
  for (const auto &weak : state.executables) {
    if (auto executable = weak.lock()) {
      auto updates = state.builder(changed).updates(executable->built, changes);
      all.push_back({std::move(executable), std::move(updates)});
    }
  }
  for (const Change &change : all) {
    Executable::State &executable = *change.executable;
    if (!change.updates.empty() &&
        !executable.executable->update(*executable.built.owned.back(), change.updates)) {
      state.make(executable, changed);
    }
    state.add_signals(changed, executable);
  }
  state.given = std::move(given);
  state.parameters = std::move(changed);
}

std::span<std::byte> Instance::host_bytes(const std::string &name, ScalarType type) {
  const std::size_t index = state_->find(name);
  const BufferView &view = state_->views[index];
  if (view.space != MemorySpace::Host) {
    throw Error(ErrorCode::Usage, "buffer " + name + " is device memory; use read() and write()");
  }
  if (view.type != type) {
    throw Error(ErrorCode::Usage, "buffer " + name + " holds " + std::string(spelling(view.type)) +
                                      ", not " + std::string(spelling(type)));
  }
  return {state_->memory[index]->data(), view.bytes};
}

BufferView Instance::buffer(const std::string &name) const {
  return state_->views[state_->find(name)];
}

void Instance::write(const std::string &name, std::span<const std::byte> bytes) {
  CallbackScope::refuse();
  const std::size_t index = state_->find(name);
  const BufferView &view = state_->views[index];
  if (state_->contents().buffers[index].access == CallerAccess::Out) {
    throw Error(ErrorCode::Usage, "buffer " + name + " is out: the caller only reads it");
  }
  if (bytes.size() != view.bytes) {
    throw Error(ErrorCode::Usage, "buffer " + name + " is " + type_and_shape(view) + ", " +
                                      std::to_string(view.bytes) + " bytes, not " +
                                      std::to_string(bytes.size()));
  }
  if (!bytes.empty()) {
    state_->device.backend().copy(state_->memory[index]->data(), bytes.data(), bytes.size());
  }
}

std::vector<std::byte> Instance::read(const std::string &name) const {
  CallbackScope::refuse();
  const std::size_t index = state_->find(name);
  if (state_->contents().buffers[index].access == CallerAccess::In) {
    throw Error(ErrorCode::Usage, "buffer " + name + " is in: the caller only fills it");
  }
  std::vector<std::byte> bytes(state_->views[index].bytes);
  if (!bytes.empty()) {
    state_->device.backend().copy(bytes.data(), state_->memory[index]->data(), bytes.size());
  }
  return bytes;
}

Executable Instance::executable(const std::string &graph) {
  CallbackScope::refuse();
  const State &state = *state_;
  auto made = std::make_shared<Executable::State>();
  made->instance = state_;
  made->program = state.shared_contents();
  made->graph = state.find_graph(graph);
  state.require_bindings(made->graph);
  made->timers = state.timers_of(made->graph);
  made->nodes = state.contents()[made->graph].nodes.size();
  made->edges = state.contents()[made->graph].edge_count();
  state.add_signals(state.parameters, *made);
  state.make(*made, state.parameters);
  std::erase_if(state_->executables, [](const auto &other) { return other.expired(); });
  state_->executables.push_back(made);
  return Executable(std::move(made));
}

EffectReport Instance::check_effects(const std::string &graph) {
  CallbackScope::refuse();
  const State &state = *state_;
  Executable::State signals; // of an executable that nobody needs
  signals.graph = state.find_graph(graph);
  state.require_bindings(signals.graph);
  state.add_signals(state.parameters, signals);
  const GraphBuilder builder = state.builder(state.parameters);
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
