// Graphs that a GPU runs.
#pragma once

#include "cuda/cuda_context.h"
#include "cuda/cuda_graph.h"
#include "device.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cgrt::cuda {

class CudaExecutable : public DeviceExecutable {
public:
  /// Takes `executable` over.
  CudaExecutable(std::shared_ptr<const Context> context, cudaGraphExec_t executable,
                 std::vector<CallbackParams> calls, bool for_device, bool has_updatables)
      : context_(std::move(context)), executable_(executable), calls_(std::move(calls)),
        for_device_(for_device), has_updatables_(has_updatables) {}
  ~CudaExecutable() override;
  CudaExecutable(const CudaExecutable &) = delete;
  CudaExecutable &operator=(const CudaExecutable &) = delete;

  void launch(DeviceQueue *queue) override;
  std::uint32_t place(const DeviceGraph &entry, const DeviceGraph &graph,
                      std::uint32_t node) override;
  std::size_t update(std::span<const Update> updates) override;
  std::unique_ptr<PreparedKernels> prepare(std::span<const Update> kernels) override;
  std::uint64_t device_handle(format::LaunchKind) const override {
    return for_device_ ? reinterpret_cast<std::uintptr_t>(executable_) : 0;
  }
  void report() override {}
  /// Returns when it is done: what launches the graph may be on any stream.
  void upload() const;
  void wait() override;

private:
  struct Place {
    CudaGraph *graph; ///< only its scratch memory changes
    std::uint32_t node;
    bool enabled;
    std::uint32_t first, count;                         ///< of nodes_
    std::optional<CUDA_KERNEL_NODE_PARAMS> kernel = {}; ///< as it was changed last
  };

  std::span<const cudaGraphNode_t> nodes_of(const Place &place) const {
    return std::span(nodes_).subspan(place.first, place.count);
  }
  bool update(Place &place, const NodeParams &params, bool enabled);
  cudaError_t update(Place &place, const KernelParams &params);

  std::shared_ptr<const Context> context_;
  cudaGraphExec_t executable_;
  std::vector<CallbackParams> calls_; ///< that its host nodes make
  std::vector<Place> places_;
  std::vector<cudaGraphNode_t> nodes_; ///< of all places
  cudaStream_t last_ = nullptr;        ///< where it was launched
  bool in_flight_ = false;             ///< launched and not waited for here
  bool for_device_;                    ///< kernels may launch it
  bool has_updatables_;                ///< kernels may change its nodes
  std::map<std::pair<const CudaGraph *, std::uint32_t>, std::uint32_t> numbers_; ///< of places
};

} // namespace cgrt::cuda
