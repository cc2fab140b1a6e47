#include "graph_builder.h"

#include <limits>

namespace cgrt {

namespace {

/// CUDA's limit on the bytes from one row of a copy or fill to the next.
constexpr std::int64_t max_pitch = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(const NodeLabel &label, const std::string &why, std::string_view slug) {
  throw Error(ErrorCode::InvalidValue, label.text() + ": " + why + " [" + std::string(slug) + "]",
              label.where());
}

Dim3 to_dim3(const std::array<std::int64_t, 3> &extents) {
  return {static_cast<std::uint32_t>(extents[0]), static_cast<std::uint32_t>(extents[1]),
          static_cast<std::uint32_t>(extents[2])};
}

void refuse_many_loops(const Loops &loops, std::size_t most, std::string_view what,
                       const NodeLabel &label) {
  if (loops.size() > most) {
    refuse(label,
           "its elements lie in " + std::to_string(loops.size()) + " strided dimensions; CUDA " +
               std::string(what),
           "shape");
  }
}

/// Bytes from one row to the next on one side.
std::size_t pitch_of(const Loop &rows, std::size_t side, std::uint32_t element_bytes,
                     const NodeLabel &label) {
  if (rows.stride[side] > max_pitch / element_bytes) {
    refuse(label,
           "from one row to the next there are " + std::to_string(rows.stride[side]) +
               " elements of " + std::to_string(element_bytes) + " bytes; the limit is " +
               std::to_string(max_pitch) + " bytes",
           "shape");
  }
  return static_cast<std::size_t>(rows.stride[side]) * element_bytes;
}

} // namespace

/// The graphs that are children, directly or not, by their index.
std::vector<bool> GraphBuilder::children_of(format::GraphId graph) const {
  // Children and bodies stand before the graphs that use them, so one pass finds all.
  std::vector<bool> used(graph.index + 1, false);
  std::vector<bool> children = used;
  used[graph.index] = true;
  for (std::uint32_t index = graph.index + 1; index-- > 0;) {
    if (!used[index]) {
      continue;
    }
    for (const format::Node &node : program_.graphs[index].nodes) {
      if (const auto *child = std::get_if<format::ChildWork>(&node.work)) {
        used[child->graph.index] = children[child->graph.index] = true;
      } else if (const auto *branch = std::get_if<format::ConditionalWork>(&node.work)) {
        for (const format::GraphId body : branch->bodies) {
          used[body.index] = true;
        }
      }
    }
  }
  return children;
}

BuiltGraphs GraphBuilder::build(format::GraphId graph, const CreateGraph &create,
                                std::shared_ptr<CallbackFailures> failures,
                                std::vector<std::uint64_t> launched) const {
  const std::vector<bool> children = children_of(graph);
  BuiltGraphs result;
  result.failures = std::move(failures);
  result.launched = std::move(launched);
  result.handles.resize(program_.conditions.size(), 0);
  result.updatables.resize(program_.updatables.size(), 0);
  Built built = {result, std::vector<const DeviceGraph *>(children.size(), nullptr)};
  for (std::uint32_t index = 0; index < graph.index; ++index) {
    if (children[index]) {
      result.owned.push_back(create());
      add_nodes({index}, built, *result.owned.back());
      built.children[index] = result.owned.back().get();
    }
  }
  result.owned.push_back(create());
  for (const format::ConditionId condition : format::conditions_of(program_, graph)) {
    result.handles[condition.index] =
        result.owned.back()->create_condition(program_[condition].initial);
  }
  add_nodes(graph, built, *result.owned.back());
  return result;
}

void GraphBuilder::add_nodes(format::GraphId graph, Built &built, DeviceGraph &target) const {
  built.graphs.all.push_back({graph, &target});
  std::vector<std::uint32_t> added;
  added.reserve(program_[graph].nodes.size());
  std::vector<std::uint32_t> dependencies;
  for (const format::Node &node : program_[graph].nodes) {
    const NodeLabel label(program_, node);
    Resolved resolved =
        std::visit([&](const auto &work) { return resolve(work, built, label); }, node.work);
    set_updatable(node, resolved);
    for (const format::UpdatableId changed : format::updatables_of(node)) {
      built.graphs.incomplete =
          built.graphs.incomplete || built.graphs.updatables[changed.index] == 0;
    }
    dependencies.clear();
    for (const format::Dependency &dependency : node.dependencies) {
      dependencies.push_back(added[dependency.node.index]);
    }
    added.push_back(target.add_node(resolved.params, dependencies, label, resolved.enabled));
    if (node.updatable.valid()) {
      built.graphs.updatables[node.updatable.index] = target.updatable_handle(added.back());
    }
    if (const auto *branch = std::get_if<format::ConditionalWork>(&node.work)) {
      for (std::uint32_t index = 0; index < branch->bodies.size(); ++index) {
        add_nodes(branch->bodies[index], built, target.body(added.back(), index));
      }
    }
  }
}

GraphBuilder::Resolved GraphBuilder::resolve(const format::Node &node,
                                             const BuiltGraphs &graphs) const {
  BuiltGraphs handles; // a node that can be resolved again refers to no graph
  handles.handles = graphs.handles;
  handles.failures = graphs.failures;
  handles.launched = graphs.launched;
  handles.updatables = graphs.updatables;
  const Built built = {handles, {}};
  const NodeLabel label(program_, node);
  Resolved result =
      std::visit([&](const auto &work) { return resolve(work, built, label); }, node.work);
  set_updatable(node, result);
  return result;
}

void GraphBuilder::set_updatable(const format::Node &node, Resolved &resolved) const {
  auto *kernel = std::get_if<KernelParams>(&resolved.params);
  if (kernel == nullptr || !node.updatable.valid()) {
    return;
  }
  kernel->updatable = true;
  if (!resolved.enabled) {
    // The device could turn it on with the grid that stands in.
    refuse(NodeLabel(program_, node),
           "its grid is empty, and the device may turn it on; give it a grid of at least 1, and "
           "let the device turn it off",
           "geometry");
  }
}

std::uint32_t GraphBuilder::add_alone(const format::Node &node, std::vector<std::uint64_t> handles,
                                      std::shared_ptr<CallbackFailures> failures,
                                      DeviceGraph &target) const {
  BuiltGraphs graphs;
  graphs.handles = std::move(handles);
  graphs.failures = std::move(failures);
  const Resolved resolved = resolve(node, graphs);
  return target.add_node(resolved.params, {}, NodeLabel(program_, node), resolved.enabled);
}

GraphBuilder::Resolved GraphBuilder::resolve(const format::KernelWork &work, const Built &built,
                                             const NodeLabel &label) const {
  format::Geometry shape = geometry(work, label);
  const bool enabled = !shape.empty();
  if (!enabled) {
    shape.grid = shape.cluster;
  }
  KernelParams params;
  params.function = &function(work.kernel);
  params.grid = to_dim3(shape.grid);
  params.block = to_dim3(shape.block);
  params.shared_bytes = static_cast<std::uint32_t>(shape.shared_bytes);
  params.arguments = arguments(work, built, label);
  params.cluster = to_dim3(shape.cluster);
  params.cooperative = scalar(work.cooperative, ScalarType::Bool, {label, "cooperative"}) != 0;
  params.priority = static_cast<int>(
      static_cast<std::uint32_t>(scalar(work.priority, ScalarType::I32, {label, "the priority"})));
  if (has_host_call(work.kernel)) {
    return {host_call(work, label), enabled};
  }
  return {std::move(params), enabled};
}

format::Geometry GraphBuilder::geometry(const format::KernelWork &work,
                                        const NodeLabel &label) const {
  constexpr std::array<std::string_view, 3> grid_roles = {"grid.x", "grid.y", "grid.z"};
  constexpr std::array<std::string_view, 3> block_roles = {"block.x", "block.y", "block.z"};
  constexpr std::array<std::string_view, 3> cluster_roles = {"cluster.x", "cluster.y", "cluster.z"};
  format::Geometry geometry;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    geometry.grid[axis] = parameters_.integer(work.grid[axis], {label, grid_roles[axis]});
    geometry.block[axis] = parameters_.integer(work.block[axis], {label, block_roles[axis]});
    geometry.cluster[axis] = parameters_.integer(work.cluster[axis], {label, cluster_roles[axis]});
  }
  geometry.shared_bytes = parameters_.integer(work.shared_bytes, {label, "shared memory"});
  if (const auto problem = format::geometry_problem(geometry)) {
    refuse(label, *problem, "geometry");
  }
  return geometry;
}

