#include "update.h"

#include "resize.h"

#include <algorithm>

namespace cgrt {

namespace {

/// The part of a node that a patch changes, as a number.
std::uint64_t read_part(const NodeParams &params, Use::Where where, std::uint32_t argument) {
  switch (where) {
  case Use::Where::Argument:
    return std::get<KernelParams>(params).arguments[argument];
  case Use::Where::Source:
    return reinterpret_cast<std::uintptr_t>(std::get<CopyParams>(params).source);
  default:
    return reinterpret_cast<std::uintptr_t>(std::holds_alternative<CopyParams>(params)
                                                ? std::get<CopyParams>(params).destination
                                                : std::get<FillParams>(params).destination);
  }
}

void write_part(NodeParams &params, Use::Where where, std::uint32_t argument, std::uint64_t value) {
  auto *const address = reinterpret_cast<std::byte *>(value); // NOLINT(performance-no-int-to-ptr)
  switch (where) {
  case Use::Where::Argument:
    std::get<KernelParams>(params).arguments[argument] = value;
    break;
  case Use::Where::Source:
    std::get<CopyParams>(params).source = address;
    break;
  default:
    if (auto *copy = std::get_if<CopyParams>(&params)) {
      copy->destination = address;
    } else {
      std::get<FillParams>(params).destination = address;
    }
  }
}

bool overlap(const std::byte *a, std::size_t a_bytes, const std::byte *b, std::size_t b_bytes) {
  return a_bytes != 0 && b_bytes != 0 && a < b + b_bytes && b < a + a_bytes;
}

} // namespace

void Transaction::bind(const std::string &name, const BoundMemory &memory) {
  const format::BufferId id{static_cast<std::uint32_t>(state_.find(name))};
  const format::Buffer &buffer = state_.contents()[id];
  const std::string who = "the memory bound to buffer " + name;
  if (memory.type != buffer.type &&
      !(memory.type == ScalarType::U16 &&
        (buffer.type == ScalarType::F16 || buffer.type == ScalarType::BF16))) {
    throw Error(ErrorCode::Usage, who + " holds " + std::string(spelling(memory.type)) + ", not " +
                                      std::string(spelling(buffer.type)));
  }
  if (!memory.writable && buffer.access != CallerAccess::In) {
    throw Error(ErrorCode::Usage, who + " is const, and the program writes the buffer");
  }
  const BufferMemory &now = state_.buffers[id.index];
  std::byte *data = memory.data;
  if (memory.bytes != 0 && data == nullptr) {
    throw Error(ErrorCode::Usage, who + " is null");
  }
  if (now.own != nullptr && overlap(data, memory.bytes, now.own->data(), now.own->size())) {
    throw Error(ErrorCode::Usage, who + " is the buffer's own, which goes when other memory comes");
  }
  if (memory.bytes == 0) {
    data = state_.placeholder->data(); // of no elements, but kernels may be given the address
  } else if (const std::string why = state_.device.backend().why_not_usable(
                 buffer.space, data, memory.bytes, buffer.mapped);
             !why.empty()) {
    throw Error(ErrorCode::Usage, who + " cannot be used: " + why);
  }
  Placement placement;
  placement.buffer = id;
  placement.memory.view = state_.buffers[id.index].view;
  placement.memory.owner = memory.owner; // the caller's goes when the lock is gone
  placement.memory.capacity = memory.bytes;
  placement.memory.bound = true;
  placement.memory.writable = memory.writable;
  placement.placed = {data, state_.placed[id.index].extents};
  placements_.push_back(std::move(placement));
}

/// What has changed its shape, and whether what is bound is large enough and apart from the rest.
void Transaction::resize() {
  std::vector<format::BufferId> changed;
  for (const auto &[expr, before] : changes_.outcomes) {
    const auto shapes = state_.dependents().shapes(expr);
    changed.insert(changed.end(), shapes.begin(), shapes.end());
  }
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  bool waited = false;
  for (const format::BufferId id : changed) {
    BufferMemory &old = state_.buffers[id.index];
    BufferView view = state_.view_of(id);
    if (view.shape == old.view.shape) {
      continue;
    }
    auto found = std::find_if(placements_.begin(), placements_.end(),
                              [id](const Placement &it) { return it.buffer == id; });
    if (found == placements_.end()) {
      Placement placement;
      placement.buffer = id;
      placement.placed = state_.placed[id.index];
      if (old.bound || old.missing) {
        placement.memory.owner = old.owner;
        placement.memory.capacity = old.capacity;
        placement.memory.bound = old.bound;
        placement.memory.missing = old.missing;
        placement.memory.writable = old.writable;
      } else {
        placement.memory.own = state_.allocate(id, view);
        placement.placed.data = placement.memory.own->data();
      }
      placements_.push_back(std::move(placement));
      found = placements_.end() - 1;
    }
    found->placed.extents.assign(view.shape.begin(), view.shape.end());
    found->memory.view = std::move(view);
    if (found->memory.own != nullptr) {
      if (!waited) {
        state_.order.wait(); // for what the buffers will hold
        waited = true;
      }
      copy_common(state_.device.backend(), state_.placed[id.index], found->placed,
                  format::size_of(found->memory.view.type));
    }
  }
}

void Transaction::check_memory() const {
  const auto access = [this](format::BufferId id) { return state_.contents()[id].access; };
  for (const Placement &one : placements_) {
    const std::string &name = state_.contents()[one.buffer].name;
    if (!one.memory.bound) {
      continue;
    }
    if (one.memory.capacity < one.memory.view.bytes) {
      throw Error(ErrorCode::Usage, "the memory bound to buffer " + name + " has " +
                                        std::to_string(one.memory.capacity) + " bytes; " +
                                        type_and_shape(one.memory.view) + " needs " +
                                        std::to_string(one.memory.view.bytes));
    }
    for (std::uint32_t i = 0; i < state_.buffers.size(); ++i) {
      const auto other = std::find_if(placements_.begin(), placements_.end(),
                                      [i](const Placement &it) { return it.buffer.index == i; });
      const bool is_new = other != placements_.end();
      const std::byte *data = is_new ? other->placed.data : state_.placed[i].data;
      const BufferMemory &memory = is_new ? other->memory : state_.buffers[i];
      const bool both_read =
          access({i}) == CallerAccess::In && access(one.buffer) == CallerAccess::In;
      if (i != one.buffer.index && !both_read && !memory.missing &&
          overlap(one.placed.data, one.memory.view.bytes, data, memory.view.bytes)) {
        throw Error(ErrorCode::Usage, "the memory bound to buffer " + name +
                                          " overlaps that of buffer " +
                                          state_.contents().buffers[i].name + " [alias]");
      }
    }
  }
}

void Transaction::exchange_memory() {
  for (Placement &placement : placements_) {
    BufferMemory &memory = state_.buffers[placement.buffer.index];
    state_.unbound -= memory.missing ? 1 : 0;
    std::swap(memory, placement.memory);
    state_.unbound += memory.missing ? 1 : 0;
    std::swap(state_.placed[placement.buffer.index], placement.placed);
  }
}

/// Why a use that is not in place asks for a new executable.
std::string Transaction::why_not_in_place(const Use &use) {
  const Dependents::Place place = state_.dependents().place(use.node);
  const format::Node &node = state_.contents()[place.graph].nodes[place.node];
  return NodeLabel(state_.contents(), node).text() + ": CUDA cannot change its " +
         std::string(use.field) + " in an executable";
}

void Transaction::add(Plan &plan, const Use &use, std::optional<std::uint64_t> value) {
  LiveNode *const node = plan.executable->live(use.node);
  // A kernel may be a call of a C++ function on this device.
  const bool is_number =
      use.where != Use::Where::Anywhere && (use.where != Use::Where::Argument || node == nullptr ||
                                            std::holds_alternative<KernelParams>(node->params));
  if (node == nullptr || !value || !is_number) {
    again_.push_back(use.node);
    return;
  }
  plan.patches.push_back({node, use.where, use.argument, *value});
  if (!node->planned) {
    node->planned = true;
    plan.nodes.push_back(node);
  }
}

/// Finds out what is to be done; throws what is wrong with the new values.
void Transaction::make(Plan &plan) {
  const Dependents &dependents = state_.dependents();
  ExecutableState &executable = *plan.executable;
  again_.clear();
  const auto visit = [&](const Use &use, const auto &value) {
    if (!plan.rebuild.empty() ||
        executable.graphs[dependents.place(use.node).graph.index] == nullptr) {
      return;
    }
    if (!use.in_place) {
      plan.rebuild = why_not_in_place(use);
      return;
    }
    add(plan, use, value(use));
  };
  for (const auto &[expr, before] : changes_.outcomes) {
    const format::Outcome &now = state_.parameters.outcome(expr);
    for (const Use &use : dependents.uses(expr)) {
      visit(use, [&now](const Use &it) -> std::optional<std::uint64_t> {
        const format::ScalarBits bits = format::to_scalar_bits(now.value, it.type);
        const bool legal = now.ok() && bits.fault == format::Fault::None;
        return legal ? std::optional(bits.bits) : std::nullopt; // the builder says what is wrong
      });
    }
  }
  for (const Placement &old : placements_) {
    const PlacedBuffer &now = state_.placed[old.buffer.index];
    for (const Use &use : dependents.uses(old.buffer)) {
      visit(use, [&](const Use &it) -> std::optional<std::uint64_t> {
        const LiveNode *node = executable.live(it.node);
        const bool is_argument = it.where == Use::Where::Argument;
        if (node == nullptr || it.where == Use::Where::Anywhere ||
            now.extents != old.placed.extents || (!node->enabled && !is_argument) ||
            (is_argument && !std::holds_alternative<KernelParams>(node->params))) {
          return std::nullopt;
        }
        const std::uint64_t moved = reinterpret_cast<std::uintptr_t>(now.data) -
                                    reinterpret_cast<std::uintptr_t>(old.placed.data);
        return read_part(node->params, it.where, it.argument) + moved;
      });
    }
  }
  if (plan.rebuild.empty()) {
    resolve_again(plan);
  }
}

/// Nodes of which more changes than a number, or that have never been changed before.
void Transaction::resolve_again(Plan &plan) {
  std::sort(again_.begin(), again_.end());
  again_.erase(std::unique(again_.begin(), again_.end()), again_.end());
  const bool all_live = std::all_of(again_.begin(), again_.end(), [&](std::uint32_t node) {
    return plan.executable->live(node) != nullptr;
  });
  if (!all_live) {
    exchange_state(); // a node is noted as it is in the executable now
    try {
      for (const std::uint32_t node : again_) {
        make_live(*plan.executable, node);
      }
    } catch (...) {
      exchange_state();
      throw;
    }
    exchange_state();
  }
  const GraphBuilder builder = state_.builder();
  for (const std::uint32_t index : again_) {
    LiveNode *const node = plan.executable->live(index);
    const Dependents::Place place = state_.dependents().place(index);
    GraphBuilder::Resolved resolved =
        builder.resolve(state_.contents()[place.graph].nodes[place.node], plan.executable->built);
    plan.wholes.push_back({node, std::move(resolved.params), resolved.enabled});
    if (!node->planned) {
      node->planned = true;
      plan.nodes.push_back(node);
    }
  }
}

void Transaction::make_live(ExecutableState &executable, std::uint32_t index) {
  if (executable.live(index) != nullptr) {
    return;
  }
  const Dependents::Place place = state_.dependents().place(index);
  GraphBuilder::Resolved resolved =
      state_.builder().resolve(state_.contents()[place.graph].nodes[place.node], executable.built);
  const std::uint32_t number = executable.executable->place(
      *executable.built.owned.back(), *executable.graphs[place.graph.index], place.node);
  executable.live_of.resize(state_.dependents().node_count(), 0);
  executable.live_nodes.push_back({number, resolved.enabled, false, std::move(resolved.params)});
  executable.live_of[index] = static_cast<std::uint32_t>(executable.live_nodes.size());
}

void Transaction::exchange_state() {
  exchange_memory();
  state_.parameters.exchange(changes_);
}

/// What a node was, and what it becomes; patches come before nodes that are resolved as a whole,
/// and the way back is the other way round.
void Transaction::exchange(Plan &plan, bool forward) {
  const auto patches = [&plan] {
    for (Patch &patch : plan.patches) {
      const std::uint64_t was = read_part(patch.node->params, patch.where, patch.argument);
      write_part(patch.node->params, patch.where, patch.argument, patch.value);
      patch.value = was;
    }
  };
  if (forward) {
    patches();
  }
  for (Whole &whole : plan.wholes) {
    std::swap(whole.node->params, whole.params);
    std::swap(whole.node->enabled, whole.enabled);
  }
  if (!plan.wholes.empty()) {
    state_.shortcuts.clear(); // the arguments of these nodes stand elsewhere now
  }
  if (!forward) {
    patches();
  }
}

std::span<const DeviceExecutable::Update> Transaction::updates_of(const Plan &plan) {
  updates_.clear();
  for (const LiveNode *node : plan.nodes) {
    updates_.push_back({node->place, &node->params, node->enabled});
  }
  return updates_;
}

void Transaction::apply(Plan &plan) {
  exchange(plan, true);
  plan.applied = true;
  if (plan.rebuild.empty() && !plan.nodes.empty()) {
    plan.updated = plan.nodes.size(); // for all that is known if it throws
    plan.updated = plan.executable->executable->update(updates_of(plan));
    if (plan.updated < plan.nodes.size()) {
      plan.rebuild = "CUDA takes no such change of a node in an executable";
    }
  }
  if (!plan.rebuild.empty()) {
    plan.made = state_.made(*plan.executable);
  }
}

/// With the old parameters and memory back in place.
void Transaction::take_back(Plan &plan) {
  for (LiveNode *node : plan.nodes) {
    node->planned = false;
  }
  if (!plan.applied) {
    return;
  }
  exchange(plan, false);
  // The one at which it went wrong may have been changed in some of its places.
  const auto changed = updates_of(plan).first(std::min(plan.updated + 1, plan.nodes.size()));
  if (plan.executable->executable->update(changed) < changed.size()) {
    state_.install(state_.made(*plan.executable), *plan.executable);
  }
}

void Transaction::finish(Plan &plan, UpdateReport &report) {
  for (LiveNode *node : plan.nodes) {
    node->planned = false;
  }
  if (plan.made) {
    state_.install(std::move(*plan.made), *plan.executable);
    ++report.rebuilt;
    report.reason = report.reason.empty() ? plan.rebuild : report.reason;
    report.kind = UpdateKind::Rebuilt;
  } else if (!plan.nodes.empty()) {
    report.nodes += plan.nodes.size();
    report.kind = std::max(report.kind, UpdateKind::InPlace);
  }
  for (ExecutableState::Loop &loop : plan.executable->loops) {
    if (loop.limit_expr.valid()) {
      const NodeLabel label(loop.text, loop.where);
      loop.limit = state_.parameters.integer(loop.limit_expr, {label, "max"});
    }
  }
}

void Transaction::Plan::begin(std::shared_ptr<ExecutableState> whose) {
  executable = std::move(whose);
  patches.clear();
  wholes.clear();
  nodes.clear();
  applied = false;
  updated = 0;
  rebuild.clear();
  made.reset();
}

void Transaction::begin() {
  assignments_.clear();
  changes_.clear();
  placements_.clear();
}

void Transaction::make_plans() {
  plan_count_ = 0;
  for (const auto &weak : state_.executables) {
    if (auto executable = weak.lock()) {
      if (plan_count_ == plans_.size()) {
        plans_.emplace_back();
      }
      Plan &plan = plans_[plan_count_++];
      plan.begin(std::move(executable));
      make(plan);
    }
  }
}

/// A launch in flight would see new params of what its kernels launch, and CUDA takes no change of
/// a node from both sides at once.
void Transaction::wait_for_device() {
  for (const Plan &plan : plans()) {
    const bool changes = !plan.nodes.empty() || !plan.rebuild.empty();
    if (changes && state_.is_changed_on_device(*plan.executable)) {
      state_.order.wait();
      return;
    }
  }
}

/// Before anything has changed, since the end must succeed; by doubling, as many may gather before
/// a wait.
void Transaction::make_room_for_retired() {
  std::vector<BufferMemory> &retired = state_.retired;
  const std::size_t needed = retired.size() + placements_.size();
  if (needed > retired.capacity()) {
    retired.reserve(std::max(needed, 2 * retired.capacity()));
  }
}

/// Of a transaction that binds memory to one buffer and does nothing else, with that in place.
std::optional<UpdateReport> Transaction::take_shortcut() {
  if (!assignments_.empty() || placements_.size() != 1) {
    return std::nullopt;
  }
  const Placement &old = placements_.front();
  const PlacedBuffer &now = state_.placed[old.buffer.index];
  return state_.shortcuts.move(old.buffer, reinterpret_cast<std::uintptr_t>(now.data) -
                                               reinterpret_cast<std::uintptr_t>(old.placed.data));
}

UpdateReport Transaction::commit() {
  plan_count_ = 0;
  std::optional<UpdateReport> report;
  state_.parameters.assign(state_.dependents(), assignments_, changes_);
  bool exchanged = false;
  try {
    resize();
    check_memory();
    make_room_for_retired();
    exchange_memory();
    exchanged = true;
    report = take_shortcut();
    if (!report) {
      make_plans();
      wait_for_device();
      for (Plan &plan : plans()) {
        apply(plan);
      }
    }
  } catch (...) {
    if (exchanged) {
      exchange_memory();
    }
    state_.parameters.exchange(changes_);
    for (Plan &plan : plans()) {
      take_back(plan);
      plan.executable.reset();
    }
    placements_.clear(); // which own memory
    state_.link();       // what was taken back may be another executable
    throw;
  }
  if (!report) {
    report.emplace();
    for (Plan &plan : plans()) {
      finish(plan, *report);
      plan.executable.reset(); // whose end is its users' affair
    }
  }
  for (Placement &old : placements_) {
    if (old.memory.own != nullptr || old.memory.owner != nullptr) {
      state_.retired.push_back(std::move(old.memory)); // launches in flight use it
    }
  }
  placements_.clear();
  if (report->rebuilt != 0) {
    state_.link();
  }
  return std::move(*report);
}

} // namespace cgrt
