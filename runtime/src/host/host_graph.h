// Graphs on the host device. An executable runs its nodes one at a time, in an order drawn at
// random from all that the edges allow, so that a missing edge shows as a wrong value. The draws
// follow from the seed alone.
#pragma once

#include "device.h"
#include "host/kernel_runner.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

namespace cgrt {

/// The value that a conditional handle stands for; the handle is its address.
struct HostCondition {
  std::uint32_t value = 0;
  std::uint32_t initial = 0;
};

class HostEvent : public DeviceEvent {
public:
  void record() { time_ = std::chrono::steady_clock::now(); }
  double milliseconds_to(const DeviceEvent &end) const override {
    return std::chrono::duration<double, std::milli>(static_cast<const HostEvent &>(end).time_ -
                                                     time_)
        .count();
  }

private:
  std::chrono::steady_clock::time_point time_;
};

/// What kernels have changed of a node. Its handle is the address.
struct HostChange {
  std::mutex mutex;
  bool enabled = true;
  KernelParams params;
};

/// A child graph's nodes become nodes of the graph that holds it, between two nodes that do nothing
/// (its params are ChildParams): so they, too, mix with all that is independent of them.
struct HostNode {
  NodeParams params;
  NodeLabel label;
  bool enabled = true;
  std::uint32_t dependencies = 0; ///< how many
  std::vector<std::uint32_t> successors;
  std::vector<std::vector<HostNode>> bodies; ///< of a conditional, which runs them as one piece
  std::shared_ptr<HostChange> change;        ///< of a kernel that others change: what runs
  /// What it was added as.
  const DeviceGraph *graph = nullptr;
  std::uint32_t index = 0;
};

/// A launch is over when its call returns, so that everything is in order.
class HostQueue : public DeviceQueue {
public:
  void follow(DeviceQueue &) override {}
  void wait() override {}
};

class HostGraph : public DeviceGraph {
public:
  /// `kernels` must outlive the graph and its executables.
  HostGraph(KernelRunner &kernels, std::uint64_t seed) : kernels_(kernels), seed_(seed) {}

  std::uint32_t add_node(const NodeParams &params, std::span<const std::uint32_t> dependencies,
                         NodeLabel label, bool enabled) override;
  std::uint64_t create_condition(std::uint32_t initial) override;
  DeviceGraph &body(std::uint32_t node, std::uint32_t index) override;
  std::uint64_t updatable_handle(std::uint32_t node) const override {
    return reinterpret_cast<std::uintptr_t>(nodes_[ends_[node]].change.get());
  }
  std::unique_ptr<DeviceExecutable> instantiate(bool for_device) override;

private:
  /// The graphs that will be the bodies of a node.
  struct Branches {
    std::uint32_t node; ///< in nodes_
    std::vector<std::unique_ptr<HostGraph>> bodies;
  };

  std::vector<HostNode> take_nodes();
  std::uint32_t append(const NodeParams &params, NodeLabel label, bool enabled);
  void connect(std::uint32_t before, std::uint32_t after);
  std::uint32_t append_child(const HostGraph &child, std::uint32_t begin);

  KernelRunner &kernels_;
  std::uint64_t seed_;
  std::vector<HostNode> nodes_;
  std::vector<Branches> branches_;
  std::deque<HostCondition> conditions_; ///< where they stay
  std::vector<std::uint32_t> ends_; ///< for each node added, the one in nodes_ that is its last
};

class HostExecutable : public DeviceExecutable, private GraphLauncher {
public:
  HostExecutable(KernelRunner &kernels, std::uint64_t seed, std::vector<HostNode> nodes,
                 std::deque<HostCondition> conditions, bool for_device);

  /// Runs the whole graph, and all that it launches. After a failure nothing runs until wait() has
  /// reported it.
  void launch(DeviceQueue *queue) override;
  std::uint32_t place(const DeviceGraph &entry, const DeviceGraph &graph,
                      std::uint32_t node) override;
  std::size_t update(std::span<const Update> updates) override;
  std::unique_ptr<PreparedKernels> prepare(std::span<const Update> kernels) override;
  /// The address, with the kind in its lowest bits.
  std::uint64_t device_handle(format::LaunchKind kind) const override {
    return for_device_ ? reinterpret_cast<std::uintptr_t>(this) + static_cast<std::uint64_t>(kind)
                       : 0;
  }
  void report() override;
  void wait() override { report(); }

private:
  using Executables = std::vector<HostExecutable *>;

  int launch_graph(std::uint64_t executable, std::uint64_t stream) override;
  int update_node(std::uint64_t node, const host_abi::NodeChange &change) override;
  std::uint64_t current_graph() override { return device_handle(format::LaunchKind::Tail); }
  void run_with_tails(Executables &siblings);
  void run_once(Executables &siblings);
  void run_in_random_order(const std::vector<HostNode> &nodes, Executables &siblings);
  void run(const HostNode &node);
  void run(const KernelParams &params);
  void run(const CopyParams &params);
  void run(const FillParams &params);
  void run(const ChildParams &) {}
  void run(const ConditionalParams &) {} // run_bodies() has run it
  void run(const EventRecordParams &params) { static_cast<HostEvent &>(*params.event).record(); }
  void run(const EventWaitParams &) {} // what the caller does, it has done before the launch
  void run(const CallbackParams &params) { (*params.call)(); }
  void run(const CapturedParams &params);
  void run_bodies(const ConditionalParams &params, const HostNode &node);

  /// What an execution of this graph has launched: how many of each kind, and which of them are
  /// still to be run. A tail is one until the next execution begins.
  struct Launches {
    std::uint32_t tails = 0, detached = 0, siblings = 0;
    Executables tails_to_run, detached_to_run, siblings_to_run;
    bool again = false; ///< itself is among the tails
  };

  KernelRunner &kernels_;
  std::mt19937_64 random_;
  std::vector<HostNode> nodes_;
  std::deque<HostCondition> conditions_;
  std::map<std::pair<const DeviceGraph *, std::uint32_t>, std::uint32_t> numbers_; ///< of places
  std::vector<std::vector<HostNode *>> places_;
  std::exception_ptr error_;
  bool for_device_;              ///< kernels may launch it
  bool is_pending_ = false;      ///< launched, and not done
  Executables *begun_ = nullptr; ///< all that the launch from the host has made pending
  std::mutex launching_;         ///< guards what follows, and is_pending_ of what is launched
  Launches launches_;
};

} // namespace cgrt