GraphBuilder::Resolved GraphBuilder::resolve(const format::CopyWork &work, const Built &,
                                             const NodeLabel &label) const {
  const Box destination = box(work.destination, label);
  const Box source = box(work.source, label);
  if (!same_extents(destination, source)) {
    refuse(label,
           "the destination's extents are " + destination.text() + ", the source's " +
               source.text(),
           "shape");
  }
  if (source.empty()) {
    return {CopyParams{placeholder_, placeholder_ + placeholder_bytes / 2, 1}, false};
  }
  if (work.destination.buffer == work.source.buffer && destination.overlaps(source)) {
    refuse(label, "the source and the destination overlap", "alias");
  }
  const Loops loops(destination, source);
  refuse_many_loops(loops, 3, "copies at most three", label);
  const std::uint32_t element_bytes = format::size_of(program_[work.source.buffer].type);
  CopyParams params;
  params.destination = address(work.destination, destination);
  params.source = address(work.source, source);
  params.width = static_cast<std::size_t>(loops.all()[0].count) * element_bytes;
  if (loops.size() > 1) {
    const Loop &rows = loops.all()[1];
    params.height = static_cast<std::size_t>(rows.count);
    params.destination_rows.pitch = pitch_of(rows, 0, element_bytes, label);
    params.source_rows.pitch = pitch_of(rows, 1, element_bytes, label);
    if (loops.size() > 2) {
      const Loop &planes = loops.all()[2];
      params.depth = static_cast<std::size_t>(planes.count);
      params.destination_rows.per_plane =
          static_cast<std::size_t>(planes.stride[0] / rows.stride[0]);
      params.source_rows.per_plane = static_cast<std::size_t>(planes.stride[1] / rows.stride[1]);
    }
  }
  return {params};
}

