#include "device.h"
#include "effect_check.h"
#include "executable_state.h"
#include "format/program.h"
#include "graph_builder.h"
#include "parameters.h"

#include <cgrt/cgrt.h>

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
    return {contents(), with, placed, *code, placeholder->data()};
  }

  /// Builds and instantiates the executable's graph.
  void make(Executable::State &executable, const Parameters &with) const {
    const auto start = std::chrono::steady_clock::now();
    BuiltGraphs built =
        builder(with).build(executable.graph, [this] { return device.backend().create_graph(); });
    executable.times.build_us = microseconds_since(start);
    const auto finished = std::chrono::steady_clock::now();
    executable.executable = built.owned.back()->instantiate();
    executable.built = contents().params.empty() ? BuiltGraphs{} : std::move(built);
    executable.times.instantiate_us = microseconds_since(finished);
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
  std::unique_ptr<Memory> placeholder;
  std::vector<std::weak_ptr<Executable::State>> executables;
};

Instance::Instance(const Program &program, const Device &device,
                   const std::map<std::string, Scalar> &params)
    : state_(std::make_shared<State>(program, device, params)) {}

void Instance::set(const std::map<std::string, Scalar> &params) {
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
  const State &state = *state_;
  auto made = std::make_shared<Executable::State>();
  made->instance = state_;
  made->graph = state.find_graph(graph);
  made->nodes = state.contents()[made->graph].nodes.size();
  made->edges = state.contents()[made->graph].edge_count();
  state.add_signals(state.parameters, *made);
  state.make(*made, state.parameters);
  std::erase_if(state_->executables, [](const auto &other) { return other.expired(); });
  state_->executables.push_back(made);
  return Executable(std::move(made));
}

EffectReport Instance::check_effects(const std::string &graph) {
  const State &state = *state_;
  Executable::State signals; // of an executable that nobody needs
  signals.graph = state.find_graph(graph);
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
