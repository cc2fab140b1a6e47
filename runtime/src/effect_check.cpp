#include "effect_check.h"

#include "kernel_check.h"

#include <algorithm>
#include <utility>

namespace cgrt {

std::string_view spelling(EffectFault::Kind kind) {
  constexpr std::array<std::string_view, 4> names = {"wrote-in", "wrote-other", "left-out",
                                                     "read-out"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

/// The conditions that a node is given to set, each once.
std::vector<format::ConditionId> conditions_set_by(const format::Node &node) {
  std::vector<format::ConditionId> conditions;
  if (const auto *work = std::get_if<format::KernelWork>(&node.work)) {
    for (const format::Argument &argument : work->arguments) {
      const auto *condition = std::get_if<format::ConditionId>(&argument);
      if (condition != nullptr && std::ranges::find(conditions, *condition) == conditions.end()) {
        conditions.push_back(*condition);
      }
    }
  }
  return conditions;
}

} // namespace

EffectCheck::EffectCheck(const format::Program &program, const GraphBuilder &builder,
                         DeviceBackend &device, std::span<const PlacedBuffer> buffers)
    : program_(program), builder_(builder), device_(device), memory_(program, buffers, device),
      deciders_(program.conditions.size()), values_(program.conditions.size()),
      marks_(
          device.allocate(MemorySpace::Device, program.conditions.size() * sizeof(std::uint32_t))) {
  for (const format::Graph &graph : program.graphs) {
    for (const format::Node &node : graph.nodes) {
      if (const auto *work = std::get_if<format::ConditionalWork>(&node.work)) {
        deciders_[work->condition.index] = work;
      }
    }
  }
}

EffectReport EffectCheck::run(format::GraphId entry) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    values_[i] = program_.conditions[i].initial;
  }
  struct Position {
    format::GraphId graph;
    std::size_t next = 0;
  };
  std::vector<Position> stack = {{entry}};
  std::size_t reached = 0; // in the entry graph
  while (!stack.empty()) {
    Position &position = stack.back();
    if (stack.size() == 1 && position.next != reached) {
      reached = position.next;
      executables_.clear(); // no iteration comes back to them
    }
    const std::vector<format::Node> &nodes = program_[position.graph].nodes;
    if (position.next == nodes.size()) {
      stack.pop_back();
      continue;
    }
    const format::Node &node = nodes[position.next++];
    if (const auto *child = std::get_if<format::ChildWork>(&node.work)) {
      stack.push_back({child->graph});
    } else if (const auto *work = std::get_if<format::ConditionalWork>(&node.work)) {
      const format::GraphId body = chosen_body(*work);
      if (body.valid()) {
        position.next -= work->type == format::ConditionalType::While ? 1 : 0; // asks again
        stack.push_back({body});
      }
    } else {
      run(node);
    }
  }
  if (const std::optional<Error> thrown = failures_->take()) {
    throw Error(*thrown);
  }
  return std::move(report_);
}

format::GraphId EffectCheck::chosen_body(const format::ConditionalWork &work) const {
  const std::uint32_t value = values_[work.condition.index];
  std::size_t body = value;
  if (work.type != format::ConditionalType::Switch) {
    body = value != 0 ? 0 : 1;
  }
  return body < work.bodies.size() ? work.bodies[body] : format::GraphId{};
}

void EffectCheck::run(const format::Node &node) {
  const std::vector<format::ConditionId> conditions = conditions_set_by(node);
  if (!conditions.empty()) {
    set_conditions(node, conditions);
  } else if (std::holds_alternative<format::KernelWork>(node.work)) {
    check(node);
    return;
  } else {
    DeviceExecutable &executable = alone(node);
    executable.launch();
    executable.wait();
  }
  look_at_effects(node);
}

void EffectCheck::check(const format::Node &node) {
  ++report_.launches;
  for (EffectFault &fault : KernelCheck(program_, builder_, node, memory_).run(alone(node))) {
    const format::Place &place = node.place;
    if (known_
            .emplace(place.file.index, place.line, place.column, fault.kernel, fault.kind,
                     fault.parameter)
            .second) {
      report_.faults.push_back(std::move(fault));
    }
  }
}

void EffectCheck::set_conditions(const format::Node &node,
                                 const std::vector<format::ConditionId> &conditions) {
  std::vector<std::uint32_t> marks(program_.conditions.size());
  auto *const in_memory = reinterpret_cast<std::byte *>(marks.data());
  const std::size_t bytes = marks.size() * sizeof(std::uint32_t);
  device_.copy(marks_->data(), in_memory, bytes);

  const std::unique_ptr<DeviceGraph> probe = device_.create_graph();
  std::vector<std::uint64_t> handles(program_.conditions.size());
  for (const format::ConditionId condition : conditions) {
    handles[condition.index] = probe->create_condition(values_[condition.index]);
  }
  std::uint32_t last = builder_.add_alone(node, handles, failures_, *probe);
  for (const format::ConditionId condition : conditions) {
    last = add_mark(condition, handles[condition.index], last, *probe);
  }
  const std::unique_ptr<DeviceExecutable> executable = probe->instantiate();
  executable->launch();
  executable->wait();

  device_.copy(in_memory, marks_->data(), bytes);
  for (const format::ConditionId condition : conditions) {
    const format::ConditionalWork &work = *deciders_[condition.index];
    const std::uint32_t mark = marks[condition.index];
    if (work.type != format::ConditionalType::Switch) {
      values_[condition.index] = mark;
    } else {
      values_[condition.index] =
          mark != 0 ? mark - 1 : static_cast<std::uint32_t>(work.bodies.size());
    }
  }
}

std::uint32_t EffectCheck::add_mark(format::ConditionId condition, std::uint64_t handle,
                                    std::uint32_t after, DeviceGraph &probe) {
  const format::ConditionalWork &work = *deciders_[condition.index];
  ConditionalParams params = {work.type, handle, static_cast<std::uint32_t>(work.bodies.size())};
  if (work.type != format::ConditionalType::Switch) {
    params.type = format::ConditionalType::If; // a loop would not end
    params.bodies = 1;
  }
  const NodeLabel label(program_[condition].text, program_.locate(program_[condition].place));
  const std::array<std::uint32_t, 1> dependencies = {after};
  const std::uint32_t node = probe.add_node(params, dependencies, label, true);
  for (std::uint32_t i = 0; i < params.bodies; ++i) {
    FillParams mark;
    mark.destination = marks_->data() + condition.index * sizeof(std::uint32_t);
    mark.pattern = i + 1;
    mark.element_bytes = sizeof(std::uint32_t);
    mark.width = 1;
    probe.body(node, i).add_node(mark, {}, label, true);
  }
  return node;
}

DeviceExecutable &EffectCheck::alone(const format::Node &node) {
  std::unique_ptr<DeviceExecutable> &executable = executables_[&node];
  if (!executable) {
    const std::unique_ptr<DeviceGraph> graph = device_.create_graph();
    builder_.add_alone(node, {}, failures_, *graph);
    executable = graph->instantiate();
  }
  return *executable;
}

void EffectCheck::look_at_effects(const format::Node &node) {
  for (const format::Effect &effect : format::effects_of(program_, node)) {
    if (effect.writes) {
      memory_.look_at(effect.region.buffer);
    }
  }
}

} // namespace cgrt
