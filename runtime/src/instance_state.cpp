#include "instance_state.h"

#include "update.h"

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

std::string describe(const CallParameter &parameter) {
  const std::string type(format::spelling(parameter.type));
  return !parameter.is_buffer ? type
                              : (parameter.writes ? "a span of " : "a span of const ") + type;
}

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

} // namespace

std::string type_and_shape(const BufferView &view) {
  std::string text = std::string(spelling(view.type)) + "[";
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(view.shape[i]);
  }
  return text + "]";
}

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

InstanceState::InstanceState(const Program &given_program, const Device &given_device,
                             const std::map<std::string, Scalar> &params)
    : program(given_program), device(given_device), parameters(contents(), params),
      order(device.backend()) {
  const auto count = static_cast<std::uint32_t>(contents().buffers.size());
  std::vector<BufferView> views; // all are checked before memory is taken
  for (std::uint32_t i = 0; i < count; ++i) {
    views.push_back(view_of({i}));
  }
  code = device.backend().load(contents());
  for (std::uint32_t i = 0; i < count; ++i) {
    BufferMemory &buffer = buffers.emplace_back();
    buffer.own = allocate({i}, views[i]);
    buffer.view = std::move(views[i]);
    placed.push_back({buffer.own->data(), {buffer.view.shape.begin(), buffer.view.shape.end()}});
  }
  bindings.on_host = !device.is_cuda();
  bindings.functions.resize(contents().callables.size());
  bindings.kernels.resize(contents().kernels.size());
  for (const format::Event &event : contents().events) {
    const bool is_ours = !event.external || !device.is_cuda();
    bindings.events.push_back(is_ours ? device.backend().create_event() : nullptr);
  }
  placeholder = device.backend().allocate(MemorySpace::Device, GraphBuilder::placeholder_bytes);
  for (const format::BufferId signals :
       {contents().reports, contents().stops, contents().refusals, contents().update_refusals}) {
    if (signals.valid()) {
      std::memset(buffers[signals.index].own->data(), 0, buffers[signals.index].view.bytes);
    }
  }
}

// What is in flight uses the memory.
InstanceState::~InstanceState() {
  try {
    order.wait();
  } catch (const Error &) {
    // There is nobody to tell: the program has not waited for its launches.
  }
}

Transaction &InstanceState::transaction() {
  if (!transaction_) {
    transaction_ = std::make_unique<Transaction>(*this);
  }
  transaction_->begin();
  return *transaction_;
}

BufferView InstanceState::view_of(format::BufferId id) const {
  const format::Buffer &buffer = contents()[id];
  BufferView view{buffer.type, buffer.space, shape_of(contents(), buffer, parameters),
                  format::size_of(buffer.type)};
  for (const std::size_t extent : view.shape) {
    view.bytes *= extent;
  }
  return view;
}

std::unique_ptr<Memory> InstanceState::allocate(format::BufferId id, const BufferView &view) const {
  try {
    return device.backend().allocate(view.space, view.bytes);
  } catch (const Error &error) {
    const format::Buffer &buffer = contents()[id];
    throw Error(error.code(), "buffer " + buffer.name + ": " + error.message(),
                contents().locate(buffer.place));
  }
}

std::size_t InstanceState::find(const std::string &name) const {
  const std::vector<format::Buffer> &all = contents().buffers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name != name) {
      continue;
    }
    if (all[i].access == CallerAccess::Private) {
      throw Error(ErrorCode::Usage, "buffer " + name + " is private to the program",
                  contents().locate(all[i].place));
    }
    return i;
  }
  throw Error(ErrorCode::Usage, "there is no buffer " + name);
}

format::GraphId InstanceState::find_graph(const std::string &name) const {
  const std::vector<format::Graph> &graphs = contents().graphs;
  for (std::uint32_t index = 0; index < graphs.size(); ++index) {
    if (graphs[index].entry && graphs[index].name == name) {
      return {index};
    }
  }
  throw Error(ErrorCode::Usage, "there is no graph " + name);
}

void InstanceState::add_signals(ExecutableState &to) const {
  if (contents().reports.valid()) {
    for (const format::ConditionId id : format::conditions_of(contents(), to.graph)) {
      const format::Condition &condition = contents()[id];
      const NodeLabel label(condition.text, contents().locate(condition.place));
      to.loops.push_back(
          {signal(contents().reports, id.index), condition.text, label.where(),
           condition.limit.valid() ? parameters.integer(condition.limit, {label, "max"}) : 0,
           condition.limit});
    }
  }
  for (const format::GraphId graph : format::graphs_run_by(contents(), to.graph)) {
    add_requests(graph, to);
  }
  if (contents()[to.graph].stop) {
    to.stop = signal(contents().stops, *contents()[to.graph].stop);
  }
}

