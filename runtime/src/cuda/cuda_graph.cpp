#include "cuda/cuda_graph.h"

#include "cuda/cuda_code.h"
#include "cuda/cuda_event.h"
#include "cuda/cuda_executable.h"

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

/// `clone` is a clone of the graph that `node` is in.
cudaGraphNode_t find_in_clone(cudaGraphNode_t node, cudaGraph_t clone, const NodeLabel &label) {
  cudaGraphNode_t found = nullptr;
  check(cudaGraphNodeFindInClone(&found, node, clone), "cudaGraphNodeFindInClone", label);
  return found;
}

} // namespace

CudaGraph::CudaGraph(std::shared_ptr<const Context> context) : context_(std::move(context)) {
  const Current current = context_->make_current();
  check(cudaGraphCreate(&graph_, 0), "cudaGraphCreate");
}

CudaGraph::~CudaGraph() {
  if (!is_body_) {
    const Current current = context_->make_current(std::nothrow);
    check_in_destructor(cudaGraphDestroy(graph_));
  }
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
  captured_.reset(); // the node has a clone
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  if (const auto *kernel = std::get_if<KernelParams>(&params)) {
    set_attributes(node, *kernel, label);
    if (kernel->updatable) {
      updatables_.emplace(index, make_updatable(node, label));
    }
  } else if (const auto *child = std::get_if<ChildParams>(&params)) {
    children_.push_back({index, static_cast<const CudaGraph *>(child->graph)});
  } else if (const auto *conditional = std::get_if<ConditionalParams>(&params)) {
    Branches &branches = branches_.emplace_back(Branches{index, {}});
    for (std::uint32_t i = 0; i < conditional->bodies; ++i) {
      branches.bodies.emplace_back(new CudaGraph(context_, cuda_params.conditional.phGraph_out[i]));
    }
  }
  nodes_.push_back(node);
  labels_.push_back(std::move(label));
  if (!enabled) {
    disabled_.push_back(index);
  }
  return index;
}

void CudaGraph::set_attributes(cudaGraphNode_t node, const KernelParams &params,
                               const NodeLabel &label) {
  if (params.cluster.x != 1 || params.cluster.y != 1 || params.cluster.z != 1) {
    cudaLaunchAttributeValue value = {};
    value.clusterDim.x = params.cluster.x;
    value.clusterDim.y = params.cluster.y;
    value.clusterDim.z = params.cluster.z;
    check(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value),
          "cudaGraphKernelNodeSetAttribute(ClusterDimension)", label);
  }
  if (params.cooperative) {
    require_cooperative(params, label);
    cudaLaunchAttributeValue value = {};
    value.cooperative = 1;
    check(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value),
          "cudaGraphKernelNodeSetAttribute(Cooperative)", label);
  }
  if (params.priority != 0) {
    cudaLaunchAttributeValue value = {};
    value.priority = context_->priority(params.priority);
    check(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value),
          "cudaGraphKernelNodeSetAttribute(Priority)", label);
    has_priorities_ = true;
  }
}

/// From now on kernels can change the node; returns what they know it by.
std::uint64_t CudaGraph::make_updatable(cudaGraphNode_t node, const NodeLabel &label) {
  cudaLaunchAttributeValue value = {};
  value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  check(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &value),
        "cudaGraphKernelNodeSetAttribute(DeviceUpdatableKernelNode)", label);
  return reinterpret_cast<std::uintptr_t>(value.deviceUpdatableKernelNode.devNode);
}

/// Blocks that wait for each other must all be on the GPU at once.
void CudaGraph::require_cooperative(const KernelParams &params, const NodeLabel &label) const {
  const auto &function = static_cast<const CudaFunction &>(*params.function);
  const std::uint32_t threads = params.block.x * params.block.y * params.block.z;
  int on_each = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &on_each, function.handle(), static_cast<int>(threads), params.shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor", label);
  const std::uint64_t blocks = std::uint64_t{params.grid.x} * params.grid.y * params.grid.z;
  const std::uint64_t most = context_->cooperative_blocks(on_each);
  if (blocks > most) {
    throw Error(ErrorCode::Device,
                label.text() + ": a cooperative grid of " + std::to_string(blocks) +
                    " blocks is too large for this kernel on " + context_->name() +
                    ", which holds " + std::to_string(most) + " of them at once [geometry]",
                label.where());
  }
}

