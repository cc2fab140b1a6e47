// Stands in for src/cuda/ where the library is built without a CUDA Toolkit.
#include "device.h"

namespace cgrt {

namespace {
constexpr const char *reason = "this build of cgrt has no CUDA device: it was configured without a "
                               "CUDA Toolkit";
}

std::unique_ptr<DeviceBackend> make_cuda_device(int /*ordinal*/) {
  throw Error(ErrorCode::Device, reason);
}

int cuda_device_count(std::string *why_none) {
  if (why_none != nullptr) {
    *why_none = reason;
  }
  return 0;
}

std::string cuda_device_architecture(int /*ordinal*/) {
  throw Error(ErrorCode::Device, reason);
}

} // namespace cgrt
