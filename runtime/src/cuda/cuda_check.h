// Every call of CUDA goes through one of these.
#pragma once

#include "device.h"

#include <cuda_runtime_api.h>

#include <string_view>

namespace cgrt::cuda {

/// What check() does where `result` is no success.
[[noreturn]] void fail(cudaError_t result, std::string_view call, const NodeLabel &node,
                       std::string_view detail);

/// Throws Error{Device} unless `result` is a success:
///   saxpy.cgraph:18: kernel saxpy: cudaGraphAddNode: invalid argument (cudaErrorInvalidValue)
/// `call` says what was tried; `detail`, where not empty, what else is known. The error does not
/// stay CUDA's last error: that one belongs to the caller's own calls.
inline void check(cudaError_t result, std::string_view call, const NodeLabel &node = {},
                  std::string_view detail = {}) {
  if (result != cudaSuccess) [[unlikely]] {
    fail(result, call, node, detail);
  }
}

/// For destructors, which cannot report: what fails there is either a fault that the last wait
/// reported already, or CUDA's own shutdown.
void check_in_destructor(cudaError_t result) noexcept;

} // namespace cgrt::cuda
