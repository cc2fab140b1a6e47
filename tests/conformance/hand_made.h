// Programs written by hand, node by node, for tests of what graphs do on a device.
#pragma once

#include <cgrt/cgrt.h>

#include "format/program.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace conformance {

/// Begin and count in each dimension.
using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

class HandMade {
public:
  /// With the kernels of `program`.
  explicit HandMade(cgrt::format::Program program = {}) : program_(std::move(program)) {}

  cgrt::format::ExprId number(std::int64_t value) {
    return program_.exprs.constant(cgrt::format::Value::of(value));
  }

  /// An i64 that the caller gives.
  cgrt::format::ExprId param(const std::string &name) {
    const cgrt::format::ParamId id{static_cast<std::uint32_t>(program_.params.size())};
    program_.params.push_back({name, cgrt::ScalarType::I64, {}, {}});
    return program_.exprs.parameter(id, cgrt::ScalarType::I64);
  }

  /// `left` must be at most `right`.
  void check(cgrt::format::ExprId left, cgrt::format::ExprId right, const std::string &message) {
    program_.checks.push_back(
        {left, cgrt::format::Check::Relation::LessEqual, right, "range", message, {}});
  }

  /// A buffer that the caller fills and reads; returns its index.
  std::uint32_t buffer(const std::string &name, const std::vector<std::int64_t> &extents,
                       cgrt::ScalarType type = cgrt::ScalarType::U32,
                       cgrt::MemorySpace space = cgrt::MemorySpace::Device);

  cgrt::format::Region box(std::uint32_t buffer, const Ranges &ranges);
  cgrt::format::Region whole(std::uint32_t buffer);

  /// A launch of one block of one thread.
  cgrt::format::KernelWork launch(std::uint32_t kernel,
                                  std::vector<cgrt::format::Argument> arguments);

  /// Decides one conditional node; kernels take its handle as a u64.
  cgrt::format::ConditionId condition(std::uint32_t initial = 0);
  /// Adds a conditional node to the graph.
  std::uint32_t conditional(cgrt::format::ConditionalType type, cgrt::format::ConditionId condition,
                            const std::vector<std::uint32_t> &bodies,
                            const std::vector<std::uint32_t> &after = {});

  /// A timing event, or one of the caller's.
  cgrt::format::EventId event(const std::string &name, bool external = false);
  cgrt::format::CallableId function(const std::string &name, cgrt::format::CallableKind kind,
                                    std::vector<cgrt::format::KernelParam> params);

  /// Starts a graph, to which nodes are added from now on; returns its index.
  std::uint32_t graph(const std::string &name, bool entry = true);
  /// Adds a node to it; returns its index.
  std::uint32_t node(cgrt::format::Work work, const std::vector<std::uint32_t> &after = {});

  /// As the runtime takes it. Throws where the program is not sound.
  cgrt::Program finish() const;

private:
  cgrt::format::Program program_;
};

/// The elements of a buffer.
std::vector<std::uint32_t> read_words(const cgrt::Instance &instance, const std::string &name);
void write_words(cgrt::Instance &instance, const std::string &name,
                 const std::vector<std::uint32_t> &values);

} // namespace conformance
