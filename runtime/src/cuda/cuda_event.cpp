#include "cuda/cuda_event.h"

namespace cgrt::cuda {

CudaEvent::CudaEvent(std::shared_ptr<const Context> context)
    : context_(std::move(context)), owned_(true) {
  const Current current = context_->make_current();
  check(cudaEventCreate(&event_), "cudaEventCreate");
}

CudaEvent::~CudaEvent() {
  if (owned_) {
    const Current current = context_->make_current(std::nothrow);
    check_in_destructor(cudaEventDestroy(event_));
  }
}

double CudaEvent::milliseconds_to(const DeviceEvent &end) const {
  const Current current = context_->make_current();
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, event_, static_cast<const CudaEvent &>(end).event_),
        "cudaEventElapsedTime");
  return milliseconds;
}

} // namespace cgrt::cuda
