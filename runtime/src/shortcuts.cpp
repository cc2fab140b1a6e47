#include "shortcuts.h"

#include "instance_state.h"

#include <algorithm>
#include <utility>

namespace cgrt {

namespace {

/// Names are short, and memcmp is in the C library, far away.
bool equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) {
      return false;
    }
  }
  return true;
}

/// What an argument becomes, if it can.
struct SetTo {
  ScalarType type;
  Parameters::Converted value;

  bool operator()(std::uint64_t &slot, ScalarType as) const {
    const format::ScalarBits bits =
        as == type ? format::ScalarBits{value.bits} : format::to_scalar_bits(value.value, as);
    slot = bits.bits;
    return bits.fault == format::Fault::None;
  }
};

struct MoveBy {
  std::uint64_t bytes;

  bool operator()(std::uint64_t &slot, ScalarType) const {
    slot += bytes;
    return true;
  }
};

} // namespace

/// False where something is in the way, or has gone wrong.
template <typename Change> bool Shortcuts::apply(Part &part, const Change &change) {
  const auto alive = part.executable.lock();
  if (alive == nullptr) {
    return false;
  }
  for (const Argument &argument : part.arguments) {
    if (!change(*argument.slot, argument.type)) {
      return false;
    }
  }
  return part.kernels->apply();
}

/// All or nothing.
template <typename Change, typename MakeBack>
std::optional<UpdateReport> Shortcuts::apply(Parts &parts, const Change &change,
                                             const MakeBack &make_back) {
  std::optional<UpdateReport> report(std::in_place);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!apply(parts[i], change)) [[unlikely]] {
      for (Part &part : std::span(parts).first(i + 1)) {
        static_cast<void>(apply(part, make_back()));
      }
      return std::nullopt;
    }
    report->nodes += parts[i].nodes;
    report->kind = UpdateKind::InPlace;
  }
  return report;
}

[[gnu::hot]] std::optional<UpdateReport>
Shortcuts::set(InstanceState &state, std::string_view param, const Scalar &value) {
  const auto found = std::find_if(params_.begin(), params_.end(),
                                  [param](const OfParam &it) { return equal(it.name, param); });
  const auto now = found == params_.end() ? std::nullopt : Parameters::convert(found->type, value);
  if (!now) {
    return std::nullopt;
  }
  const format::Value before = state.parameters.value(found->param);
  if (now->value == before) {
    return UpdateReport();
  }
  const ScalarType type = found->type;
  std::optional<UpdateReport> report = apply(found->parts, SetTo{type, *now}, [&] {
    return SetTo{type, {before, format::to_scalar_bits(before, type).bits}};
  });
  if (!report) {
    clear();
    return std::nullopt;
  }
  state.parameters.put(found->param, found->expr, now->value);
  return report;
}

std::optional<UpdateReport> Shortcuts::move(format::BufferId buffer, std::uint64_t bytes) {
  const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                  [buffer](const OfBuffer &it) { return it.buffer == buffer; });
  if (found == buffers_.end()) {
    return std::nullopt;
  }
  std::optional<UpdateReport> report =
      apply(found->parts, MoveBy{bytes}, [bytes] { return MoveBy{-bytes}; });
  if (!report) {
    clear();
  }
  return report;
}

/// Notes the change.
bool Shortcuts::is_first(Cause cause) {
  if (std::find(changed_before_.begin(), changed_before_.end(), cause) != changed_before_.end()) {
    return false;
  }
  changed_before_.push_back(cause);
  return true;
}

void Shortcuts::learn(InstanceState &state, std::string_view name) {
  const std::vector<format::Param> &params = state.contents().params;
  const auto param = std::find_if(params.begin(), params.end(),
                                  [name](const format::Param &it) { return it.name == name; });
  const format::ParamId id{static_cast<std::uint32_t>(param - params.begin())};
  if (is_first(id)) {
    return;
  }
  const Dependents &dependents = state.dependents();
  const auto exprs = dependents.of(id);
  if (exprs.size() != 1 || !dependents.checks(exprs[0]).empty() ||
      !dependents.shapes(exprs[0]).empty()) {
    return;
  }
  for (const auto &executable : state.alive()) {
    for (const ExecutableState::Loop &loop : executable->loops) {
      if (loop.limit_expr == exprs[0]) {
        return;
      }
    }
  }
  if (auto parts = parts_of(state, dependents.uses(exprs[0]))) {
    params_.push_back({std::string(name), param->type, id, exprs[0], std::move(*parts)});
  }
}

void Shortcuts::learn(InstanceState &state, format::BufferId buffer) {
  if (is_first(buffer)) {
    return;
  }
  if (auto parts = parts_of(state, state.dependents().uses(buffer))) {
    buffers_.push_back({buffer, std::move(*parts)});
  }
}

/// Nothing where more than arguments depends on it, or a node has not been changed yet.
std::optional<Shortcuts::Parts> Shortcuts::parts_of(InstanceState &state,
                                                    std::span<const Use> uses) {
  Parts parts;
  for (const auto &executable : state.alive()) {
    std::optional<Part> part = part_of(state, executable, uses);
    if (!part) {
      return std::nullopt;
    }
    if (part->nodes != 0) {
      parts.push_back(std::move(*part));
    }
  }
  return parts;
}

std::optional<Shortcuts::Part>
Shortcuts::part_of(InstanceState &state, const std::shared_ptr<ExecutableState> &executable,
                   std::span<const Use> uses) {
  std::vector<Argument> arguments;
  std::vector<DeviceExecutable::Update> kernels;
  for (const Use &use : uses) {
    if (executable->graphs[state.dependents().place(use.node).graph.index] == nullptr) {
      continue;
    }
    auto *const node = executable->live(use.node);
    auto *const kernel = node == nullptr ? nullptr : std::get_if<KernelParams>(&node->params);
    if (!use.in_place || use.where != Use::Where::Argument || kernel == nullptr) {
      return std::nullopt;
    }
    arguments.push_back({&kernel->arguments[use.argument], use.type});
    if (kernels.empty() || kernels.back().place != node->place) { // a node's uses stand together
      kernels.push_back({node->place, &node->params, node->enabled});
    }
  }
  if (!kernels.empty() && state.is_changed_on_device(*executable)) {
    return std::nullopt;
  }
  return Part{executable->executable->prepare(kernels), std::move(arguments), executable,
              kernels.size()};
}

} // namespace cgrt