cudaGraphNodeParams CudaGraph::node_params(const KernelParams &params, const NodeLabel &label) {
  const auto &function = static_cast<const CudaFunction &>(*params.function);
  function.prepare(params, *context_, label);
  cudaGraphNodeParams result = {};
  result.type = cudaGraphNodeTypeKernel;
  result.kernel.func = function.handle();
  result.kernel.gridDim = to_dim3(params.grid);
  result.kernel.blockDim = to_dim3(params.block);
  result.kernel.sharedMemBytes = params.shared_bytes;
  result.kernel.kernelParams = kernel_arguments(params);
  return result;
}

void **CudaGraph::kernel_arguments(const KernelParams &params) {
  scratch_.clear();
  for (const std::uint64_t &argument : params.arguments) {
    // CUDA only reads through these, although it takes them as void *.
    scratch_.push_back(const_cast<std::uint64_t *>(&argument));
  }
  return scratch_.data();
}

cudaGraphNodeParams CudaGraph::node_params(const CopyParams &params, const NodeLabel &) {
  cudaGraphNodeParams result = {};
  result.type = cudaGraphNodeTypeMemcpy;
  cudaMemcpy3DParms &copy = result.memcpy.copyParams;
  const auto side = [&](std::byte *first, const Rows &rows) -> cudaPitchedPtr {
    // A single row may be longer than a pitch can be, a single plane has no next one.
    const bool flat = params.height == 1 && params.depth == 1;
    return {first, flat ? params.width : rows.pitch, params.width,
            params.depth == 1 ? params.height : rows.per_plane};
  };
  copy.srcPtr = side(const_cast<std::byte *>(params.source), params.source_rows);
  copy.dstPtr = side(params.destination, params.destination_rows);
  copy.extent = {params.width, params.height, params.depth};
  copy.kind = cudaMemcpyDefault; // CUDA knows which of the addresses are host memory
  return result;
}

cudaGraphNodeParams CudaGraph::node_params(const FillParams &params, const NodeLabel &) {
  cudaGraphNodeParams result = {};
  result.type = cudaGraphNodeTypeMemset;
  result.memset.dst = params.destination;
  result.memset.value = params.pattern & (0xFFFFFFFFU >> (32 - 8 * params.element_bytes));
  result.memset.elementSize = params.element_bytes;
  result.memset.width = params.width;
  result.memset.height = params.height;
  result.memset.pitch = params.height == 1 ? 0 : params.pitch;
  return result;
}

cudaGraphNodeParams CudaGraph::node_params(const ChildParams &params, const NodeLabel &) {
  cudaGraphNodeParams result = {};
  const auto &child = static_cast<const CudaGraph &>(*params.graph);
  if (child.nodes_.empty()) {
    result.type = cudaGraphNodeTypeEmpty;
    return result;
  }
  result.type = cudaGraphNodeTypeGraph;
  result.graph.graph = child.graph_;
  result.graph.ownership = cudaGraphChildGraphOwnershipClone;
  return result;
}

cudaGraphNodeParams CudaGraph::node_params(const ConditionalParams &params, const NodeLabel &) {
  cudaGraphNodeParams result = {};
  result.type = cudaGraphNodeTypeConditional;
  result.conditional.handle = params.handle;
  result.conditional.size = params.bodies;
  switch (params.type) {
  case format::ConditionalType::If:
    result.conditional.type = cudaGraphCondTypeIf;
    break;
  case format::ConditionalType::While:
    result.conditional.type = cudaGraphCondTypeWhile;
    break;
  case format::ConditionalType::Switch:
    result.conditional.type = cudaGraphCondTypeSwitch;
    break;
  }
  return result;
}

cudaGraphNodeParams CudaGraph::node_params(const EventRecordParams &params, const NodeLabel &) {
  cudaGraphNodeParams result = {};
  result.type = cudaGraphNodeTypeEventRecord;
  result.eventRecord.event = static_cast<const CudaEvent &>(*params.event).handle();
  return result;
}

cudaGraphNodeParams CudaGraph::node_params(const EventWaitParams &params, const NodeLabel &) {
  cudaGraphNodeParams result = {};
  result.type = cudaGraphNodeTypeWaitEvent;
  result.eventWait.event = static_cast<const CudaEvent &>(*params.event).handle();
  return result;
}