/// Of one graph.
void InstanceState::add_requests(format::GraphId graph, ExecutableState &to) const {
  if (contents().refusals.valid()) {
    for (const format::LaunchId id : format::launches_of(contents(), graph)) {
      const format::DeviceLaunch &launch = contents()[id];
      to.requests.push_back(
          {signal(contents().refusals, id.index), launch.text, contents().locate(launch.place),
           "what it launches has not ended since it was launched before, or a limit is reached "
           "(120 detached, 120 siblings, 255 tails, itself once in one execution)"});
    }
  }
  if (contents().update_refusals.valid()) {
    for (std::uint32_t index = 0; index < contents().updates.size(); ++index) {
      const format::DeviceUpdate &update = contents().updates[index];
      if (update.graph == graph) {
        to.requests.push_back({signal(contents().update_refusals, index), update.text,
                               contents().locate(update.place),
                               "the grid is negative, or larger than a GPU takes"});
      }
    }
  }
}

InstanceState::Made InstanceState::made(const ExecutableState &executable) const {
  Made result;
  const auto start = std::chrono::steady_clock::now();
  result.built = builder().build(
      executable.graph, [this] { return device.backend().create_graph(); }, executable.failures,
      launched_by(executable));
  result.times.build_us = microseconds_since(start);
  const auto finished = std::chrono::steady_clock::now();
  result.executable =
      result.built.owned.back()->instantiate(contents()[executable.graph].device_launch);
  result.times.instantiate_us = microseconds_since(finished);
  return result;
}

void InstanceState::install(Made made, ExecutableState &executable) {
  if (executable.executable != nullptr && is_changed_on_device(executable)) {
    order.wait(); // what is in flight may still launch or change the old one
  }
  shortcuts.clear();
  executable.executable = std::move(made.executable);
  executable.built = std::move(made.built);
  executable.times = made.times;
  executable.live_of.clear();
  executable.live_nodes.clear();
  executable.graphs.assign(contents().graphs.size(), nullptr);
  for (const BuiltGraphs::One &one : executable.built.all) {
    executable.graphs[one.id.index] = one.graph;
  }
}

/// The device handles that the graph's nodes are given; 0 of those that are not there yet.
std::vector<std::uint64_t> InstanceState::launched_by(const ExecutableState &executable) const {
  std::vector<std::uint64_t> handles(contents().launches.size(), 0);
  for (const format::LaunchId launch : format::launches_of(contents(), executable.graph)) {
    const DeviceExecutable *target =
        contents()[launch].target == executable.graph ? executable.executable.get()
        : launched[launch.index] != nullptr           ? launched[launch.index]->executable.get()
                                                      : nullptr;
    handles[launch.index] = target == nullptr ? 0 : target->device_handle(contents()[launch].kind);
  }
  return handles;
}

/// Gives kernels the handles that were not there when they were added: graphs may launch each
/// other, and themselves, and kernels may change nodes behind them.
void InstanceState::link(ExecutableState &executable) {
  std::vector<std::uint64_t> handles = launched_by(executable);
  if (handles == executable.built.launched && !executable.built.incomplete) {
    return;
  }
  shortcuts.clear();
  BuiltGraphs &built = executable.built;
  std::swap(built.launched, handles);
  try {
    give_handles(executable);
  } catch (...) {
    std::swap(built.launched, handles); // so that the next time finds them missing
    throw;
  }
  built.incomplete = false;
  executable.live_of.clear(); // whose params are not those any more
  executable.live_nodes.clear();
}

void InstanceState::give_handles(const ExecutableState &executable) const {
  std::vector<NodeParams> params;
  std::vector<DeviceExecutable::Update> updates;
  const GraphBuilder build = builder();
  for (const BuiltGraphs::One &one : executable.built.all) {
    const std::vector<format::Node> &nodes = contents()[one.id].nodes;
    for (std::uint32_t index = 0; index < nodes.size(); ++index) {
      if (!format::launches_of(nodes[index]).empty() ||
          !format::updatables_of(nodes[index]).empty()) {
        GraphBuilder::Resolved resolved = build.resolve(nodes[index], executable.built);
        updates.push_back(
            {executable.executable->place(*executable.built.owned.back(), *one.graph, index),
             nullptr, resolved.enabled});
        params.push_back(std::move(resolved.params));
      }
    }
  }
  for (std::size_t i = 0; i < updates.size(); ++i) {
    updates[i].params = &params[i];
  }
  if (executable.executable->update(updates) != updates.size()) {
    throw Error(ErrorCode::Device, "graph " + contents()[executable.graph].name +
                                       ": the device does not take what it launches or changes");
  }
}

bool InstanceState::is_changed_on_device(const ExecutableState &executable) const {
  const std::vector<std::uint64_t> &updatables = executable.built.updatables;
  return contents()[executable.graph].device_launch ||
         std::any_of(updatables.begin(), updatables.end(),
                     [](std::uint64_t handle) { return handle != 0; });
}

void InstanceState::link() {
  for (const auto &executable : alive()) {
    link(*executable);
  }
}

