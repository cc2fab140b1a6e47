#include "cuda/cuda_context.h"

namespace cgrt::cuda {

namespace {

void require_device(int ordinal) {
  std::string why_none;
  const int count = cuda_device_count(&why_none);
  if (count == 0) {
    throw Error(ErrorCode::Device, "cuda:" + std::to_string(ordinal) + ": " + why_none);
  }
  if (ordinal < 0 || ordinal >= count) {
    throw Error(ErrorCode::Device, "there is no cuda:" + std::to_string(ordinal) +
                                       "; this machine has " + std::to_string(count) +
                                       (count == 1 ? " CUDA device" : " CUDA devices"));
  }
}

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, ordinal), "cudaDeviceGetAttribute");
  return value;
}

} // namespace

PrimaryContext::PrimaryContext(int ordinal) {
  require_device(ordinal);
  // The runtime then holds the context, too, until the process ends, so that the last release does
  // not destroy what the runtime knows of it.
  check(cudaInitDevice(ordinal, 0, 0), "cudaInitDevice");
  find_driver_function("cuDeviceGet", get_device_);
  find_driver_function("cuDevicePrimaryCtxRetain", retain_);
  find_driver_function("cuDevicePrimaryCtxRelease", release_);
  find_driver_function("cuCtxGetCurrent", get_current_);
  find_driver_function("cuCtxPushCurrent", push_);
  find_driver_function("cuCtxPopCurrent", pop_);
  check(as_runtime_error(get_device_(&device_, ordinal)), "cuDeviceGet");
  check(as_runtime_error(retain_(&context_, device_)), "cuDevicePrimaryCtxRetain");
}

PrimaryContext::~PrimaryContext() {
  check_in_destructor(as_runtime_error(release_(device_)));
}

Current::Current(const PrimaryContext &context) : context_(context) {
  check(as_runtime_error(push()), "cuCtxPushCurrent");
}

Current::Current(const PrimaryContext &context, std::nothrow_t) noexcept : context_(context) {
  static_cast<void>(push());
}

CUresult Current::push() noexcept {
  CUcontext now = nullptr;
  if (context_.get_current_(&now) == CUDA_SUCCESS && now == context_.context_) {
    return CUDA_SUCCESS;
  }
  const CUresult result = context_.push_(context_.context_);
  pushed_ = result == CUDA_SUCCESS;
  return result;
}

Current::~Current() {
  CUcontext popped = nullptr;
  if (pushed_) {
    check_in_destructor(as_runtime_error(context_.pop_(&popped)));
  }
}

Context::Context(int ordinal)
    : primary_(ordinal), ordinal_(ordinal), capability_(capability_of(ordinal)),
      max_shared_bytes_(
          static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal))),
      multiprocessors_(attribute(cudaDevAttrMultiProcessorCount, ordinal)) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  name_ = "cuda:" + std::to_string(ordinal) + " " + properties.name;
  find_driver_function("cuGraphLaunch", graph_launch_);
  find_driver_function("cuGraphExecKernelNodeSetParams", set_kernel_params_);
  const Current current = make_current();
  check(cudaDeviceGetStreamPriorityRange(&last_priority_, &first_priority_),
        "cudaDeviceGetStreamPriorityRange");
  // Non-blocking: the caller's work on the legacy default stream orders nothing here.
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  const cudaError_t result = cudaStreamCreateWithFlags(&capture_stream_, cudaStreamNonBlocking);
  if (result != cudaSuccess) {
    check_in_destructor(cudaStreamDestroy(stream_));
    check(result, "cudaStreamCreateWithFlags");
  }
}

Context::~Context() {
  const Current current = make_current(std::nothrow);
  check_in_destructor(cudaStreamDestroy(capture_stream_));
  check_in_destructor(cudaStreamDestroy(stream_));
}

namespace {

/// After these, every call that uses the context fails.
bool is_sticky(cudaError_t result) {
  switch (result) {
  case cudaErrorIllegalAddress:
  case cudaErrorLaunchTimeout:
  case cudaErrorAssert:
  case cudaErrorHardwareStackError:
  case cudaErrorIllegalInstruction:
  case cudaErrorMisalignedAddress:
  case cudaErrorInvalidAddressSpace:
  case cudaErrorInvalidPc:
  case cudaErrorLaunchFailure:
  case cudaErrorECCUncorrectable:
  case cudaErrorTensorMemoryLeak:
  case cudaErrorContextIsDestroyed:
  case cudaErrorExternalDevice:
    return true;
  default:
    return false;
  }
}

} // namespace

void Context::fail(cudaError_t result, std::string_view call) const {
  if (is_sticky(result)) {
    const std::lock_guard lock(losing_);
    if (!is_lost_) {
      why_lost_ = std::string(cudaGetErrorString(result)) + " (" + cudaGetErrorName(result) + ")";
      is_lost_.store(true, std::memory_order_release);
    }
  }
  cuda::fail(result, call, {}, {});
}

void Context::refuse_lost() const {
  throw Error(ErrorCode::Device, name_ + " is lost to this process since a launch ended with: " +
                                     why_lost_ + "; start the process anew");
}

Capability capability_of(int ordinal) {
  return {attribute(cudaDevAttrComputeCapabilityMajor, ordinal),
          attribute(cudaDevAttrComputeCapabilityMinor, ordinal)};
}

} // namespace cgrt::cuda
