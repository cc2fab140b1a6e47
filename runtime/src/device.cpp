#include "device.h"

#include <cgrt/cgrt.h>

namespace cgrt {

Device::Device(std::shared_ptr<DeviceBackend> backend, bool is_cuda)
    : backend_(std::move(backend)), is_cuda_(is_cuda) {}

Device Device::host(const HostOptions &options) {
  return {make_host_device({options.seed, options.threads}), false};
}

Device Device::cuda(int ordinal) {
  return {make_cuda_device(ordinal), true};
}

Device Device::automatic(const HostOptions &options, std::string *why_host) {
  std::string reason;
  if (cuda_device_count(&reason) > 0) {
    try {
      return cuda(0);
    } catch (const Error &error) {
      reason = error.what();
    }
  }
  if (why_host != nullptr) {
    *why_host = reason;
  }
  return host(options);
}

std::string Device::name() const {
  return backend_->name();
}
bool Device::is_cuda() const {
  return is_cuda_;
}

} // namespace cgrt
