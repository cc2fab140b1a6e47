// The device that is always there: the CPU, as an oracle for the graph's edges and kernels.
#pragma once

#include "device.h"
#include "host/kernel_runner.h"

namespace cgrt {

/// What it makes (graphs and executables) must be destroyed before it. Launches are done when
/// launch() returns; what went wrong in one is reported by wait().
class HostDevice : public DeviceBackend {
public:
  explicit HostDevice(const HostDeviceOptions &options);

  std::string name() const override { return "host"; }
  std::unique_ptr<Memory> allocate(MemorySpace space, std::size_t bytes) override;
  void copy(std::byte *destination, const std::byte *source, std::size_t bytes) override;
  std::unique_ptr<LoadedCode> load(const format::Program &program) override;
  std::unique_ptr<DeviceGraph> create_graph() override;
  std::unique_ptr<DeviceEvent> create_event() override;
  std::unique_ptr<DeviceEvent> wrap_event(CUevent_st *event) override;
  std::unique_ptr<DeviceQueue> create_queue() override;
  std::unique_ptr<DeviceQueue> wrap_queue(CUstream_st *stream) override;
  std::string why_not_usable(MemorySpace, const std::byte *, std::size_t, bool) const override {
    return {}; // whatever the process may touch
  }
  std::unique_ptr<Function> wrap_kernel(const format::Kernel &kernel, const void *function,
                                        const NodeLabel &label) override;

private:
  std::uint64_t seed_;
  KernelRunner kernels_;
};

} // namespace cgrt
