#include "format/program.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace cgrt::format {

std::string_view spelling(Mode mode) {
  constexpr std::array<std::string_view, 3> names = {"in", "out", "inout"};
  return names[static_cast<std::size_t>(mode)];
}

std::string_view spelling(ImageKind kind) {
  constexpr std::array<std::string_view, 4> names = {"cubin", "ptx", "host", "fatbin"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view spelling(ConditionalType type) {
  constexpr std::array<std::string_view, conditional_type_count> names = {"if", "while", "switch"};
  return names[static_cast<std::size_t>(type)];
}

std::string_view spelling(CallableKind kind) {
  return kind == CallableKind::Callback ? "callback" : "captured";
}

std::string_view spelling(LaunchKind kind) {
  constexpr std::array<std::string_view, launch_kind_count> names = {"tail", "detach", "sibling"};
  return names[static_cast<std::size_t>(kind)];
}

std::size_t Graph::edge_count() const {
  std::size_t count = 0;
  for (const Node &node : nodes) {
    count += node.dependencies.size();
  }
  return count;
}

SourceLocation Program::locate(const Place &place) const {
  if (place.line == 0 || place.file.index >= files.size()) {
    return {};
  }
  return {files[place.file.index], place.line, place.column};
}

namespace {

/// Gathers what a node's fields do to memory, and which graphs it contains.
class EffectCollector {
public:
  explicit EffectCollector(const Program &program) : program_(program) {}

  void operator()(const NodeField &, KernelId kernel) { params_ = &program_[kernel].params; }
  void operator()(const NodeField &, CallableId function) { params_ = &program_[function].params; }
  void operator()(const NodeField &, EventId) {}
  void operator()(const NodeField &, GraphId graph) { graphs_.push_back(graph); }
  void operator()(const NodeField &, const Bodies &bodies) {
    graphs_.insert(graphs_.end(), bodies.begin(), bodies.end());
  }
  void operator()(const NodeField &, ConditionId) {}
  void operator()(const NodeField &, ConditionalType) {}
  void operator()(const NodeField &, ExprId) {}
  void operator()(const NodeField &, const Extents &) {}
  void operator()(const NodeField &field, const Region &region) {
    effects_.push_back(
        {region, field.access == FieldAccess::Read, field.access == FieldAccess::Write});
  }
  void operator()(const NodeField &, const Arguments &arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (const auto *region = std::get_if<Region>(&arguments[i])) {
        const Mode mode = (*params_)[i].mode;
        effects_.push_back({*region, mode != Mode::Out, mode != Mode::In});
      }
    }
  }

  /// Everything inside the graphs found so far, each graph once however often it is used.
  void collect_graphs() {
    std::set<GraphId> done;
    while (!graphs_.empty()) {
      const GraphId graph = graphs_.back();
      graphs_.pop_back();
      if (!done.insert(graph).second) {
        continue;
      }
      for (const Node &node : program_[graph].nodes) {
        std::visit([&](const auto &work) { for_each_field(work, *this); }, node.work);
      }
    }
  }

  std::vector<Effect> take() { return std::move(effects_); }

private:
  const Program &program_;
  const std::vector<KernelParam> *params_ = nullptr; ///< of who takes the arguments
  std::vector<GraphId> graphs_;
  std::vector<Effect> effects_;
};

/// The value of an integer that the parameters have no part in.
std::optional<Value> known_value(const Program &program, ExprId id) {
  const auto outcome = program.exprs.known(id);
  return outcome && outcome->ok() ? std::optional(outcome->value) : std::nullopt;
}

bool is_whole(const Program &program, const Range &range, ExprId extent) {
  const auto begin = known_value(program, range.begin);
  if (!begin || begin->as_wide() != 0) {
    return false;
  }
  const auto count = known_value(program, range.count);
  const auto all = known_value(program, extent);
  return range.count == extent || (count && all && count->as_wide() == all->as_wide());
}

class Describer {
public:
  explicit Describer(const Program &program) : program_(program) {}

  void operator()(const NodeField &, KernelId kernel) { text_ += " " + program_[kernel].name; }
  void operator()(const NodeField &, GraphId graph) { text_ += " " + program_[graph].name; }
  void operator()(const NodeField &, EventId event) { text_ += " " + program_[event].name; }
  void operator()(const NodeField &, CallableId function) {
    text_ += " " + program_[function].name;
  }
  void operator()(const NodeField &, const Bodies &) {}
  void operator()(const NodeField &, ConditionId condition) { text_ = program_[condition].text; }
  void operator()(const NodeField &, ConditionalType) {}
  void operator()(const NodeField &, ExprId) {}
  void operator()(const NodeField &, const Extents &) {}
  void operator()(const NodeField &, const Arguments &) {}
  void operator()(const NodeField &field, const Region &region) {
    text_ += field.access == FieldAccess::Read ? " <- " : " ";
    text_ += program_[region.buffer].name;
    if (!format::is_whole(program_, region)) {
      const char *separator = "[";
      for (std::size_t axis = 0; axis < region.ranges.size(); ++axis) {
        text_ += separator + text(region.ranges[axis], program_[region.buffer].shape[axis]);
        separator = ", ";
      }
      text_ += "]";
    }
  }

  std::string take() { return std::move(text_); }

private:
  /// "3", "0:4"; what depends on the parameters is "…", all of such an extent ":".
  std::string text(const Range &range, ExprId extent) const {
    const auto begin = known_value(program_, range.begin);
    const auto count = known_value(program_, range.count);
    std::string first = begin ? begin->text() : "…";
    if (count && count->as_wide() == 1) {
      return first;
    }
    if (!count && is_whole(program_, range, extent)) {
      return ":";
    }
    if (!begin || !count) {
      return first + ":…";
    }
    Expr sum;
    sum.op = ExprOp::Add;
    const Outcome end = apply(sum, {*begin}, {*count}, {});
    return first + ":" + (end.ok() ? end.value.text() : "…");
  }

  const Program &program_;
  std::string text_;
};

} // namespace

bool is_whole(const Program &program, const Region &region) {
  const std::vector<ExprId> &shape = program[region.buffer].shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (!is_whole(program, region.ranges[axis], shape[axis])) {
      return false;
    }
  }
  return true;
}