void InstanceState::make(const std::shared_ptr<ExecutableState> &executable) {
  launched.resize(contents().launches.size());
  std::vector<std::shared_ptr<ExecutableState>> all = {executable};
  std::vector<format::LaunchId> sites; // of those behind the first
  for (const format::GraphId graph : format::graphs_run_by(contents(), executable->graph)) {
    for (const format::LaunchId launch : format::launches_of(contents(), graph)) {
      if (contents()[launch].target != graph && launched[launch.index] == nullptr) {
        all.push_back(std::make_shared<ExecutableState>());
        all.back()->graph = contents()[launch].target;
        sites.push_back(launch);
      }
    }
  }
  try {
    for (std::size_t i = all.size(); i-- > 0;) { // mostly, what is launched comes first
      install(made(*all[i]), *all[i]);
      if (i != 0) {
        launched[sites[i - 1].index] = all[i];
      }
    }
    for (const auto &each : all) {
      link(*each);
    }
  } catch (...) {
    for (const format::LaunchId launch : sites) {
      launched[launch.index] = nullptr;
    }
    throw;
  }
  std::erase_if(executables, [](const auto &other) { return other.expired(); });
  executables.insert(executables.end(), all.begin(), all.end());
}

void InstanceState::require_memory(format::GraphId graph) const {
  for_each_node_run_by(graph, [this](const format::Node &node) {
    for (const format::Effect &effect : format::effects_of(contents(), node)) {
      const std::uint32_t buffer = effect.region.buffer.index;
      if (buffers[buffer].missing) {
        throw Error(ErrorCode::Usage,
                    "buffer " + contents().buffers[buffer].name +
                        " has no memory since it was unbound; call Instance::bind() first",
                    contents().locate(node.place));
      }
    }
  });
}

void InstanceState::require_bindings(format::GraphId graph) const {
  for_each_node_run_by(graph, [this](const format::Node &node) {
    if (const format::CallableId function = callable_of(node); function.valid()) {
      require_function(function, node);
    }
    if (const format::EventId event = event_of(node); event.valid()) {
      require_event(event, node);
    }
    require_kernel(contents(), bindings, *code, node);
  });
}

void InstanceState::require_function(format::CallableId id, const format::Node &node) const {
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

void InstanceState::require_event(format::EventId id, const format::Node &node) const {
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

std::vector<std::shared_ptr<DeviceEvent>> InstanceState::timers_of(format::GraphId graph) const {
  std::vector<std::shared_ptr<DeviceEvent>> timers(contents().events.size());
  format::for_each_node_in(contents(), graph, [&](const format::Node &node) {
    const auto *record = std::get_if<format::EventRecordWork>(&node.work);
    if (record != nullptr && !contents()[record->event].external) {
      timers[record->event.index] = bindings.events[record->event.index];
    }
  });
  return timers;
}

format::CallableId
InstanceState::function(const std::string &name, format::CallableKind kind,
                        const std::vector<CallParameter> *parameters_given) const {
  const std::vector<format::Callable> &callables = contents().callables;
  const auto found =
      std::find_if(callables.begin(), callables.end(),
                   [&](const format::Callable &it) { return it.name == name && it.kind == kind; });
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

void InstanceState::rebind(Bindings others,
                           const std::function<bool(const format::Node &)> &is_user) {
  std::swap(bindings, others); // the old ones stay until no executable uses them
  std::vector<std::pair<std::shared_ptr<ExecutableState>, Made>> all;
  try {
    for (const auto &executable : alive()) {
      bool uses = false;
      format::for_each_node_in(contents(), executable->graph,
                               [&](const format::Node &node) { uses = uses || is_user(node); });
      if (uses && is_changed_on_device(*executable)) {
        order.wait(); // before anything has changed
      }
      if (uses) {
        Made anew = made(*executable);
        all.emplace_back(executable, std::move(anew));
      }
    }
  } catch (...) {
    std::swap(bindings, others);
    throw;
  }
  for (auto &[executable, anew] : all) {
    install(std::move(anew), *executable);
  }
  if (!all.empty()) {
    link();
  }
}

void InstanceState::rebind(format::CallableId function, Bindings::Function bound) {
  Bindings others = bindings;
  others.functions[function.index] = std::move(bound);
  rebind(std::move(others),
         [function](const format::Node &node) { return callable_of(node) == function; });
}

void InstanceState::rebind(format::KernelId kernel, Bindings::Kernel bound) {
  Bindings others = bindings;
  others.kernels[kernel.index] = std::move(bound);
  rebind(std::move(others), [this, kernel](const format::Node &node) {
    return format::external_kernel_of(contents(), node) == kernel;
  });
}

bool InstanceState::has_captured(const std::string &name) const {
  const std::vector<format::Callable> &callables = contents().callables;
  return std::any_of(callables.begin(), callables.end(), [&](const format::Callable &it) {
    return it.kind == format::CallableKind::Captured && it.name == name;
  });
}

std::vector<std::shared_ptr<ExecutableState>> InstanceState::alive() const {
  std::vector<std::shared_ptr<ExecutableState>> all;
  for (const auto &weak : executables) {
    if (auto executable = weak.lock()) {
      all.push_back(std::move(executable));
    }
  }
  return all;
}

} // namespace cgrt
