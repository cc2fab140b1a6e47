#include "cuda/cuda_graph.h"

#include "cuda/cuda_code.h"

#include <algorithm>

namespace cgrt::cuda {

namespace {

dim3 to_dim3(const Dim3 &extents) {
  return {extents.x, extents.y, extents.z};
}

std::string_view explain(cudaGraphInstantiateResult result) {
  switch (result) {
  case cudaGraphInstantiateInvalidStructure:
    return "the graph's structure is not valid here";
  case cudaGraphInstantiateNodeOperationNotSupported:
    return "this operation is not supported here";
  case cudaGraphInstantiateMultipleDevicesNotSupported:
    return "its memory is not on this device";
  case cudaGraphInstantiateConditionalHandleUnused:
    return "a conditional handle has no node";
  case cudaGraphInstantiateSuccess:
  case cudaGraphInstantiateError:
    break;
  }
  return {};
}

} // namespace

CudaGraph::CudaGraph(std::shared_ptr<const Context> context) : context_(std::move(context)) {
  const Current current = context_->make_current();
  check(cudaGraphCreate(&graph_, 0), "cudaGraphCreate");
}

CudaGraph::~CudaGraph() {
  const Current current = context_->make_current(std::nothrow);
  check_in_destructor(cudaGraphDestroy(graph_));
}

std::uint32_t CudaGraph::add_node(const NodeParams &params,
                                  std::span<const std::uint32_t> dependencies, NodeLabel label,
                                  bool enabled) {
  const Current current = context_->make_current();
  cudaGraphNodeParams cuda_params =
      std::visit([&](const auto &kind) { return node_params(kind, label); }, params);
  dependencies_.clear();
  for (const std::uint32_t dependency : dependencies) {
    dependencies_.push_back(nodes_[dependency]);
  }
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddNode(&node, graph_, dependencies_.data(), nullptr, dependencies_.size(),
                         &cuda_params),
        "cudaGraphAddNode", label);
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(node);
  labels_.push_back(std::move(label));
  if (!enabled) {
    disabled_.push_back(index);
  }
  return index;
}

cudaGraphNodeParams CudaGraph::node_params(const KernelParams &params, const NodeLabel &label) {
  const auto &function = static_cast<const CudaFunction &>(*params.function);
  function.prepare(params, *context_, label);
  scratch_.clear();
  for (const std::uint64_t &argument : params.arguments) {
    // CUDA only reads through these, although it takes them as void *.
    scratch_.push_back(const_cast<std::uint64_t *>(&argument));
  }
  cudaGraphNodeParams result = {};
  result.type = cudaGraphNodeTypeKernel;
  result.kernel.func = function.handle();
  result.kernel.gridDim = to_dim3(params.grid);
  result.kernel.blockDim = to_dim3(params.block);
  result.kernel.sharedMemBytes = params.shared_bytes;
  result.kernel.kernelParams = scratch_.data();
  return result;
}

cudaGraphNodeParams CudaGraph::node_params(const CopyParams &params, const NodeLabel &) {
  cudaGraphNodeParams result = {};
  result.type = cudaGraphNodeTypeMemcpy;
  cudaMemcpy3DParms &copy = result.memcpy.copyParams;
  // One row, so the pitch has no part in the addresses.
  copy.srcPtr = {const_cast<std::byte *>(params.source), params.bytes, params.bytes, 1};
  copy.dstPtr = {params.destination, params.bytes, params.bytes, 1};
  copy.extent = {params.bytes, 1, 1};
  copy.kind = cudaMemcpyDefault; // CUDA knows which of the addresses are host memory
  return result;
}

cudaGraphNodeParams CudaGraph::node_params(const FillParams &params, const NodeLabel &) {
  cudaGraphNodeParams result = {};
  result.type = cudaGraphNodeTypeMemset;
  result.memset.dst = params.destination;
  result.memset.value = params.pattern & (0xFFFFFFFFU >> (32 - 8 * params.element_bytes));
  result.memset.elementSize = params.element_bytes;
  result.memset.width = params.count;
  result.memset.height = 1;
  return result;
}

cudaGraphNodeParams CudaGraph::node_params(const ChildParams &params, const NodeLabel &) {
  cudaGraphNodeParams result = {};
  result.type = cudaGraphNodeTypeGraph;
  result.graph.graph = static_cast<const CudaGraph &>(*params.graph).graph_;
  result.graph.ownership = cudaGraphChildGraphOwnershipClone;
  return result;
}

NodeLabel CudaGraph::label_of(cudaGraphNode_t node) const {
  const auto found = std::find(nodes_.begin(), nodes_.end(), node);
  return found == nodes_.end() ? NodeLabel{}
                               : labels_[static_cast<std::size_t>(found - nodes_.begin())];
}

std::unique_ptr<DeviceExecutable> CudaGraph::instantiate() {
  const Current current = context_->make_current();
  cudaGraphInstantiateParams params = {};
  cudaGraphExec_t executable = nullptr;
  const cudaError_t result = cudaGraphInstantiateWithParams(&executable, graph_, &params);
  if (result != cudaSuccess) {
    check(result, "cudaGraphInstantiateWithParams", label_of(params.errNode_out),
          explain(params.result_out));
  }
  auto owner = std::make_unique<CudaExecutable>(context_, executable);
  for (const std::uint32_t index : disabled_) {
    check(cudaGraphNodeSetEnabled(executable, nodes_[index], 0), "cudaGraphNodeSetEnabled",
          labels_[index]);
  }
  // So that the first launch costs no more than the others.
  check(cudaGraphUpload(executable, context_->stream()), "cudaGraphUpload");
  return owner;
}

CudaExecutable::~CudaExecutable() {
  const Current current = context_->make_current(std::nothrow);
  if (in_flight_) {
    // Destroying it in flight is safe for CUDA, but what its nodes use may be freed next.
    check_in_destructor(cudaStreamSynchronize(context_->stream()));
  }
  check_in_destructor(cudaGraphExecDestroy(executable_));
}

void CudaExecutable::launch() {
  const Current current = context_->make_current();
  check(cudaGraphLaunch(executable_, context_->stream()), "cudaGraphLaunch");
  in_flight_ = true;
}

void CudaExecutable::wait() {
  const Current current = context_->make_current();
  in_flight_ = false;
  check(cudaStreamSynchronize(context_->stream()), "running the graph on " + context_->name());
}

} // namespace cgrt::cuda
