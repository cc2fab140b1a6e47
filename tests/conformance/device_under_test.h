// What the conformance tests stand on: a device, arrays in its memory, and short ways to make
// nodes. Every suite runs for "host" and for "cuda"; without a GPU the latter's tests are skipped
// with the reason.
#pragma once

#include "device.h"
#include "kernel_program.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace conformance {

using cgrt::DeviceBackend;
using cgrt::DeviceExecutable;
using cgrt::DeviceGraph;
using cgrt::Dim3;
using cgrt::MemorySpace;

/// A typed block of a device's memory.
template <typename T> class Array {
public:
  Array(DeviceBackend &device, const std::vector<T> &values,
        MemorySpace space = MemorySpace::Device)
      : device_(device), memory_(device.allocate(space, values.size() * sizeof(T))),
        count_(values.size()) {
    write(values);
  }
  /// Not written to.
  static Array fresh(DeviceBackend &device, std::size_t count,
                     MemorySpace space = MemorySpace::Device) {
    return Array(device, device.allocate(space, count * sizeof(T)), count);
  }

  void write(const std::vector<T> &values) {
    device_.copy(memory_->data(), reinterpret_cast<const std::byte *>(values.data()),
                 count_ * sizeof(T));
  }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    device_.copy(reinterpret_cast<std::byte *>(values.data()), memory_->data(), count_ * sizeof(T));
    return values;
  }

  std::byte *data(std::size_t element = 0) const { return memory_->data() + element * sizeof(T); }
  /// As a kernel argument.
  std::uint64_t slot(std::size_t element = 0) const {
    return reinterpret_cast<std::uintptr_t>(data(element));
  }

private:
  Array(DeviceBackend &device, std::unique_ptr<cgrt::Memory> memory, std::size_t count)
      : device_(device), memory_(std::move(memory)), count_(count) {}

  DeviceBackend &device_;
  std::unique_ptr<cgrt::Memory> memory_;
  std::size_t count_;
};

/// A scalar as a kernel argument.
template <typename T> std::uint64_t slot(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// Compiled and loaded kernels.
class Kernels {
public:
  Kernels(DeviceBackend &device, const cgrt::format::Program &program)
      : code_(device.load(program)) {}

  const cgrt::Function &operator[](std::uint32_t index) const { return code_->function({index}); }

private:
  std::unique_ptr<cgrt::LoadedCode> code_;
};

using Nodes = std::vector<std::uint32_t>;

/// Adds a node; errors call it "node" and place it at test.cgraph:1.
std::uint32_t add(DeviceGraph &graph, const cgrt::NodeParams &params, const Nodes &after = {},
                  bool enabled = true);

/// Instantiates, launches once and waits.
void run_once(DeviceGraph &graph);

class DeviceUnderTest : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override;

  bool is_host() const { return GetParam() == "host"; }
  DeviceBackend &device() { return *device_; }
  /// Another device of the same kind; the seed counts on the host.
  std::unique_ptr<DeviceBackend> make_device(std::uint64_t seed) const;
  /// What kernels are compiled for.
  std::string target() const;

private:
  std::unique_ptr<DeviceBackend> device_;
};

/// For tests with kernels: skipped where their compiler is missing.
class KernelsUnderTest : public DeviceUnderTest {
protected:
  void SetUp() override;

  Kernels load(const std::vector<KernelText> &kernels) {
    return {device(), compile(kernels, target())};
  }
};

/// Instantiates a suite for every kind of device.
#define CONFORMANCE_SUITE(suite)                                                                   \
  INSTANTIATE_TEST_SUITE_P(Device, suite, testing::Values("host", "cuda"),                         \
                           [](const auto &parameter) { return parameter.param; })

} // namespace conformance
