// What stands in for a device in tests of the graph builder.
#pragma once

#include "bindings.h"
#include "device.h"

#include <array>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cgrt::testing {

struct Recorded {
  NodeParams params;
  std::vector<std::uint32_t> dependencies;
  NodeLabel label;
  bool enabled;
};

/// A device graph that only remembers.
class RecordingGraph : public DeviceGraph {
public:
  std::uint32_t add_node(const NodeParams &params, std::span<const std::uint32_t> dependencies,
                         NodeLabel label, bool enabled) override {
    nodes.push_back(
        {params, {dependencies.begin(), dependencies.end()}, std::move(label), enabled});
    return static_cast<std::uint32_t>(nodes.size() - 1);
  }
  std::uint64_t create_condition(std::uint32_t initial) override {
    conditions.push_back(initial);
    return 1000 + conditions.size();
  }
  DeviceGraph &body(std::uint32_t node, std::uint32_t index) override {
    return *bodies.try_emplace({node, index}, std::make_unique<RecordingGraph>()).first->second;
  }
  std::uint64_t updatable_handle(std::uint32_t node) const override { return 1000 + node; }
  std::unique_ptr<DeviceExecutable> instantiate(bool) override { return nullptr; }

  std::vector<Recorded> nodes;
  std::vector<std::uint32_t> conditions; ///< what each is at the beginning; handles are 1001, …
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<RecordingGraph>> bodies;
};

/// Of a program without functions and events.
inline const Bindings no_bindings;

class FakeCode : public LoadedCode {
public:
  const Function &function(format::KernelId kernel) const override {
    return functions[kernel.index];
  }
  bool holds(format::KernelId) const override { return true; }
  std::array<Function, 2> functions;
};

} // namespace cgrt::testing
