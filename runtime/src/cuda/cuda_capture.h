// Stream capture of a C++ function.
#pragma once

#include "cuda/cuda_context.h"
#include "device.h"

namespace cgrt::cuda {

/// The graph of what a function puts on a stream (CUDA C++ Programming Guide, "Creating a Graph
/// Using Stream Capture").
class CapturedGraph {
public:
  /// Error{Device} names the function where it throws or where what it does cannot be captured; in
  /// a body of a branch or loop also where that cannot hold what it does.
  CapturedGraph(const Context &context, const CapturedParams &params, const NodeLabel &label,
                bool in_body);
  ~CapturedGraph();
  CapturedGraph(const CapturedGraph &) = delete;
  CapturedGraph &operator=(const CapturedGraph &) = delete;

  cudaGraph_t handle() const { return graph_; }
  std::size_t node_count() const { return nodes_; }

private:
  void require_legal_in_body(const NodeLabel &label) const;

  cudaGraph_t graph_ = nullptr;
  std::size_t nodes_ = 0;
};

} // namespace cgrt::cuda
