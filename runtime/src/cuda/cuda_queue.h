// Streams.
#pragma once

#include "cuda/cuda_context.h"
#include "device.h"

#include <memory>

namespace cgrt::cuda {

class CudaQueue : public DeviceQueue {
public:
  /// A stream of its own, which the legacy default stream does not wait for.
  explicit CudaQueue(std::shared_ptr<const Context> context);
  /// The caller's, who keeps it.
  CudaQueue(std::shared_ptr<const Context> context, cudaStream_t stream)
      : context_(std::move(context)), stream_(stream) {}
  ~CudaQueue() override;
  CudaQueue(const CudaQueue &) = delete;
  CudaQueue &operator=(const CudaQueue &) = delete;

  void follow(DeviceQueue &earlier) override;
  void wait() override;

  cudaStream_t stream() const { return stream_; }

private:
  std::shared_ptr<const Context> context_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t point_ = nullptr; ///< for those that follow this one; made when the first does
  bool owned_ = false;
};

} // namespace cgrt::cuda
