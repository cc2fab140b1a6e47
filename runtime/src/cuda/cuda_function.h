// Kernels on one GPU: those of loaded images, and the caller's own.
#pragma once

#include "cuda/cuda_context.h"
#include "device.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace cgrt::cuda {

class CudaFunction : public Function {
public:
  enum class Owner : std::uint8_t { Program, Caller };

  CudaFunction(cudaKernel_t kernel, const cudaFuncAttributes &attributes,
               Owner owner = Owner::Program)
      : kernel_(kernel), attributes_(attributes), owner_(owner),
        allowed_dynamic_bytes_(static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes)) {}

  /// As the graph and attribute calls take it.
  void *handle() const { return kernel_; }
  cudaKernel_t kernel() const { return kernel_; }

  /// Error{Device} at `node` where a block of this size, or with this much dynamic shared memory,
  /// cannot run on this GPU. Raises the kernel's limit of dynamic shared memory where that is
  /// needed. The context is current.
  void prepare(const KernelParams &params, const Context &context, const NodeLabel &node) const;

private:
  cudaKernel_t kernel_;
  cudaFuncAttributes attributes_;
  Owner owner_;
  mutable std::size_t allowed_dynamic_bytes_; ///< what the driver has been told; only ever grows
};

/// Where a parameter has another size in the code than its kernel declares, CUDA would read other
/// bytes, and beyond the last one's.
class ParameterCheck {
public:
  /// `code` is what errors call it: "the code"; they are of the kind `blame`.
  explicit ParameterCheck(std::string code, ErrorCode blame);

  void operator()(cudaKernel_t handle, const format::Kernel &kernel, const NodeLabel &label) const;

private:
  std::optional<std::size_t> size_of(cudaKernel_t handle, std::size_t index,
                                     const NodeLabel &label) const;
  [[noreturn]] void refuse(const NodeLabel &label, const std::string &why) const;

  std::string code_;
  ErrorCode blame_;
  decltype(&cuKernelGetParamInfo) get_info_ = nullptr;
};

/// DeviceBackend::wrap_kernel(). The context is current.
std::unique_ptr<Function> wrap_function(const format::Kernel &kernel, const void *function,
                                        const NodeLabel &label);

} // namespace cgrt::cuda