GraphBuilder::Resolved GraphBuilder::resolve(const format::FillWork &work, const Built &,
                                             const NodeLabel &label) const {
  const ScalarType type = program_[work.destination.buffer].type;
  FillParams params;
  params.pattern = static_cast<std::uint32_t>(scalar(work.value, type, {label, "the value"}));
  params.element_bytes = format::size_of(type);
  const Box destination = box(work.destination, label);
  if (destination.empty()) {
    params.destination = placeholder_;
    params.width = 1;
    return {params, false};
  }
  const Loops loops(destination);
  refuse_many_loops(loops, 2, "fills at most two", label);
  params.destination = address(work.destination, destination);
  params.width = static_cast<std::size_t>(loops.all()[0].count);
  if (loops.size() > 1) {
    params.height = static_cast<std::size_t>(loops.all()[1].count);
    params.pitch = pitch_of(loops.all()[1], 0, params.element_bytes, label);
  }
  return {params};
}

GraphBuilder::Resolved GraphBuilder::resolve(const format::ChildWork &work, const Built &built,
                                             const NodeLabel &) const {
  return {ChildParams{built.children[work.graph.index]}};
}

GraphBuilder::Resolved GraphBuilder::resolve(const format::ConditionalWork &work,
                                             const Built &built, const NodeLabel &) const {
  return {ConditionalParams{work.type, built.graphs.handles[work.condition.index],
                            static_cast<std::uint32_t>(work.bodies.size())}};
}

