// Graphs on a GPU, built with CUDA's explicit node interface.
#pragma once

#include "cuda/cuda_context.h"
#include "device.h"

#include <memory>
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
  std::unique_ptr<DeviceExecutable> instantiate() override;

  /// Owned by this object.
  cudaGraph_t handle() const { return graph_; }
  /// Whom CUDA means by a node of this graph or of a child in it; nobody where it is none.
  NodeLabel label_of(cudaGraphNode_t node) const;

private:
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

  void set_attributes(cudaGraphNode_t node, const KernelParams &params, const NodeLabel &label);
  void require_cooperative(const KernelParams &params, const NodeLabel &label) const;

  Clones clones_of(const Child &child, const Clones &own) const;
  void disable_nodes(cudaGraphExec_t executable, const Clones &clones) const;

  /// The same for a node of the last clone.
  NodeLabel label_in(const Clones &clones, cudaGraphNode_t wanted) const;

  std::shared_ptr<const Context> context_;
  cudaGraph_t graph_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;
  std::vector<NodeLabel> labels_; ///< parallel to nodes_
  std::vector<std::uint32_t> disabled_;
  std::vector<Child> children_;
  bool has_priorities_ = false;               ///< in itself or a child
  bool has_disabled_ = false;                 ///< likewise
  std::vector<void *> scratch_;               ///< addresses of one kernel's arguments
  std::vector<cudaGraphNode_t> dependencies_; ///< of the node being added
};

class CudaExecutable : public DeviceExecutable {
public:
  /// Takes `executable` over.
  CudaExecutable(std::shared_ptr<const Context> context, cudaGraphExec_t executable)
      : context_(std::move(context)), executable_(executable) {}
  ~CudaExecutable() override;
  CudaExecutable(const CudaExecutable &) = delete;
  CudaExecutable &operator=(const CudaExecutable &) = delete;

  void launch() override;
  void wait() override;

private:
  std::shared_ptr<const Context> context_;
  cudaGraphExec_t executable_;
  bool in_flight_ = false; ///< launched and not waited for
};

} // namespace cgrt::cuda
