#include "device_under_test.h"

namespace conformance {

std::uint32_t add(DeviceGraph &graph, const cgrt::NodeParams &params, const Nodes &after,
                  bool enabled) {
  return graph.add_node(params, after, {"node", {"test.cgraph", 1, 1}}, enabled);
}

void run_once(DeviceGraph &graph) {
  const std::unique_ptr<DeviceExecutable> executable = graph.instantiate();
  executable->launch();
  executable->wait();
}

void DeviceUnderTest::SetUp() {
  if (!is_host()) {
    std::string why;
    if (cgrt::cuda_device_count(&why) == 0) {
      GTEST_SKIP() << why;
    }
  }
  device_ = make_device(0);
}

std::unique_ptr<DeviceBackend> DeviceUnderTest::make_device(std::uint64_t seed) const {
  return is_host() ? cgrt::make_host_device({seed, 0}) : cgrt::make_cuda_device(0);
}

std::string DeviceUnderTest::target() const {
  return is_host() ? "host" : cgrt::cuda_device_architecture(0);
}

void KernelsUnderTest::SetUp() {
  DeviceUnderTest::SetUp();
  if (IsSkipped()) {
    return;
  }
  if (const std::string why = why_no_compiler(target()); !why.empty()) {
    GTEST_SKIP() << why;
  }
}

} // namespace conformance
