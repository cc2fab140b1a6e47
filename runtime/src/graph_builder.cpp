#include "graph_builder.h"

#include "format/geometry.h"

#include <algorithm>

namespace cgrt {

namespace {

[[noreturn]] void refuse(const NodeLabel &label, const std::string &why, std::string_view slug) {
  throw Error(ErrorCode::InvalidValue, label.text + ": " + why + " [" + std::string(slug) + "]",
              label.where);
}

Dim3 to_dim3(const std::array<std::int64_t, 3> &extents) {
  return {static_cast<std::uint32_t>(extents[0]), static_cast<std::uint32_t>(extents[1]),
          static_cast<std::uint32_t>(extents[2])};
}

} // namespace

std::vector<std::unique_ptr<DeviceGraph>> GraphBuilder::build(format::GraphId graph,
                                                              const CreateGraph &create) const {
  // A child stands before the graphs that use it, so one pass down finds all, one up builds them.
  std::vector<bool> needed(graph.index + 1, false);
  needed[graph.index] = true;
  for (std::uint32_t index = graph.index + 1; index-- > 0;) {
    if (needed[index]) {
      for (const format::Node &node : program_.graphs[index].nodes) {
        if (const auto *child = std::get_if<format::ChildWork>(&node.work)) {
          needed[child->graph.index] = true;
        }
      }
    }
  }
  std::vector<std::unique_ptr<DeviceGraph>> graphs;
  Built built(needed.size(), nullptr);
  for (std::uint32_t index = 0; index <= graph.index; ++index) {
    if (needed[index]) {
      graphs.push_back(create());
      add_nodes(program_.graphs[index], built, *graphs.back());
      built[index] = graphs.back().get();
    }
  }
  return graphs;
}

void GraphBuilder::add_nodes(const format::Graph &graph, const Built &built,
                             DeviceGraph &target) const {
  std::vector<std::uint32_t> added;
  added.reserve(graph.nodes.size());
  std::vector<std::uint32_t> dependencies;
  for (const format::Node &node : graph.nodes) {
    NodeLabel label{format::describe(program_, node), program_.locate(node.place)};
    const Resolved resolved =
        std::visit([&](const auto &work) { return resolve(work, built, label); }, node.work);
    dependencies.clear();
    for (const format::Dependency &dependency : node.dependencies) {
      dependencies.push_back(added[dependency.node.index]);
    }
    added.push_back(
        target.add_node(resolved.params, dependencies, std::move(label), resolved.enabled));
  }
}

GraphBuilder::Resolved GraphBuilder::resolve(const format::KernelWork &work, const Built &,
                                             const NodeLabel &label) const {
  constexpr std::array<std::string_view, 3> grid_roles = {"grid.x", "grid.y", "grid.z"};
  constexpr std::array<std::string_view, 3> block_roles = {"block.x", "block.y", "block.z"};
  format::Geometry geometry;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    geometry.grid[axis] =
        parameters_.integer(work.grid[axis], {label.text, grid_roles[axis], label.where});
    geometry.block[axis] =
        parameters_.integer(work.block[axis], {label.text, block_roles[axis], label.where});
  }
  geometry.shared_bytes =
      parameters_.integer(work.shared_bytes, {label.text, "shared memory", label.where});
  if (const auto problem = format::geometry_problem(geometry)) {
    refuse(label, *problem, "geometry");
  }
  const bool enabled = !geometry.empty();
  if (!enabled) {
    geometry.grid = {1, 1, 1};
  }
  return {KernelParams{&code_.function(work.kernel),
                       to_dim3(geometry.grid),
                       to_dim3(geometry.block),
                       static_cast<std::uint32_t>(geometry.shared_bytes),
                       arguments(work, label),
                       {}},
          enabled};
}

GraphBuilder::Resolved GraphBuilder::resolve(const format::CopyWork &work, const Built &,
                                             const NodeLabel &label) const {
  const ResolvedRegion destination = region(work.destination, label);
  const ResolvedRegion source = region(work.source, label);
  if (destination.count != source.count) {
    refuse(label,
           "the destination has " + std::to_string(destination.count) +
               " elements, the source has " + std::to_string(source.count),
           "shape");
  }
  if (source.count == 0) {
    return {CopyParams{placeholder_, placeholder_ + placeholder_bytes / 2, 1}, false};
  }
  if (work.destination.buffer == work.source.buffer &&
      std::abs(destination.offset - source.offset) < source.count) {
    refuse(label, "the source and the destination overlap", "alias");
  }
  return {CopyParams{destination.data, source.data, source.bytes}};
}

