#include "format/node_kind.h"

#include <array>
#include <vector>

namespace cgrt::format {

namespace {

struct FieldEntry {
  NodeKind kind;
  NodeField field;
};

// The table lists a kind's fields one after the other, so each kind's are a contiguous range.
constexpr auto fields = std::to_array<FieldEntry>({
#define CGRT_NODE_FIELD(kind, type, member, access, update)                                        \
  {NodeKind::kind, {#member, FieldAccess::access, FieldUpdate::update}},
#include "format/node_kinds.def"
});

constexpr auto field_values = [] {
  std::array<NodeField, fields.size()> values{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    values[i] = fields[i].field;
  }
  return values;
}();

constexpr std::span<const NodeField> fields_of(NodeKind kind) {
  std::size_t first = 0;
  while (first < fields.size() && fields[first].kind != kind) {
    ++first;
  }
  std::size_t last = first;
  while (last < fields.size() && fields[last].kind == kind) {
    ++last;
  }
  return std::span(field_values).subspan(first, last - first);
}

constexpr auto kinds = std::to_array<NodeKindInfo>({
#define CGRT_NODE_KIND(name, id, spelling, legal_in, least_cuda, description)                      \
  {NodeKind::name, #name, spelling, description, legal_in, least_cuda, fields_of(NodeKind::name)},
#include "format/node_kinds.def"
});

#define CGRT_NODE_KIND(name, id, ...)                                                              \
  static_assert(kinds[id].kind == NodeKind::name, "wire ids count from 0 in the table's order");
#include "format/node_kinds.def"

std::string places_text(Places places) {
  std::string text;
  const auto add = [&](Places place, std::string_view name) {
    if ((places & place) != 0) {
      text += text.empty() ? "" : ", ";
      text += name;
    }
  };
  add(TopLevel, "top level");
  add(ConditionalBody, "conditional body");
  add(DeviceLaunchGraph, "device-launch graph");
  return text;
}

std::string_view access_text(FieldAccess access) {
  switch (access) {
  case FieldAccess::None:
    return "";
  case FieldAccess::Read:
    return " (reads)";
  case FieldAccess::Write:
    return " (writes)";
  case FieldAccess::ByParameter:
    return " (as declared)";
  case FieldAccess::ByGraph:
    return " (as its nodes do)";
  }
  return "";
}

} // namespace

std::span<const NodeKindInfo> node_kinds() {
  return kinds;
}

const NodeKindInfo &info(NodeKind kind) {
  return kinds[static_cast<std::size_t>(kind)];
}

std::optional<NodeKind> parse_node_kind(std::string_view spelling) {
  for (const NodeKindInfo &kind : kinds) {
    if (kind.spelling == spelling) {
      return kind.kind;
    }
  }
  return std::nullopt;
}

std::string node_kinds_markdown() {
  std::string text =
      "| kind | what it is | legal in | least CUDA | updated in place | needs a rebuild |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  for (const NodeKindInfo &kind : kinds) {
    std::string in_place;
    std::string rebuild;
    for (const NodeField &field : kind.fields) {
      std::string &list = field.update == FieldUpdate::InPlace ? in_place : rebuild;
      list += list.empty() ? "" : ", ";
      list += field.name;
      list += access_text(field.access);
    }
    const std::uint32_t version = kind.least_cuda_version;
    text += "| `" + std::string(kind.spelling) + "` | " + std::string(kind.description) + " | " +
            places_text(kind.legal_in) + " | " + std::to_string(version / 1000) + "." +
            std::to_string(version % 1000 / 10) + " | " + in_place + " | " + rebuild + " |\n";
  }
  return text;
}

} // namespace cgrt::format
