// Events on a GPU.
#pragma once

#include "cuda/cuda_context.h"
#include "device.h"

#include <memory>

namespace cgrt::cuda {

class CudaEvent : public DeviceEvent {
public:
  /// One that takes the time.
  explicit CudaEvent(std::shared_ptr<const Context> context);
  /// The caller's, who keeps it.
  CudaEvent(std::shared_ptr<const Context> context, cudaEvent_t event)
      : context_(std::move(context)), event_(event) {}
  ~CudaEvent() override;
  CudaEvent(const CudaEvent &) = delete;
  CudaEvent &operator=(const CudaEvent &) = delete;

  cudaEvent_t handle() const { return event_; }
  double milliseconds_to(const DeviceEvent &end) const override;

private:
  std::shared_ptr<const Context> context_;
  cudaEvent_t event_ = nullptr;
  bool owned_ = false;
};

} // namespace cgrt::cuda