GraphBuilder::Resolved GraphBuilder::resolve(const format::FillWork &work, const Built &,
                                             const NodeLabel &label) const {
  const ScalarType type = program_[work.destination.buffer].type;
  const auto pattern = static_cast<std::uint32_t>(scalar(work.value, type, "the value", label));
  const std::uint32_t element_bytes = format::size_of(type);
  const ResolvedRegion destination = region(work.destination, label);
  if (destination.count == 0) {
    return {FillParams{placeholder_, pattern, element_bytes, 1}, false};
  }
  return {FillParams{destination.data, pattern, element_bytes,
                     static_cast<std::size_t>(destination.count)}};
}

GraphBuilder::Resolved GraphBuilder::resolve(const format::ChildWork &work, const Built &built,
                                             const NodeLabel &) const {
  return {ChildParams{built[work.graph.index]}};
}

GraphBuilder::ResolvedRegion GraphBuilder::region(const format::Region &region,
                                                  const NodeLabel &label) const {
  const format::Buffer &buffer = program_[region.buffer];
  const PlacedBuffer &placed = buffers_[region.buffer.index];
  ResolvedRegion resolved;
  resolved.count = 1;
  for (std::size_t axis = 0; axis < region.ranges.size(); ++axis) {
    const format::Range &range = region.ranges[axis];
    const ExprUse use{label.text, buffer.name, label.where};
    const std::int64_t begin = parameters_.integer(range.begin, use);
    const std::int64_t count = parameters_.integer(range.count, use);
    const std::int64_t extent = placed.extents[axis];
    // Written so that no sum can overflow.
    if (begin < 0 || count < 0 || begin > extent || count > extent - begin) {
      refuse(label,
             std::to_string(count) + " elements of " + buffer.name + " from element " +
                 std::to_string(begin) + " on are not within its " + std::to_string(extent),
             "range");
    }
    if (count != extent && resolved.count != 1) {
      refuse(label, "a slice of " + buffer.name + " is not contiguous", "shape");
    }
    resolved.offset = resolved.offset * extent + begin;
    resolved.count *= count;
  }
  const std::uint32_t element_bytes = format::size_of(buffer.type);
  resolved.bytes = static_cast<std::size_t>(resolved.count) * element_bytes;
  resolved.data = placed.data + static_cast<std::size_t>(resolved.offset) * element_bytes;
  return resolved;
}

std::uint64_t GraphBuilder::scalar(format::ExprId id, ScalarType type, const std::string &role,
                                   const NodeLabel &label) const {
  const format::Value &value = parameters_.value(id, {label.text, role, label.where});
  const format::ScalarBits bits = format::to_scalar_bits(value, type);
  if (bits.fault != format::Fault::None) {
    refuse(label,
           role + " is " + value.text() + ", which " + std::string(format::spelling(type)) +
               " does not hold",
           "range");
  }
  return bits.bits;
}

std::vector<std::uint64_t> GraphBuilder::arguments(const format::KernelWork &work,
                                                   const NodeLabel &label) const {
  struct Passed {
    format::BufferId buffer;
    ResolvedRegion region;
    const format::KernelParam *param;
  };
  const format::Kernel &kernel = program_[work.kernel];
  std::vector<std::uint64_t> slots;
  std::vector<Passed> passed;
  slots.reserve(work.arguments.size());
  for (std::size_t i = 0; i < work.arguments.size(); ++i) {
    const format::KernelParam &param = kernel.params[i];
    const auto *argument = std::get_if<format::Region>(&work.arguments[i]);
    if (argument == nullptr) {
      slots.push_back(scalar(std::get<format::ExprId>(work.arguments[i]), param.type,
                             "argument " + param.name, label));
      continue;
    }
    const ResolvedRegion resolved = region(*argument, label);
    slots.push_back(reinterpret_cast<std::uintptr_t>(resolved.data));
    for (const Passed &other : passed) {
      const bool writes = param.mode != format::Mode::In || other.param->mode != format::Mode::In;
      const bool overlap = argument->buffer == other.buffer &&
                           resolved.offset < other.region.offset + other.region.count &&
                           other.region.offset < resolved.offset + resolved.count;
      if (writes && overlap) {
        refuse(label,
               "arguments " + other.param->name + " and " + param.name + " overlap in " +
                   program_[argument->buffer].name,
               "alias");
      }
    }
    passed.push_back({argument->buffer, resolved, &param});
  }
  return slots;
}

} // namespace cgrt
