// The driver's functions, which the CUDA runtime finds: there is no libcuda to link.
#pragma once

#include "cuda/cuda_check.h"

#include <cuda.h>

#include <string>

namespace cgrt::cuda {

/// The version whose signatures cuda.h declares under the names of functions that are older.
inline constexpr unsigned int driver_interface = 12000;

/// Sets `function` to the driver's function of this name, as it is from `version` on. Error{Device}
/// where there is none.
template <typename Function>
void find_driver_function(const char *name, Function &function,
                          unsigned int version = driver_interface) {
  void *found = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  check(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &status),
        std::string("looking for ") + name);
  if (status != cudaDriverEntryPointSuccess) {
    throw Error(ErrorCode::Device, std::string("the CUDA driver has no function ") + name);
  }
  function = reinterpret_cast<Function>(found);
}

/// The driver's and the runtime's error numbers are the same.
inline cudaError_t as_runtime_error(CUresult result) {
  return static_cast<cudaError_t>(result);
}

} // namespace cgrt::cuda
