#include "host/host_device.h"

#include "host/guarded_memory.h"
#include "host/host_code.h"
#include "host/host_graph.h"

#include <cstring>
#include <new>

namespace cgrt {

namespace {

/// Host and device memory are the same here.
class HostMemory : public Memory {
public:
  explicit HostMemory(std::size_t bytes) : memory_(bytes) {}

  std::byte *data() const override { return memory_.data(); }
  std::size_t size() const override { return memory_.size(); }

private:
  GuardedMemory memory_;
};

} // namespace

HostDevice::HostDevice(const HostDeviceOptions &options)
    : seed_(options.seed), kernels_(options.threads) {}

std::unique_ptr<Memory> HostDevice::allocate(MemorySpace /*space*/, std::size_t bytes) {
  try {
    return std::make_unique<HostMemory>(bytes);
  } catch (const std::bad_alloc &) {
    throw Error(ErrorCode::Device,
                "host: no memory for a buffer of " + std::to_string(bytes) + " bytes");
  }
}

void HostDevice::copy(std::byte *destination, const std::byte *source, std::size_t bytes) {
  std::memmove(destination, source, bytes);
}

std::unique_ptr<LoadedCode> HostDevice::load(const format::Program &program) {
  return std::make_unique<HostCode>(program);
}

std::unique_ptr<DeviceGraph> HostDevice::create_graph() {
  return std::make_unique<HostGraph>(kernels_, seed_);
}

std::unique_ptr<DeviceEvent> HostDevice::create_event() {
  return std::make_unique<HostEvent>();
}

std::unique_ptr<DeviceEvent> HostDevice::wrap_event(CUevent_st * /*event*/) {
  return std::make_unique<HostEvent>(); // a launch is over when it returns: nobody waits for it
}

std::unique_ptr<DeviceQueue> HostDevice::create_queue() {
  return std::make_unique<HostQueue>();
}

std::unique_ptr<DeviceQueue> HostDevice::wrap_queue(CUstream_st * /*stream*/) {
  return create_queue();
}

std::unique_ptr<Function> HostDevice::wrap_kernel(const format::Kernel & /*kernel*/,
                                                  const void * /*function*/,
                                                  const NodeLabel & /*label*/) {
  return nullptr;
}

std::unique_ptr<DeviceBackend> make_host_device(const HostDeviceOptions &options) {
  return std::make_unique<HostDevice>(options);
}

} // namespace cgrt
