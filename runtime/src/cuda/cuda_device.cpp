#include "cuda/cuda_code.h"
#include "cuda/cuda_context.h"
#include "cuda/cuda_event.h"
#include "cuda/cuda_graph.h"
#include "cuda/cuda_queue.h"
#include "device.h"

#include <algorithm>

namespace cgrt {

namespace cuda {

namespace {

class CudaMemory : public Memory {
public:
  CudaMemory(std::shared_ptr<const Context> context, MemorySpace space, std::size_t bytes)
      : context_(std::move(context)), space_(space), size_(bytes) {
    // Never empty, so that every buffer has an address that a node may name.
    const std::size_t allocated = std::max<std::size_t>(bytes, 1);
    const Current current = context_->make_current();
    if (space_ == MemorySpace::Device) {
      check(cudaMalloc(&data_, allocated), "cudaMalloc", what());
    } else {
      // Any of it may be given to kernels, by the address that the host has for it.
      check(cudaHostAlloc(&data_, allocated, cudaHostAllocMapped), "cudaHostAlloc", what());
    }
  }

  ~CudaMemory() override {
    const Current current = context_->make_current(std::nothrow);
    check_in_destructor(space_ == MemorySpace::Device ? cudaFree(data_) : cudaFreeHost(data_));
  }

  CudaMemory(const CudaMemory &) = delete;
  CudaMemory &operator=(const CudaMemory &) = delete;

  std::byte *data() const override { return static_cast<std::byte *>(data_); }
  std::size_t size() const override { return size_; }

private:
  NodeLabel what() const {
    return {context_->name() + ": " + std::to_string(size_) + " bytes of " +
                (space_ == MemorySpace::Device ? "device" : "pinned host") + " memory",
            {}};
  }

  std::shared_ptr<const Context> context_;
  MemorySpace space_;
  std::size_t size_;
  void *data_ = nullptr;
};

class CudaDevice : public DeviceBackend {
public:
  explicit CudaDevice(int ordinal) : context_(std::make_shared<const Context>(ordinal)) {}

  std::string name() const override { return context_->name(); }

  std::unique_ptr<Memory> allocate(MemorySpace space, std::size_t bytes) override {
    return std::make_unique<CudaMemory>(context_, space, bytes);
  }

  void copy(std::byte *destination, const std::byte *source, std::size_t bytes) override {
    const Current current = context_->make_current();
    if (bytes != 0) {
      check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, context_->stream()),
            "cudaMemcpyAsync");
    }
    context_->finish(context_->stream());
  }

  std::unique_ptr<LoadedCode> load(const format::Program &program) override {
    return std::make_unique<CudaCode>(context_, program);
  }

  std::unique_ptr<DeviceGraph> create_graph() override {
    return std::make_unique<CudaGraph>(context_);
  }

  std::unique_ptr<DeviceEvent> create_event() override {
    return std::make_unique<CudaEvent>(context_);
  }

  std::unique_ptr<DeviceEvent> wrap_event(CUevent_st *event) override {
    return std::make_unique<CudaEvent>(context_, event);
  }

  std::unique_ptr<DeviceQueue> create_queue() override {
    return std::make_unique<CudaQueue>(context_);
  }

  std::unique_ptr<DeviceQueue> wrap_queue(CUstream_st *stream) override {
    return std::make_unique<CudaQueue>(context_, stream);
  }

  std::string why_not_usable(MemorySpace space, const std::byte *data, std::size_t bytes,
                             bool mapped) const override {
    const Current current = context_->make_current();
    cudaPointerAttributes first = {};
    cudaPointerAttributes last = {};
    if (cudaPointerGetAttributes(&first, data) != cudaSuccess ||
        cudaPointerGetAttributes(&last, data + bytes - 1) != cudaSuccess) {
      static_cast<void>(cudaGetLastError()); // it is reported here and not the caller's
      return "CUDA does not know it";
    }
    if (space == MemorySpace::Device) {
      const bool is_device =
          first.type == cudaMemoryTypeDevice || first.type == cudaMemoryTypeManaged;
      return !is_device                ? "it is no device memory"
             : first.type != last.type ? "not all of it is device memory"
             : first.device != context_->ordinal() && first.type == cudaMemoryTypeDevice
                 ? "it is memory of cuda:" + std::to_string(first.device)
                 : "";
    }
    // Graphs copy pageable memory as early as in the launch call, and in bodies not at all.
    if (first.type != cudaMemoryTypeHost || last.type != cudaMemoryTypeHost) {
      return "it is not pinned; allocate it with cudaHostAlloc or give it to cudaHostRegister";
    }
    return mapped && first.devicePointer != data ? "it is not mapped into the GPU's addresses" : "";
  }

  std::unique_ptr<Function> wrap_kernel(const format::Kernel &kernel, const void *function,
                                        const NodeLabel &label) override {
    const Current current = context_->make_current();
    return wrap_function(kernel, function, label);
  }

private:
  std::shared_ptr<const Context> context_;
};

std::string why_no_device(cudaError_t result) {
  // Without a driver the runtime calls it too old.
  int driver = 0;
  const bool known = cudaDriverGetVersion(&driver) == cudaSuccess;
  if (known && driver == 0) {
    return "no CUDA driver is installed";
  }
  if (result == cudaErrorInsufficientDriver) {
    const auto version = [](int number) {
      return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
    };
    return "the CUDA driver is for CUDA " + version(driver) + "; this program needs " +
           version(CUDART_VERSION);
  }
  if (result == cudaSuccess || result == cudaErrorNoDevice) {
    return "there is no CUDA device";
  }
  return std::string("CUDA cannot be used: ") + cudaGetErrorString(result) + " (" +
         cudaGetErrorName(result) + ")";
}

} // namespace

} // namespace cuda

std::unique_ptr<DeviceBackend> make_cuda_device(int ordinal) {
  return std::make_unique<cuda::CudaDevice>(ordinal);
}

int cuda_device_count(std::string *why_none) {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess && count > 0) {
    return count;
  }
  if (why_none != nullptr) {
    *why_none = cuda::why_no_device(result);
  }
  static_cast<void>(cudaGetLastError()); // it is reported above and not the caller's
  return 0;
}

std::string cuda_device_architecture(int ordinal) {
  const cuda::Capability capability = cuda::capability_of(ordinal);
  return "sm_" + std::to_string(capability.major) + std::to_string(capability.minor);
}

} // namespace cgrt
