// Typed indices into the vectors of a program.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace cgrt::format {

template <typename Tag> struct Id {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t index = none;

  constexpr bool valid() const { return index != none; }
  constexpr auto operator<=>(const Id &) const = default;
};

using ExprId = Id<struct ExprTag>;
using ParamId = Id<struct ParamTag>;
using BufferId = Id<struct BufferTag>;
using KernelId = Id<struct KernelTag>;
using NodeId = Id<struct NodeTag>;
using GraphId = Id<struct GraphTag>;
using FileId = Id<struct FileTag>;
using ConditionId = Id<struct ConditionTag>;
using EventId = Id<struct EventTag>;
using CallableId = Id<struct CallableTag>;
using LaunchId = Id<struct LaunchTag>;
using UpdatableId = Id<struct UpdatableTag>;

} // namespace cgrt::format