cudaGraphNodeParams CudaGraph::node_params(const CallbackParams &params, const NodeLabel &) {
  calls_.push_back(params);
  cudaGraphNodeParams result = {};
  result.type = cudaGraphNodeTypeHost;
  result.host.fn = [](void *call) { (*static_cast<const std::function<void()> *>(call))(); };
  result.host.userData = const_cast<std::function<void()> *>(params.call.get());
  return result;
}

cudaGraphNodeParams CudaGraph::node_params(const CapturedParams &params, const NodeLabel &label) {
  captured_.emplace(*context_, params, label, is_body_);
  cudaGraphNodeParams result = {};
  if (captured_->node_count() == 0) {
    result.type = cudaGraphNodeTypeEmpty;
    return result;
  }
  result.type = cudaGraphNodeTypeGraph;
  result.graph.graph = captured_->handle();
  result.graph.ownership = cudaGraphChildGraphOwnershipClone;
  return result;
}

/// Of itself and the children; no body has any.
void CudaGraph::collect_calls(std::vector<CallbackParams> &calls) const {
  calls.insert(calls.end(), calls_.begin(), calls_.end());
  for (const Child &child : children_) {
    child.graph->collect_calls(calls);
  }
}

std::uint64_t CudaGraph::create_condition(std::uint32_t initial) {
  const Current current = context_->make_current();
  cudaGraphConditionalHandle handle = 0;
  // Without the flag, a value would stay from one launch to the next.
  check(cudaGraphConditionalHandleCreate(&handle, graph_, initial, cudaGraphCondAssignDefault),
        "cudaGraphConditionalHandleCreate");
  return handle;
}

DeviceGraph &CudaGraph::body(std::uint32_t node, std::uint32_t index) {
  // Asked for right after the node has been added.
  return *std::find_if(branches_.rbegin(), branches_.rend(), [node](const Branches &branches) {
            return branches.node == node;
          })->bodies[index];
}

CudaGraph::Clones CudaGraph::clones_of(const Child &child, const Clones &own) const {
  const NodeLabel &label = labels_[child.node];
  const auto graph_in = [&](cudaGraphNode_t node) {
    cudaGraph_t graph = nullptr;
    check(cudaGraphChildGraphNodeGetGraph(node, &graph), "cudaGraphChildGraphNodeGetGraph", label);
    return graph;
  };
  // This graph holds a clone of the child; each clone of this graph holds a clone of that one.
  cudaGraphNode_t node = nodes_[child.node];
  Clones clones = {graph_in(node)};
  for (const cudaGraph_t clone : own) {
    node = find_in_clone(node, clone, label);
    clones.push_back(graph_in(node));
  }
  return clones;
}

void CudaGraph::disable_nodes(cudaGraphExec_t executable, const Clones &clones) const {
  for (const std::uint32_t index : disabled_) {
    cudaGraphNode_t node = nodes_[index];
    for (const cudaGraph_t clone : clones) {
      node = find_in_clone(node, clone, labels_[index]);
    }
    check(cudaGraphNodeSetEnabled(executable, node, 0), "cudaGraphNodeSetEnabled", labels_[index]);
  }
  for (const Child &child : children_) {
    if (child.graph->has_disabled()) {
      child.graph->disable_nodes(executable, clones_of(child, clones));
    }
  }
  for (const Branches &branches : branches_) { // no clone has any
    for (const auto &body : branches.bodies) {
      body->disable_nodes(executable, {});
    }
  }
}

bool CudaGraph::has_disabled() const {
  return !disabled_.empty() ||
         std::any_of(children_.begin(), children_.end(),
                     [](const Child &child) { return child.graph->has_disabled(); });
}

bool CudaGraph::has_priorities() const {
  const auto in_body = [](const auto &body) { return body->has_priorities(); };
  return has_priorities_ ||
         std::any_of(children_.begin(), children_.end(),
                     [](const Child &child) { return child.graph->has_priorities(); }) ||
         std::any_of(branches_.begin(), branches_.end(), [&](const Branches &branches) {
           return std::any_of(branches.bodies.begin(), branches.bodies.end(), in_body);
         });
}

bool CudaGraph::has_updatables() const {
  return !updatables_.empty() ||
         std::any_of(branches_.begin(), branches_.end(), [](const Branches &branches) {
           return std::any_of(branches.bodies.begin(), branches.bodies.end(),
                              [](const auto &body) { return body->has_updatables(); });
         });
}