CallableId callable_of(const Node &node) {
  const auto *callback = std::get_if<CallbackWork>(&node.work);
  const auto *captured = std::get_if<CapturedWork>(&node.work);
  return callback != nullptr   ? callback->function
         : captured != nullptr ? captured->function
                               : CallableId{};
}

KernelId external_kernel_of(const Program &program, const Node &node) {
  const auto *launch = std::get_if<KernelWork>(&node.work);
  return launch != nullptr && program[launch->kernel].external ? launch->kernel : KernelId{};
}

EventId event_of(const Node &node) {
  const auto *record = std::get_if<EventRecordWork>(&node.work);
  const auto *wait = std::get_if<EventWaitWork>(&node.work);
  return record != nullptr ? record->event : wait != nullptr ? wait->event : EventId{};
}

std::vector<ConditionId> conditions_of(const Program &program, GraphId graph) {
  std::vector<ConditionId> conditions;
  for_each_node_in(program, graph, [&](const Node &node) {
    if (const auto *work = std::get_if<ConditionalWork>(&node.work)) {
      conditions.push_back(work->condition);
    }
  });
  std::sort(conditions.begin(), conditions.end());
  return conditions;
}

namespace {

/// A kernel's arguments of one kind.
template <typename Id> std::vector<Id> arguments_of(const Node &node) {
  std::vector<Id> found;
  if (const auto *work = std::get_if<KernelWork>(&node.work)) {
    for (const Argument &argument : work->arguments) {
      if (const auto *id = std::get_if<Id>(&argument)) {
        found.push_back(*id);
      }
    }
  }
  return found;
}

} // namespace

std::vector<LaunchId> launches_of(const Node &node) {
  return arguments_of<LaunchId>(node);
}

std::vector<UpdatableId> updatables_of(const Node &node) {
  return arguments_of<UpdatableId>(node);
}

std::vector<LaunchId> launches_of(const Program &program, GraphId graph) {
  std::set<LaunchId> launches;
  for_each_node_in(program, graph, [&](const Node &node) {
    const std::vector<LaunchId> own = launches_of(node);
    launches.insert(own.begin(), own.end());
  });
  return {launches.begin(), launches.end()};
}

std::vector<GraphId> graphs_run_by(const Program &program, GraphId graph) {
  std::vector<GraphId> graphs = {graph};
  std::set<GraphId> seen = {graph};
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    for (const LaunchId launch : launches_of(program, graphs[i])) {
      if (seen.insert(program[launch].target).second) {
        graphs.push_back(program[launch].target);
      }
    }
  }
  return graphs;
}

std::vector<EventId> misnamed_events(const Program &program) {
  std::set<EventId> found;
  for (std::uint32_t i = 0; i < program.events.size(); ++i) {
    if (program.events[i].name.empty()) {
      found.insert({i});
    }
  }
  for (std::uint32_t i = 0; i < program.graphs.size(); ++i) {
    std::map<std::string_view, EventId> events;
    const auto look_at = [&](const Node &node) {
      const EventId id = event_of(node);
      if (id.valid() && events.emplace(program[id].name, id).first->second != id) {
        found.insert(id);
      }
    };
    if (program.graphs[i].entry) {
      for_each_node_in(program, {i}, look_at);
    }
  }
  return {found.begin(), found.end()};
}

std::vector<Effect> effects_of(const Program &program, const Node &node) {
  EffectCollector collector(program);
  std::visit([&](const auto &work) { for_each_field(work, collector); }, node.work);
  collector.collect_graphs();
  return collector.take();
}

std::string describe(const Program &program, const Node &node) {
  if (!node.name.empty()) {
    return node.name;
  }
  Describer describer(program);
  std::visit([&](const auto &work) { for_each_field(work, describer); }, node.work);
  // A branch or loop is known by its own words.
  const bool says_all = node.kind() == NodeKind::Conditional;
  return (says_all ? "" : std::string(info(node.kind()).spelling)) + describer.take();
}

} // namespace cgrt::format
