#include "cuda/cuda_executable.h"

#include "cuda/cuda_queue.h"

#include <algorithm>
#include <array>

namespace cgrt::cuda {

void CudaExecutable::upload() const {
  check(cudaGraphUpload(executable_, context_->stream()), "cudaGraphUpload");
  context_->finish(context_->stream());
}

CudaExecutable::~CudaExecutable() {
  const Current current = context_->make_current(std::nothrow);
  if (in_flight_ && (!calls_.empty() || for_device_ || has_updatables_)) {
    // Destroying it in flight is safe for CUDA, but it still makes these calls, and kernels launch
    // it or change its nodes.
    check_in_destructor(cudaStreamSynchronize(last_));
  }
  check_in_destructor(cudaGraphExecDestroy(executable_));
}

void CudaExecutable::launch(DeviceQueue *queue) {
  const Current current = context_->make_current();
  last_ = queue == nullptr ? context_->stream() : static_cast<CudaQueue *>(queue)->stream();
  context_->launch(executable_, last_);
  in_flight_ = true;
}

std::uint32_t CudaExecutable::place(const DeviceGraph &entry, const DeviceGraph &graph,
                                    std::uint32_t node) {
  const Current current = context_->make_current();
  auto &owner = const_cast<CudaGraph &>(static_cast<const CudaGraph &>(graph));
  const auto [number, added] =
      numbers_.try_emplace({&owner, node}, static_cast<std::uint32_t>(places_.size()));
  if (!added) {
    return number->second;
  }
  const auto nodes = static_cast<const CudaGraph &>(entry).places_of(owner, node);
  places_.push_back({&owner, node, owner.is_enabled(node),
                     static_cast<std::uint32_t>(nodes_.size()),
                     static_cast<std::uint32_t>(nodes.size())});
  nodes_.insert(nodes_.end(), nodes.begin(), nodes.end());
  return number->second;
}

std::size_t CudaExecutable::update(std::span<const Update> updates) {
  const Current current = context_->make_current();
  for (std::size_t i = 0; i < updates.size(); ++i) {
    if (i + 1 < updates.size()) { // its memory comes while CUDA is at work
      __builtin_prefetch(&places_[updates[i + 1].place]);
      __builtin_prefetch(&places_[updates[i + 1].place].kernel->kern);
    }
    if (!update(places_[updates[i].place], *updates[i].params, updates[i].enabled)) {
      return i;
    }
  }
  const bool has_changed = std::any_of(updates.begin(), updates.end(), [](const Update &update) {
    const auto *kernel = std::get_if<KernelParams>(update.params);
    return kernel != nullptr && kernel->updatable;
  });
  if (for_device_ || has_changed) {
    upload(); // else a launch from the device would still run with the old params
  }
  return updates.size();
}

namespace {

bool has_geometry(const CUDA_KERNEL_NODE_PARAMS &last, const KernelParams &params) {
  return last.gridDimX == params.grid.x && last.gridDimY == params.grid.y &&
         last.gridDimZ == params.grid.z && last.blockDimX == params.block.x &&
         last.blockDimY == params.block.y && last.blockDimZ == params.block.z &&
         last.sharedMemBytes == params.shared_bytes;
}

/// As CUDA takes arguments, of which it only reads.
void write_addresses(const std::vector<std::uint64_t> &arguments, void **to) {
  for (const std::uint64_t &argument : arguments) {
    *to++ = const_cast<std::uint64_t *>(&argument);
  }
}

} // namespace

// Where only arguments change, nothing is asked of the kernel again.
cudaError_t CudaExecutable::update(Place &place, const KernelParams &params) {
  if (!place.kernel || !has_geometry(*place.kernel, params)) {
    place.kernel = place.graph->update_params(place.node, params);
  }
  constexpr std::size_t most = 32; // of more, another place is found
  std::array<void *, most> few;    // NOLINT(cppcoreguidelines-pro-type-member-init): written below
  if (params.arguments.size() <= most) {
    write_addresses(params.arguments, few.data());
    place.kernel->kernelParams = few.data();
  } else {
    place.kernel->kernelParams = place.graph->kernel_arguments(params);
  }
  for (const cudaGraphNode_t node : nodes_of(place)) {
    const cudaError_t result = context_->set_params(executable_, node, *place.kernel);
    if (result != cudaSuccess) {
      return result;
    }
  }
  return cudaSuccess;
}

namespace {

/// All that the calls need, side by side: after a launch it is in no cache any more.
class CudaPreparedKernels : public PreparedKernels {
public:
  CudaPreparedKernels(const Context &context, cudaGraphExec_t executable)
      : context_(context), executable_(executable) {}

  void add(const CUDA_KERNEL_NODE_PARAMS &params, const std::vector<std::uint64_t> &arguments,
           std::span<const cudaGraphNode_t> nodes) {
    auto addresses = std::make_unique<void *[]>(arguments.size());
    write_addresses(arguments, addresses.get());
    for (const cudaGraphNode_t node : nodes) {
      calls_.push_back({node, params});
      calls_.back().params.kernelParams = addresses.get();
      calls_.back().params.ctx = context_.handle(); // so that it need not be current
    }
    arguments_.push_back(std::move(addresses));
  }

  [[gnu::hot]] bool apply() noexcept override {
    for (const Call &call : calls_) {
      if (context_.set_params(executable_, call.node, call.params) != cudaSuccess) [[unlikely]] {
        return false;
      }
    }
    return true;
  }

private:
  struct Call {
    cudaGraphNode_t node;
    CUDA_KERNEL_NODE_PARAMS params;
  };

  const Context &context_;
  cudaGraphExec_t executable_;
  std::vector<Call> calls_;
  std::vector<std::unique_ptr<void *[]>> arguments_;
};

} // namespace

std::unique_ptr<PreparedKernels> CudaExecutable::prepare(std::span<const Update> kernels) {
  const Current current = context_->make_current();
  auto prepared = std::make_unique<CudaPreparedKernels>(*context_, executable_);
  for (const Update &update : kernels) {
    const Place &place = places_[update.place];
    const auto &params = std::get<KernelParams>(*update.params);
    prepared->add(place.graph->update_params(place.node, params), params.arguments,
                  nodes_of(place));
  }
  return prepared;
}

bool CudaExecutable::update(Place &place, const NodeParams &params, bool enabled) {
  cudaError_t result = cudaSuccess;
  bool sets_enabled = enabled != place.enabled;
  if (const auto *kernel = std::get_if<KernelParams>(&params)) {
    result = update(place, *kernel);
    sets_enabled = sets_enabled || kernel->updatable; // a kernel may have changed that
  } else if (std::holds_alternative<CallbackParams>(params) ||
             std::holds_alternative<CapturedParams>(params)) {
    return false; // other arguments are another call
  } else {
    cudaGraphNodeParams node_params = place.graph->update_params(place.node, params);
    for (const cudaGraphNode_t node : nodes_of(place)) {
      if (result == cudaSuccess) {
        result = cudaGraphExecNodeSetParams(executable_, node, &node_params);
      }
    }
  }
  for (const cudaGraphNode_t node : nodes_of(place)) {
    if (sets_enabled && result == cudaSuccess) {
      result = cudaGraphNodeSetEnabled(executable_, node, enabled ? 1 : 0);
    }
  }
  if (result != cudaSuccess) {
    static_cast<void>(cudaGetLastError()); // it is made anew
    return false;
  }
  place.enabled = enabled;
  return true;
}

void CudaExecutable::wait() {
  const Current current = context_->make_current();
  in_flight_ = false;
  context_->finish(context_->stream());
}

} // namespace cgrt::cuda