void CudaGraph::find_places(const CudaGraph &graph, std::uint32_t node, const Clones &clones,
                            std::vector<cudaGraphNode_t> &found) const {
  if (this == &graph) {
    cudaGraphNode_t place = nodes_[node];
    for (const cudaGraph_t clone : clones) {
      place = find_in_clone(place, clone, labels_[node]);
    }
    found.push_back(place);
    return; // no graph contains itself
  }
  for (const Child &child : children_) {
    if (!child.graph->nodes_.empty()) {
      child.graph->find_places(graph, node, clones_of(child, clones), found);
    }
  }
  for (const Branches &branches : branches_) {
    for (const auto &body : branches.bodies) {
      body->find_places(graph, node, {}, found);
    }
  }
}

std::vector<cudaGraphNode_t> CudaGraph::places_of(const CudaGraph &graph,
                                                  std::uint32_t node) const {
  std::vector<cudaGraphNode_t> found;
  find_places(graph, node, {}, found);
  return found;
}

cudaGraphNodeParams CudaGraph::update_params(std::uint32_t node, const NodeParams &params) {
  const NodeLabel &label = labels_[node];
  return std::visit([&](const auto &kind) { return node_params(kind, label); }, params);
}

CUDA_KERNEL_NODE_PARAMS CudaGraph::update_params(std::uint32_t node, const KernelParams &params) {
  const auto &function = static_cast<const CudaFunction &>(*params.function);
  function.prepare(params, *context_, labels_[node]);
  if (params.cooperative) {
    require_cooperative(params, labels_[node]);
  }
  CUDA_KERNEL_NODE_PARAMS result = {};
  result.kern = reinterpret_cast<CUkernel>(function.handle());
  result.gridDimX = params.grid.x;
  result.gridDimY = params.grid.y;
  result.gridDimZ = params.grid.z;
  result.blockDimX = params.block.x;
  result.blockDimY = params.block.y;
  result.blockDimZ = params.block.z;
  result.sharedMemBytes = params.shared_bytes;
  result.kernelParams = kernel_arguments(params);
  return result;
}

bool CudaGraph::is_enabled(std::uint32_t node) const {
  return !std::binary_search(disabled_.begin(), disabled_.end(), node);
}

NodeLabel CudaGraph::label_in(const Clones &clones, cudaGraphNode_t wanted) const {
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    cudaGraphNode_t node = nodes_[index];
    for (const cudaGraph_t clone : clones) {
      node = find_in_clone(node, clone, labels_[index]);
    }
    if (node == wanted) {
      return labels_[index];
    }
  }
  for (const Child &child : children_) {
    NodeLabel label = child.graph->nodes_.empty()
                          ? NodeLabel()
                          : child.graph->label_in(clones_of(child, clones), wanted);
    if (!label.is_nobody()) {
      return label;
    }
  }
  for (const Branches &branches : branches_) {
    for (const auto &body : branches.bodies) {
      NodeLabel label = body->label_in({}, wanted);
      if (!label.is_nobody()) {
        return label;
      }
    }
  }
  return {};
}

NodeLabel CudaGraph::label_of(cudaGraphNode_t node) const {
  try {
    return node == nullptr ? NodeLabel() : label_in({}, node);
  } catch (const Error &) {
    return {}; // it is asked for in errors, which matter more than their names
  }
}

std::unique_ptr<DeviceExecutable> CudaGraph::instantiate(bool for_device) {
  const Current current = context_->make_current();
  cudaGraphInstantiateParams params = {};
  if (for_device) {
    params.flags = cudaGraphInstantiateFlagDeviceLaunch; // which goes with no other
  } else if (has_priorities()) {
    params.flags = cudaGraphInstantiateFlagUseNodePriority;
  }
  cudaGraphExec_t executable = nullptr;
  const cudaError_t result = cudaGraphInstantiateWithParams(&executable, graph_, &params);
  if (result != cudaSuccess) {
    fail(result, "cudaGraphInstantiateWithParams", label_of(params.errNode_out),
         explain(params.result_out));
  }
  std::vector<CallbackParams> calls;
  collect_calls(calls);
  auto owner = std::make_unique<CudaExecutable>(context_, executable, std::move(calls), for_device,
                                                has_updatables());
  disable_nodes(executable, {});
  owner->upload(); // so that the first launch costs no more than the others
  return owner;
}

} // namespace cgrt::cuda
