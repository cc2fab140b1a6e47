// A program's kernels on one GPU.
#pragma once

#include "cuda/cuda_context.h"
#include "cuda/cuda_function.h"
#include "device.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace cgrt::cuda {

/// A loaded image.
class CudaLibrary {
public:
  /// The context is current. Error{Device} where the driver refuses the image.
  CudaLibrary(std::shared_ptr<const Context> context, const format::Image &image);
  ~CudaLibrary();
  CudaLibrary(const CudaLibrary &) = delete;
  CudaLibrary &operator=(const CudaLibrary &) = delete;

  /// Loads one of its kernels, which shows what the code lacks: loading is lazy.
  CudaFunction load(const format::Kernel &kernel, const NodeLabel &label) const;

private:
  std::shared_ptr<const Context> context_;
  std::array<char, 4096> jit_log_{}; ///< the driver may compile PTX as late as its first use
  cudaLibrary_t library_ = nullptr;
};

class CudaCode : public LoadedCode {
public:
  /// Loads for each kernel but external ones the best image that holds it, each image once.
  /// Error{Device} lists what there is where none fits, names the kernel that is missing in its
  /// image, and the parameter whose size is not the declared one.
  CudaCode(const std::shared_ptr<const Context> &context, const format::Program &program);

  const Function &function(format::KernelId kernel) const override {
    return functions_[kernel.index];
  }
  bool holds(format::KernelId kernel) const override {
    return functions_[kernel.index].kernel() != nullptr;
  }

private:
  std::vector<std::unique_ptr<CudaLibrary>> libraries_; ///< parallel to the program's images
  std::vector<CudaFunction> functions_;
};

} // namespace cgrt::cuda
