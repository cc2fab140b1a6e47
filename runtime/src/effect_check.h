// Runs a graph node by node and holds its kernels to the modes of their parameters.
#pragma once

#include "device.h"
#include "format/program.h"
#include "graph_builder.h"
#include "watched_memory.h"

#include <cgrt/cgrt.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace cgrt {

/// Each node runs as a graph of its own. Branches and loops are followed here: the kernel that sets
/// a condition runs in a graph with a conditional node whose bodies leave a mark. Kernels that set
/// conditions come from the compiler and are not checked.
class EffectCheck {
public:
  /// Everything must outlive this object; `buffers` is parallel to the program's.
  EffectCheck(const format::Program &program, const GraphBuilder &builder, DeviceBackend &device,
              std::span<const PlacedBuffer> buffers);

  /// As one launch of this entry graph does, from its conditions' initial values on. Throws what a
  /// callback threw once everything has run.
  EffectReport run(format::GraphId entry);

private:
  /// File, line, column, kernel, kind and parameter.
  using FaultKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string,
                              EffectFault::Kind, std::string>;

  /// What the condition's value asks for; none: nothing.
  format::GraphId chosen_body(const format::ConditionalWork &work) const;
  void run(const format::Node &node);
  void check(const format::Node &node);
  /// Runs a kernel that sets conditions and finds out their values.
  void set_conditions(const format::Node &node, const std::vector<format::ConditionId> &conditions);
  /// What shows the value of the condition that kernel node 0 of `probe` sets.
  std::uint32_t add_mark(format::ConditionId condition, std::uint64_t handle, std::uint32_t after,
                         DeviceGraph &probe);
  DeviceExecutable &alone(const format::Node &node);
  void look_at_effects(const format::Node &node);

  const format::Program &program_;
  const GraphBuilder &builder_;
  DeviceBackend &device_;
  WatchedMemory memory_;
  std::vector<const format::ConditionalWork *> deciders_; ///< by the condition's index
  std::vector<std::uint32_t> values_;                     ///< likewise; of an If and a While 0 or 1
  std::unique_ptr<Memory> marks_; ///< likewise, u32: 0, or 1 + the body that ran
  /// For the next iteration.
  std::map<const format::Node *, std::unique_ptr<DeviceExecutable>> executables_;
  std::set<FaultKey> known_;
  std::shared_ptr<CallbackFailures> failures_ = std::make_shared<CallbackFailures>();
  EffectReport report_;
};

} // namespace cgrt