Box GraphBuilder::box(const format::Region &region, const NodeLabel &label) const {
  const std::string &name = program_[region.buffer].name;
  const std::vector<std::int64_t> &extents = buffers_[region.buffer.index].extents;
  Box box;
  box.rank = region.ranges.size();
  for (std::size_t axis = 0; axis < box.rank; ++axis) {
    const std::int64_t begin = parameters_.integer(region.ranges[axis].begin, {label, name});
    const std::int64_t count = parameters_.integer(region.ranges[axis].count, {label, name});
    // Written so that no sum can overflow.
    if (begin < 0 || count < 0 || begin > extents[axis] || count > extents[axis] - begin) {
      refuse(label,
             "dimension " + std::to_string(axis) + " of " + name + ": " + std::to_string(count) +
                 " elements from " + std::to_string(begin) + " on are not within its " +
                 std::to_string(extents[axis]),
             "range");
    }
    box.begin[axis] = begin;
    box.count[axis] = count;
    box.extent[axis] = extents[axis];
  }
  return box;
}

std::byte *GraphBuilder::address(const format::Region &region, const Box &box) const {
  std::byte *const data = buffers_[region.buffer.index].data;
  // The extents of an empty buffer may be too large to multiply.
  return box.empty() ? data
                     : data + static_cast<std::size_t>(box.first()) *
                                  format::size_of(program_[region.buffer].type);
}

std::uint64_t GraphBuilder::scalar(format::ExprId id, ScalarType type, const ExprUse &use) const {
  const format::Value &value = parameters_.value(id, use);
  const format::ScalarBits bits = format::to_scalar_bits(value, type);
  if (bits.fault != format::Fault::None) {
    refuse(use.subject,
           use.what() + " is " + value.text() + ", which " + std::string(format::spelling(type)) +
               " does not hold",
           "range");
  }
  return bits.bits;
}

std::vector<std::uint64_t> GraphBuilder::arguments(const format::KernelWork &work,
                                                   const Built &built,
                                                   const NodeLabel &label) const {
  const format::Kernel &kernel = program_[work.kernel];
  std::vector<std::uint64_t> slots;
  slots.reserve(work.arguments.size());
  for (std::size_t i = 0; i < work.arguments.size(); ++i) {
    const format::KernelParam &param = kernel.params[i];
    if (const auto *value = std::get_if<format::ExprId>(&work.arguments[i])) {
      slots.push_back(scalar(*value, param.type, {label, "argument", param.name}));
      continue;
    }
    if (const auto *condition = std::get_if<format::ConditionId>(&work.arguments[i])) {
      slots.push_back(built.graphs.handles[condition->index]);
      continue;
    }
    if (const auto *launch = std::get_if<format::LaunchId>(&work.arguments[i])) {
      slots.push_back(built.graphs.launched[launch->index]);
      continue;
    }
    if (const auto *node = std::get_if<format::UpdatableId>(&work.arguments[i])) {
      slots.push_back(built.graphs.updatables[node->index]);
      continue;
    }
    const auto *region = std::get_if<format::Region>(&work.arguments[i]);
    const Box elements = box(*region, label);
    if (!kernel.strided && !elements.contiguous()) {
      refuse(label, "argument " + param.name + " of kernel " + kernel.name + " is not contiguous",
             "shape");
    }
    slots.push_back(reinterpret_cast<std::uintptr_t>(address(*region, elements)));
  }
  if (!kernel.inplace) {
    check_aliases(work.arguments, kernel.params, label);
  }
  return slots;
}

void GraphBuilder::check_aliases(const format::Arguments &arguments,
                                 const std::vector<format::KernelParam> &params,
                                 const NodeLabel &label) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto *second = std::get_if<format::Region>(&arguments[i]);
    for (std::size_t j = 0; second != nullptr && j < i; ++j) {
      const auto *first = std::get_if<format::Region>(&arguments[j]);
      const bool writes = params[i].mode != format::Mode::In || params[j].mode != format::Mode::In;
      // Most arguments are buffers of their own, so the boxes are worked out again where not.
      if (writes && first != nullptr && first->buffer == second->buffer &&
          box(*first, label).overlaps(box(*second, label))) {
        refuse(label,
               "arguments " + params[j].name + " and " + params[i].name + " overlap in " +
                   program_[first->buffer].name,
               "alias");
      }
    }
  }
}

} // namespace cgrt
