#include "host/host_graph.h"

#include "host/fault_trap.h"

#include <cstring>
#include <utility>

namespace cgrt {

std::uint32_t HostGraph::add_node(const NodeParams &params,
                                  std::span<const std::uint32_t> dependencies, NodeLabel label,
                                  bool enabled) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  for (const std::uint32_t dependency : dependencies) {
    nodes_[dependency].successors.push_back(index);
  }
  nodes_.push_back(
      {params, std::move(label), enabled, static_cast<std::uint32_t>(dependencies.size()), {}});
  return index;
}

std::unique_ptr<DeviceExecutable> HostGraph::instantiate() {
  return std::make_unique<HostExecutable>(kernels_, seed_, std::move(nodes_));
}

HostExecutable::HostExecutable(KernelRunner &kernels, std::uint64_t seed,
                               std::vector<HostNode> nodes)
    : kernels_(kernels), random_(seed), nodes_(std::move(nodes)) {}

void HostExecutable::launch() {
  if (error_) {
    return;
  }
  try {
    // For all kernels at once: installing them takes longer than a small kernel.
    const FaultHandlers handlers;
    const SignalStack stack;
    run_in_random_order();
  } catch (...) {
    error_ = std::current_exception();
  }
}

void HostExecutable::wait() {
  if (error_) {
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
}

void HostExecutable::run_in_random_order() {
  std::vector<std::uint32_t> missing; // dependencies that are not done, for each node
  std::vector<std::uint32_t> ready;
  missing.reserve(nodes_.size());
  for (std::uint32_t index = 0; index < nodes_.size(); ++index) {
    missing.push_back(nodes_[index].dependencies);
    if (missing.back() == 0) {
      ready.push_back(index);
    }
  }
  while (!ready.empty()) {
    std::swap(ready[random_() % ready.size()], ready.back());
    const HostNode &node = nodes_[ready.back()];
    ready.pop_back();
    run(node);
    for (const std::uint32_t successor : node.successors) {
      if (--missing[successor] == 0) {
        ready.push_back(successor);
      }
    }
  }
}

void HostExecutable::run(const HostNode &node) {
  if (!node.enabled) {
    return;
  }
  try {
    std::visit([this](const auto &params) { run(params); }, node.params);
  } catch (const Error &error) {
    throw Error(error.code(), node.label.text + ": " + error.message(), node.label.where);
  }
}

void HostExecutable::run(const KernelParams &params) {
  kernels_.run(params, random_() % 2 == 1);
}

void HostExecutable::run(const CopyParams &params) {
  std::memcpy(params.destination, params.source, params.bytes);
}

void HostExecutable::run(const FillParams &params) {
  for (std::size_t i = 0; i < params.count; ++i) {
    std::memcpy(params.destination + i * params.element_bytes, &params.pattern,
                params.element_bytes);
  }
}

} // namespace cgrt
