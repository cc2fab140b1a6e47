#include "host/host_graph.h"

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
                    this,
                    static_cast<std::uint32_t>(ends_.size())});
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

std::unique_ptr<DeviceExecutable> HostGraph::instantiate() {
  return std::make_unique<HostExecutable>(kernels_, seed_, take_nodes(), std::move(conditions_));
}

HostExecutable::HostExecutable(KernelRunner &kernels, std::uint64_t seed,
                               std::vector<HostNode> nodes, std::deque<HostCondition> conditions)
    : kernels_(kernels), random_(seed), nodes_(std::move(nodes)),
      conditions_(std::move(conditions)) {}

void HostExecutable::launch(DeviceQueue * /*queue*/) {
  if (error_) {
    return;
  }
  try {
    const std::lock_guard lock(kernels_.mutex());
    // For all kernels at once: installing them takes longer than a small kernel.
    const FaultHandlers handlers;
    const SignalStack stack;
    for (HostCondition &condition : conditions_) {
      condition.value = condition.initial;
    }
    run_in_random_order(nodes_);
  } catch (...) {
    error_ = std::current_exception();
  }
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
    }
  }
  return updates.size();
}

void HostExecutable::report() {
  if (error_) {
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
}

// Each node has a random rank, and of those that are ready the highest runs. So one that waits for
// nothing may well come last: with a new choice at each step, a long chain beside it would hardly
// ever be done before.
void HostExecutable::run_in_random_order(const std::vector<HostNode> &nodes) {
  std::vector<std::uint32_t> missing; // dependencies that are not done, for each node
  std::priority_queue<std::pair<std::uint64_t, std::uint32_t>> ready; // ranks and nodes
  missing.reserve(nodes.size());
  for (std::uint32_t index = 0; index < nodes.size(); ++index) {
    missing.push_back(nodes[index].dependencies);
    if (missing.back() == 0) {
      ready.emplace(random_(), index);
    }
  }
  while (!ready.empty()) {
    const HostNode &node = nodes[ready.top().second];
    ready.pop();
    run(node);
    for (const std::uint32_t successor : node.successors) {
      if (--missing[successor] == 0) {
        ready.emplace(random_(), successor);
      }
    }
  }
}

void HostExecutable::run(const HostNode &node) {
  if (!node.enabled) {
    return;
  }
  if (const auto *conditional = std::get_if<ConditionalParams>(&node.params)) {
    run_bodies(*conditional, node); // whose nodes name themselves in errors
    return;
  }
  try {
    std::visit([this](const auto &params) { run(params); }, node.params);
  } catch (const Error &error) {
    throw Error(error.code(), node.label.text() + ": " + error.message(), node.label.where());
  }
}

void HostExecutable::run_bodies(const ConditionalParams &params, const HostNode &node) {
  // The handle is the address, since kernels have nothing else.
  const auto &condition =
      *reinterpret_cast<const HostCondition *>(params.handle); // NOLINT(performance-no-int-to-ptr)
  switch (params.type) {
  case format::ConditionalType::If:
    if (condition.value != 0 || node.bodies.size() > 1) {
      run_in_random_order(node.bodies[condition.value != 0 ? 0 : 1]);
    }
    break;
  case format::ConditionalType::While:
    while (condition.value != 0) {
      run_in_random_order(node.bodies[0]);
    }
    break;
  case format::ConditionalType::Switch:
    if (condition.value < node.bodies.size()) {
      run_in_random_order(node.bodies[condition.value]);
    }
    break;
  }
}

void HostExecutable::run(const KernelParams &params) {
  kernels_.run(params, random_() % 2 == 1);
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
