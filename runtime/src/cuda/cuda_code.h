// A program's kernels on one GPU.
#pragma once

#include "cuda/cuda_context.h"
#include "device.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace cgrt::cuda {

/// A loaded kernel.
class CudaFunction : public Function {
public:
  CudaFunction(cudaKernel_t kernel, const cudaFuncAttributes &attributes)
      : kernel_(kernel), attributes_(attributes),
        allowed_dynamic_bytes_(static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes)) {}

  /// As the graph and attribute calls take it.
  void *handle() const { return kernel_; }

  /// Error{Device} at `node` where a block of this size, or with this much dynamic shared memory,
  /// cannot run on this GPU. Raises the kernel's limit of dynamic shared memory where that is
  /// needed. The context is current.
  void prepare(const KernelParams &params, const Context &context, const NodeLabel &node) const;

private:
  cudaKernel_t kernel_;
  cudaFuncAttributes attributes_;
  mutable std::size_t allowed_dynamic_bytes_; ///< what the driver has been told; only ever grows
};

class CudaCode : public LoadedCode {
public:
  /// Loads the cubin made for this GPU, else PTX that it can compile. Error{Device} lists what
  /// there is where none fits, and names the kernel that is missing in the image.
  CudaCode(std::shared_ptr<const Context> context, const format::Program &program);
  ~CudaCode() override;
  CudaCode(const CudaCode &) = delete;
  CudaCode &operator=(const CudaCode &) = delete;

  const Function &function(format::KernelId kernel) const override {
    return functions_[kernel.index];
  }

private:
  void load_library(const format::Image &image);
  void load_functions(const format::Program &program);

  std::shared_ptr<const Context> context_;
  std::array<char, 4096> jit_log_{}; ///< the driver may compile PTX as late as its first use
  cudaLibrary_t library_ = nullptr;  ///< null for a program without kernels
  std::vector<CudaFunction> functions_;
};

} // namespace cgrt::cuda
