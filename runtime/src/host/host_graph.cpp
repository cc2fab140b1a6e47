#include "host/host_graph.h"

#include "format/geometry.h"
#include "host/fault_trap.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <queue>
#include <utility>

namespace cgrt {

std::uint32_t HostGraph::add_node(const NodeParams &params,
                                  std::span<const std::uint32_t> dependencies, NodeLabel label,
                                  bool enabled) {
  const std::uint32_t begin = append(params, std::move(label), enabled);
  for (const std::uint32_t dependency : dependencies) {
    connect(ends_[dependency], begin);
  }
  if (const auto *conditional = std::get_if<ConditionalParams>(&params)) {
    Branches &branches = branches_.emplace_back(Branches{begin, {}});
    for (std::uint32_t i = 0; i < conditional->bodies; ++i) {
      branches.bodies.push_back(std::make_unique<HostGraph>(kernels_, seed_));
    }
  }
  const auto *child = std::get_if<ChildParams>(&params);
  ends_.push_back(child == nullptr
                      ? begin
                      : append_child(static_cast<const HostGraph &>(*child->graph), begin));
  return static_cast<std::uint32_t>(ends_.size() - 1);
}

std::uint32_t HostGraph::append(const NodeParams &params, NodeLabel label, bool enabled) {
  nodes_.push_back({params,
                    std::move(label),
                    enabled,
                    0,
                    {},
                    {},
                    nullptr,
                    this,
                    static_cast<std::uint32_t>(ends_.size())});
  // Not of `params`, which may have been a node's that has moved.
  if (const auto *kernel = std::get_if<KernelParams>(&nodes_.back().params);
      kernel != nullptr && kernel->updatable) {
    nodes_.back().change = std::make_shared<HostChange>();
    nodes_.back().change->enabled = enabled;
    nodes_.back().change->params = *kernel;
  }
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

void HostGraph::connect(std::uint32_t before, std::uint32_t after) {
  nodes_[before].successors.push_back(after);
  ++nodes_[after].dependencies;
}

/// The child's nodes, all of them after `begin`; returns the node that comes after all of them.
std::uint32_t HostGraph::append_child(const HostGraph &child, std::uint32_t begin) {
  const auto first = static_cast<std::uint32_t>(nodes_.size());
  for (const HostNode &node : child.nodes_) {
    nodes_.push_back(node);
    for (std::uint32_t &successor : nodes_.back().successors) {
      successor += first;
    }
  }
  const auto last = static_cast<std::uint32_t>(nodes_.size());
  const std::uint32_t end = append(nodes_[begin].params, nodes_[begin].label, true);
  connect(begin, end); // for a child without nodes
  for (std::uint32_t index = first; index < last; ++index) {
    if (child.nodes_[index - first].dependencies == 0) {
      connect(begin, index);
    }
    if (child.nodes_[index - first].successors.empty()) {
      connect(index, end);
    }
  }
  return end;
}

std::uint64_t HostGraph::create_condition(std::uint32_t initial) {
  return reinterpret_cast<std::uintptr_t>(&conditions_.emplace_back(HostCondition{0, initial}));
}

DeviceGraph &HostGraph::body(std::uint32_t node, std::uint32_t index) {
  const std::uint32_t begin = ends_[node]; // a conditional is one node here, too
  return *std::find_if(branches_.rbegin(), branches_.rend(), [begin](const Branches &branches) {
            return branches.node == begin;
          })->bodies[index];
}

std::vector<HostNode> HostGraph::take_nodes() {
  for (Branches &branches : branches_) {
    for (const auto &body : branches.bodies) {
      nodes_[branches.node].bodies.push_back(body->take_nodes());
    }
  }
  return std::move(nodes_);
}

std::unique_ptr<DeviceExecutable> HostGraph::instantiate(bool for_device) {
  return std::make_unique<HostExecutable>(kernels_, seed_, take_nodes(), std::move(conditions_),
                                          for_device);
}

HostExecutable::HostExecutable(KernelRunner &kernels, std::uint64_t seed,
                               std::vector<HostNode> nodes, std::deque<HostCondition> conditions,
                               bool for_device)
    : kernels_(kernels), random_(seed), nodes_(std::move(nodes)),
      conditions_(std::move(conditions)), for_device_(for_device) {}

void HostExecutable::launch(DeviceQueue * /*queue*/) {
  if (error_) {
    return;
  }
  const std::lock_guard lock(kernels_.mutex());
  Executables begun;
  begun_ = &begun;
  try {
    // For all kernels at once: installing them takes longer than a small kernel.
    const FaultHandlers handlers;
    const SignalStack stack;
    Executables siblings;
    run_with_tails(siblings);
    for (std::size_t i = 0; i < siblings.size(); ++i) { // which may have some themselves
      siblings[i]->run_with_tails(siblings);
    }
  } catch (...) {
    error_ = std::current_exception();
    for (HostExecutable *executable : begun) {
      executable->is_pending_ = false;
    }
    is_pending_ = false;
  }
}

// Here CUDA's rules and limits hold.
int HostExecutable::launch_graph(std::uint64_t executable, std::uint64_t stream) {
  constexpr int invalid_value = 1;
  constexpr std::uint32_t most_tails = 255;
  constexpr std::uint32_t most_at_once = 120;
  const std::lock_guard lock(launching_);
  constexpr std::uint64_t kind_bits = 3;
  // The handle has the address in it, since kernels have nothing else.
  auto *const target = reinterpret_cast<HostExecutable *>( // NOLINT(performance-no-int-to-ptr)
      executable & ~kind_bits);
  const bool is_tail = stream == host_abi::tail_launch;
  const bool is_detached = stream == host_abi::fire_and_forget;
  if (target == nullptr ||
      !(is_tail || is_detached || stream == host_abi::fire_and_forget_as_sibling)) {
    return invalid_value;
  }
  const auto kind = is_tail       ? format::LaunchKind::Tail
                    : is_detached ? format::LaunchKind::Detach
                                  : format::LaunchKind::Sibling;
  if ((executable & kind_bits) != static_cast<std::uint64_t>(kind)) {
    return host_abi::another_kind; // CUDA would take it, against what the program has proved
  }
  std::uint32_t &count = is_tail       ? launches_.tails
                         : is_detached ? launches_.detached
                                       : launches_.siblings;
  const bool is_refused = target == this ? !is_tail || launches_.again : target->is_pending_;
  if (is_refused || count == (is_tail ? most_tails : most_at_once)) {
    return invalid_value;
  }
  ++count;
  launches_.again = launches_.again || target == this;
  target->is_pending_ = true;
  target->begun_ = begun_;
  begun_->push_back(target);
  Executables &to_run = is_tail       ? launches_.tails_to_run
                        : is_detached ? launches_.detached_to_run
                                      : launches_.siblings_to_run;
  to_run.push_back(target);
  return 0;
}

int HostExecutable::update_node(std::uint64_t node, const host_abi::NodeChange &change) {
  constexpr int invalid_value = 1;
  if (node == 0) {
    return invalid_value;
  }
  auto &target = *reinterpret_cast<HostChange *>(node); // NOLINT(performance-no-int-to-ptr)
  const std::lock_guard lock(target.mutex);
  switch (change.what) {
  case host_abi::NodeChange::Enabled:
    target.enabled = change.enabled;
    return 0;
  case host_abi::NodeChange::Grid: {
    format::Geometry geometry;
    geometry.grid = {change.grid[0], change.grid[1], change.grid[2]};
    if (geometry.empty() || format::geometry_problem(geometry)) {
      return invalid_value;
    }
    target.params.grid = {change.grid[0], change.grid[1], change.grid[2]};
    return 0;
  }
  case host_abi::NodeChange::Argument:
    if (change.argument >= target.params.arguments.size()) {
      return invalid_value;
    }
    target.params.arguments[change.argument] = change.value;
    return 0;
  }
  return invalid_value;
}

/// Runs this graph, then its tails in order, each with its own tails before the next.
void HostExecutable::run_with_tails(Executables &siblings) {
  std::deque<HostExecutable *> open = {this};
  while (!open.empty()) {
    HostExecutable &next = *open.front();
    open.pop_front();
    next.run_once(siblings);
    const Executables &tails = next.launches_.tails_to_run;
    open.insert(open.begin(), tails.begin(), tails.end());
  }
}

/// Runs this graph with what it detaches; `siblings` takes those of its siblings that outlive it.
void HostExecutable::run_once(Executables &siblings) {
  is_pending_ = true;
  launches_ = {};
  for (HostCondition &condition : conditions_) {
    condition.value = condition.initial;
  }
  run_in_random_order(nodes_, siblings);
  is_pending_ = launches_.again;
}

namespace {

using Places = std::map<std::pair<const DeviceGraph *, std::uint32_t>, std::vector<HostNode *>>;

void find_places(std::vector<HostNode> &nodes, Places &places) {
  for (HostNode &node : nodes) {
    places[{node.graph, node.index}].push_back(&node);
    for (std::vector<HostNode> &body : node.bodies) {
      find_places(body, places);
    }
  }
}

} // namespace

std::uint32_t HostExecutable::place(const DeviceGraph & /*entry*/, const DeviceGraph &graph,
                                    std::uint32_t node) {
  if (numbers_.empty()) {
    Places places;
    find_places(nodes_, places);
    for (auto &[who, where] : places) {
      numbers_.emplace(who, static_cast<std::uint32_t>(places_.size()));
      places_.push_back(std::move(where));
    }
  }
  return numbers_.at({&graph, node});
}

std::size_t HostExecutable::update(std::span<const Update> updates) {
  for (const Update &update : updates) {
    for (HostNode *node : places_[update.place]) {
      node->params = *update.params;
      node->enabled = update.enabled;
      if (node->change != nullptr) { // what kernels have changed is gone
        node->change->enabled = update.enabled;
        node->change->params = std::get<KernelParams>(*update.params);
      }
    }
  }
  return updates.size();
}

namespace {

class HostPreparedKernels : public PreparedKernels {
public:
  void add(const KernelParams &params, const std::vector<HostNode *> &nodes) {
    for (HostNode *node : nodes) {
      calls_.push_back({&std::get<KernelParams>(node->params), &params});
    }
  }

  bool apply() noexcept override {
    for (const Call &call : calls_) {
      std::copy(call.from->arguments.begin(), call.from->arguments.end(),
                call.to->arguments.begin());
    }
    return true;
  }

private:
  struct Call {
    KernelParams *to;
    const KernelParams *from;
  };
  std::vector<Call> calls_;
};

} // namespace

std::unique_ptr<PreparedKernels> HostExecutable::prepare(std::span<const Update> kernels) {
  auto prepared = std::make_unique<HostPreparedKernels>();
  for (const Update &update : kernels) {
    prepared->add(std::get<KernelParams>(*update.params), places_[update.place]);
  }
  return prepared;
}

void HostExecutable::report() {
  if (error_) {
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
}

// Each node has a random rank, and of those that are ready the highest runs. So one that waits for
// nothing may well come last: with a new choice at each step, a long chain beside it would hardly
// ever be done before. The same holds for the graphs that kernels launch meanwhile, each as one
// piece; their numbers follow those of the nodes.
void HostExecutable::run_in_random_order(const std::vector<HostNode> &nodes,
                                         Executables &siblings) {
  std::vector<std::uint32_t> missing; // dependencies that are not done, for each node
  std::priority_queue<std::pair<std::uint64_t, std::size_t>> ready; // ranks and numbers
  Executables launched;
  missing.reserve(nodes.size());
  for (std::uint32_t index = 0; index < nodes.size(); ++index) {
    missing.push_back(nodes[index].dependencies);
    if (missing.back() == 0) {
      ready.emplace(random_(), index);
    }
  }
  const auto add = [&](HostExecutable *executable) {
    ready.emplace(random_(), nodes.size() + launched.size());
    launched.push_back(executable);
  };
  while (!ready.empty()) {
    const std::size_t number = ready.top().second;
    ready.pop();
    Executables others; // siblings of what runs now
    if (number >= nodes.size()) {
      launched[number - nodes.size()]->run_with_tails(others);
    } else {
      run(nodes[number]);
      for (const std::uint32_t successor : nodes[number].successors) {
        if (--missing[successor] == 0) {
          ready.emplace(random_(), successor);
        }
      }
    }
    for (HostExecutable *executable : std::exchange(launches_.detached_to_run, {})) {
      add(executable);
    }
    for (HostExecutable *executable : others) { // they have a part in this graph
      add(executable);
    }
    for (HostExecutable *executable : std::exchange(launches_.siblings_to_run, {})) {
      if (random_() % 2 == 0) {
        add(executable);
      } else {
        siblings.push_back(executable);
      }
    }
  }
}

void HostExecutable::run(const HostNode &node) {
  if (node.change != nullptr ? !node.change->enabled : !node.enabled) {
    return;
  }
  if (const auto *conditional = std::get_if<ConditionalParams>(&node.params)) {
    run_bodies(*conditional, node); // whose nodes name themselves in errors
    return;
  }
  try {
    if (node.change != nullptr) {
      run(node.change->params);
    } else {
      std::visit([this](const auto &params) { run(params); }, node.params);
    }
  } catch (const Error &error) {
    throw Error(error.code(), node.label.text() + ": " + error.message(), node.label.where());
  }
}

void HostExecutable::run_bodies(const ConditionalParams &params, const HostNode &node) {
  // The handle is the address, since kernels have nothing else.
  const auto &condition =
      *reinterpret_cast<const HostCondition *>(params.handle); // NOLINT(performance-no-int-to-ptr)
  Executables none; // a graph with conditions launches nothing
  switch (params.type) {
  case format::ConditionalType::If:
    if (condition.value != 0 || node.bodies.size() > 1) {
      run_in_random_order(node.bodies[condition.value != 0 ? 0 : 1], none);
    }
    break;
  case format::ConditionalType::While:
    while (condition.value != 0) {
      run_in_random_order(node.bodies[0], none);
    }
    break;
  case format::ConditionalType::Switch:
    if (condition.value < node.bodies.size()) {
      run_in_random_order(node.bodies[condition.value], none);
    }
    break;
  }
}

void HostExecutable::run(const KernelParams &params) {
  kernels_.run(params, random_() % 2 == 1, *this);
}

void HostExecutable::run(const CapturedParams &params) {
  try {
    (*params.call)(nullptr);
  } catch (const Error &) {
    throw;
  } catch (const std::exception &error) {
    throw Error(ErrorCode::Device, error.what());
  }
}

void HostExecutable::run(const CopyParams &params) {
  const Rows &to = params.destination_rows;
  const Rows &from = params.source_rows;
  for (std::size_t plane = 0; plane < params.depth; ++plane) {
    for (std::size_t row = 0; row < params.height; ++row) {
      std::memcpy(params.destination + (plane * to.per_plane + row) * to.pitch,
                  params.source + (plane * from.per_plane + row) * from.pitch, params.width);
    }
  }
}

void HostExecutable::run(const FillParams &params) {
  for (std::size_t row = 0; row < params.height; ++row) {
    std::byte *const first = params.destination + row * params.pitch;
    for (std::size_t i = 0; i < params.width; ++i) {
      std::memcpy(first + i * params.element_bytes, &params.pattern, params.element_bytes);
    }
  }
}

} // namespace cgrt
