#include "shortcuts.h"

#include "instance_state.h"

#include <algorithm>
#include <utility>

namespace cgrt {

namespace {

/// Without memcmp: names are short, and after a launch each call into the C library is a miss.
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

// What an argument becomes; false where it cannot.

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

/// Whether a change of the param is at most a change of arguments that are the param itself; a
/// check, a shape and a loop's `max` ask for more.
bool is_only_itself(InstanceState &state, format::ParamId param) {
  const Dependents &dependents = state.dependents();
  const auto exprs = dependents.of(param);
  if (exprs.size() != 1 || !dependents.checks(exprs[0]).empty() ||
      !dependents.shapes(exprs[0]).empty()) {
    return false;
  }
  const auto executables = state.alive();
  return std::none_of(executables.begin(), executables.end(), [&](const auto &executable) {
    const auto &loops = executable->loops;
    return std::any_of(loops.begin(), loops.end(),
                       [&](const auto &loop) { return loop.limit_expr == exprs[0]; });
  });
}

} // namespace

/// False where the executable is gone or its device refuses.
template <typename Change> bool Shortcuts::apply_to_one(PerExecutable &one, const Change &change) {
  const auto alive = one.executable.lock();
  if (alive == nullptr) {
    return false;
  }
  for (const Argument &argument : one.arguments) {
    if (!change(*argument.slot, argument.type)) {
      return false;
    }
  }
  return one.kernels->apply();
}

/// All or, with what make_back() says, nothing. What stops half way must be a change that is taken
/// back whether it was made or not.
template <typename Change, typename MakeBack>
std::optional<UpdateReport> Shortcuts::apply_to_all(AllExecutables &all, const Change &change,
                                                    const MakeBack &make_back) {
  std::optional<UpdateReport> report(std::in_place);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!apply_to_one(all[i], change)) [[unlikely]] {
      for (PerExecutable &one : std::span(all).first(i + 1)) {
        static_cast<void>(apply_to_one(one, make_back()));
      }
      return std::nullopt;
    }
    report->nodes += all[i].nodes;
    report->kind = UpdateKind::InPlace;
  }
  return report;
}

[[gnu::hot]] std::optional<UpdateReport>
Shortcuts::set(InstanceState &state, std::string_view param, const Scalar &value) {
  const auto found = std::find_if(params_.begin(), params_.end(),
                                  [param](const auto &it) { return equal(it.name, param); });
  const auto now = found == params_.end() ? std::nullopt : Parameters::convert(found->type, value);
  if (!now) {
    return std::nullopt;
  }
  const format::Value before = state.parameters.value(found->param);
  if (now->value == before) {
    return UpdateReport();
  }
  const ScalarType type = found->type;
  std::optional<UpdateReport> report = apply_to_all(found->all, SetTo{type, *now}, [&] {
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
                                  [buffer](const auto &it) { return it.buffer == buffer; });
  if (found == buffers_.end()) {
    return std::nullopt;
  }
  std::optional<UpdateReport> report =
      apply_to_all(found->all, MoveBy{bytes}, [bytes] { return MoveBy{-bytes}; });
  if (!report) {
    clear();
  }
  return report;
}

void Shortcuts::note(InstanceState &state, std::string_view param,
                     const UpdateReport &report) noexcept {
  const std::vector<format::Param> &params = state.contents().params;
  for (std::uint32_t index = 0; index < params.size(); ++index) {
    if (params[index].name == param && report.kind == UpdateKind::InPlace) {
      try {
        add(state, format::ParamId{index});
      } catch (...) {
        clear();
      }
      return;
    }
  }
}

void Shortcuts::note(InstanceState &state, format::BufferId buffer,
                     const UpdateReport &report) noexcept {
  if (report.kind == UpdateKind::InPlace) {
    try {
      add(state, buffer);
    } catch (...) {
      clear();
    }
  }
}

/// How often it has been noted, with this time.
int Shortcuts::count(Changed what) {
  const auto found = std::find_if(noted_.begin(), noted_.end(),
                                  [what](const Noted &it) { return it.what == what; });
  if (found != noted_.end()) {
    return ++found->times;
  }
  noted_.push_back({what, 1});
  return 1;
}

void Shortcuts::add(InstanceState &state, format::ParamId id) {
  if (count(id) != 2 || !is_only_itself(state, id)) {
    return;
  }
  const format::Param &param = state.contents().params[id.index];
  const format::ExprId expr = state.dependents().of(id)[0];
  if (auto all = find_slots(state, state.dependents().uses(expr))) {
    params_.push_back({param.name, param.type, id, expr, std::move(*all)});
  }
}

void Shortcuts::add(InstanceState &state, format::BufferId buffer) {
  if (count(buffer) != 2) {
    return;
  }
  if (auto all = find_slots(state, state.dependents().uses(buffer))) {
    buffers_.push_back({buffer, std::move(*all)});
  }
}

/// Nothing where some use is more than an argument.
std::optional<Shortcuts::AllExecutables> Shortcuts::find_slots(InstanceState &state,
                                                               std::span<const Use> uses) {
  AllExecutables all;
  for (const auto &executable : state.alive()) {
    std::optional<PerExecutable> one = find_slots(state, executable, uses);
    if (!one) {
      return std::nullopt;
    }
    if (one->nodes != 0) {
      all.push_back(std::move(*one));
    }
  }
  return all;
}

std::optional<Shortcuts::PerExecutable>
Shortcuts::find_slots(InstanceState &state, const std::shared_ptr<ExecutableState> &executable,
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
    return std::nullopt; // which must wait, and upload
  }
  return PerExecutable{executable->executable->prepare(kernels), std::move(arguments), executable,
                       kernels.size()};
}

} // namespace cgrt
