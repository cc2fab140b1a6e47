#include "cuda/cuda_check.h"

namespace cgrt::cuda {

void fail(cudaError_t result, std::string_view call, const NodeLabel &node,
          std::string_view detail) {
  static_cast<void>(cudaGetLastError()); // clears it; `result` is what it returns
  std::string message = node.text();
  message += message.empty() ? "" : ": ";
  message.append(call).append(": ").append(cudaGetErrorString(result));
  message.append(" (").append(cudaGetErrorName(result)).append(")");
  if (!detail.empty()) {
    message.append(": ").append(detail);
  }
  throw Error(ErrorCode::Device, message, node.where());
}

void check_in_destructor(cudaError_t result) noexcept {
  if (result != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
  }
}

} // namespace cgrt::cuda
