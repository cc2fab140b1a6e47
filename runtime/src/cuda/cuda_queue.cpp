#include "cuda/cuda_queue.h"

namespace cgrt::cuda {

CudaQueue::CudaQueue(std::shared_ptr<const Context> context)
    : context_(std::move(context)), owned_(true) {
  const Current current = context_->make_current();
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

CudaQueue::~CudaQueue() {
  const Current current = context_->make_current(std::nothrow);
  if (point_ != nullptr) {
    check_in_destructor(cudaEventDestroy(point_));
  }
  if (owned_) {
    check_in_destructor(cudaStreamDestroy(stream_));
  }
}

void CudaQueue::follow(DeviceQueue &earlier) {
  const Current current = context_->make_current();
  auto &other = static_cast<CudaQueue &>(earlier);
  if (other.stream_ == stream_) {
    return;
  }
  if (other.point_ == nullptr) {
    check(cudaEventCreateWithFlags(&other.point_, cudaEventDisableTiming),
          "cudaEventCreateWithFlags");
  }
  check(cudaEventRecord(other.point_, other.stream_), "cudaEventRecord");
  check(cudaStreamWaitEvent(stream_, other.point_), "cudaStreamWaitEvent");
}

void CudaQueue::wait() {
  const Current current = context_->make_current();
  context_->finish(stream_);
}

} // namespace cgrt::cuda
