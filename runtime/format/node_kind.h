// The node-kind table as data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cgrt::format {

/// In wire order; the alternatives of Work (program.h) and NodeParams (device.h) stand in it too.
enum class NodeKind : std::uint8_t {
#define CGRT_NODE_KIND(name, id, ...) name = id,
#include "format/node_kinds.def"
};

/// Where a node may stand, as a bit set.
using Places = std::uint8_t;
inline constexpr Places TopLevel = 1;
inline constexpr Places ConditionalBody = 2;
inline constexpr Places DeviceLaunchGraph = 4;

enum class FieldAccess : std::uint8_t { None, Read, Write, ByParameter, ByGraph };
enum class FieldUpdate : std::uint8_t { InPlace, Rebuild };

struct NodeField {
  std::string_view name;
  FieldAccess access;
  FieldUpdate update;
};

struct NodeKindInfo {
  NodeKind kind;
  std::string_view name;     ///< "Kernel"
  std::string_view spelling; ///< "kernel", in IR and DOT
  std::string_view description;
  Places legal_in;
  std::uint32_t least_cuda_version; ///< as CUDART_VERSION
  std::span<const NodeField> fields;
};

std::span<const NodeKindInfo> node_kinds();
const NodeKindInfo &info(NodeKind kind);
std::optional<NodeKind> parse_node_kind(std::string_view spelling);

/// The table as Markdown; docs/node-kinds.md holds exactly this.
std::string node_kinds_markdown();

} // namespace cgrt::format
