// The driver's functions, which tests find as cgrt does: there is no libcuda to link.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace cgrt::testing {

template <typename Function> Function driver_function(const char *name) {
  void *found = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &status),
            cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSuccess) << name;
  return reinterpret_cast<Function>(found);
}

/// The context that the driver has for this thread.
inline CUcontext current_context() {
  CUcontext context = nullptr;
  EXPECT_EQ(driver_function<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent")(&context), CUDA_SUCCESS);
  return context;
}

} // namespace cgrt::testing
