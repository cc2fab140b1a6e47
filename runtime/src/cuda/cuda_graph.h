// Graphs on a GPU, built with CUDA's explicit node interface.
#pragma once

#include "cuda/cuda_capture.h"
#include "cuda/cuda_context.h"
#include "device.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace cgrt::cuda {

class CudaGraph : public DeviceGraph {
public:
  explicit CudaGraph(std::shared_ptr<const Context> context);
  ~CudaGraph() override;
  CudaGraph(const CudaGraph &) = delete;
  CudaGraph &operator=(const CudaGraph &) = delete;

  std::uint32_t add_node(const NodeParams &params, std::span<const std::uint32_t> dependencies,
                         NodeLabel label, bool enabled) override;
  std::uint64_t create_condition(std::uint32_t initial) override;
  DeviceGraph &body(std::uint32_t node, std::uint32_t index) override;
  std::uint64_t updatable_handle(std::uint32_t node) const override { return updatables_.at(node); }
  std::unique_ptr<DeviceExecutable> instantiate(bool for_device) override;

  /// Owned by this object, or by the graph that it is a body in.
  cudaGraph_t handle() const { return graph_; }
  /// The CUDA node of each place where a node of `graph` stands in an executable of this graph.
  std::vector<cudaGraphNode_t> places_of(const CudaGraph &graph, std::uint32_t node) const;
  /// New ones of a node of this graph; they are valid until the next call.
  cudaGraphNodeParams update_params(std::uint32_t node, const NodeParams &params);
  /// The same for a kernel, as the driver takes them.
  CUDA_KERNEL_NODE_PARAMS update_params(std::uint32_t node, const KernelParams &params);
  bool is_enabled(std::uint32_t node) const; ///< as it was added
  /// As CUDA takes them; valid until the next call.
  void **kernel_arguments(const KernelParams &params);

  /// Whom CUDA means by a node of this graph or of a child in it; nobody where it is none.
  NodeLabel label_of(cudaGraphNode_t node) const;

private:
  /// A body of a conditional node, which CUDA has made.
  CudaGraph(std::shared_ptr<const Context> context, cudaGraph_t body)
      : context_(std::move(context)), graph_(body), is_body_(true) {}

  /// The bodies of a node.
  struct Branches {
    std::uint32_t node;
    std::vector<std::unique_ptr<CudaGraph>> bodies;
  };

  /// The node that holds a clone of another graph.
  struct Child {
    std::uint32_t node;
    const CudaGraph *graph;
  };
  /// Clones of this graph inside other graphs: the first is its own, each other one a clone of the
  /// one before. Empty: the graph itself.
  using Clones = std::vector<cudaGraph_t>;

  // One overload for each node kind; what they return points into the arguments and scratch_.
  cudaGraphNodeParams node_params(const KernelParams &params, const NodeLabel &label);
  cudaGraphNodeParams node_params(const CopyParams &params, const NodeLabel &label);
  cudaGraphNodeParams node_params(const FillParams &params, const NodeLabel &label);
  cudaGraphNodeParams node_params(const ChildParams &params, const NodeLabel &label);
  cudaGraphNodeParams node_params(const ConditionalParams &params, const NodeLabel &label);
  cudaGraphNodeParams node_params(const EventRecordParams &params, const NodeLabel &label);
  cudaGraphNodeParams node_params(const EventWaitParams &params, const NodeLabel &label);
  cudaGraphNodeParams node_params(const CallbackParams &params, const NodeLabel &label);
  cudaGraphNodeParams node_params(const CapturedParams &params, const NodeLabel &label);

  void set_attributes(cudaGraphNode_t node, const KernelParams &params, const NodeLabel &label);
  static std::uint64_t make_updatable(cudaGraphNode_t node, const NodeLabel &label);
  void require_cooperative(const KernelParams &params, const NodeLabel &label) const;

  void find_places(const CudaGraph &graph, std::uint32_t node, const Clones &clones,
                   std::vector<cudaGraphNode_t> &found) const;
  Clones clones_of(const Child &child, const Clones &own) const;
  void disable_nodes(cudaGraphExec_t executable, const Clones &clones) const;
  void collect_calls(std::vector<CallbackParams> &calls) const;
  bool has_disabled() const;   ///< in itself or a child
  bool has_priorities() const; ///< in itself, a child or a body
  bool has_updatables() const; ///< in itself or a body

  /// The same for a node of the last clone.
  NodeLabel label_in(const Clones &clones, cudaGraphNode_t wanted) const;

  std::shared_ptr<const Context> context_;
  cudaGraph_t graph_ = nullptr;
  bool is_body_ = false;
  std::vector<cudaGraphNode_t> nodes_;
  std::vector<NodeLabel> labels_; ///< parallel to nodes_
  std::vector<std::uint32_t> disabled_;
  std::map<std::uint32_t, std::uint64_t> updatables_; ///< handles, by node
  std::vector<CallbackParams> calls_;                 ///< of its callbacks
  std::optional<CapturedGraph> captured_;             ///< of the node being added
  std::vector<Child> children_;
  std::vector<Branches> branches_;
  bool has_priorities_ = false;               ///< of kernels in itself
  std::vector<void *> scratch_;               ///< addresses of one kernel's arguments
  std::vector<cudaGraphNode_t> dependencies_; ///< of the node being added
};

} // namespace cgrt::cuda
