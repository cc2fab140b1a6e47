#include "format/bundle.h"
#include "format/sha256.h"

#include "bundle_generated.h"

#include <cstring>

namespace cgrt::format {

namespace {

using flatbuffers::Offset;

wire::Place to_wire(const Place &place) {
  return {place.file.index, place.line, place.column};
}

/// A node's fields as words; bundle.fbs describes the layout.
class FieldWriter {
public:
  void operator()(const NodeField &, KernelId kernel) { words_.push_back(kernel.index); }
  void operator()(const NodeField &, GraphId graph) { words_.push_back(graph.index); }
  void operator()(const NodeField &, EventId event) { words_.push_back(event.index); }
  void operator()(const NodeField &, CallableId function) { words_.push_back(function.index); }
  void operator()(const NodeField &, ConditionId condition) { words_.push_back(condition.index); }
  void operator()(const NodeField &, ConditionalType type) {
    words_.push_back(static_cast<std::uint32_t>(type));
  }
  void operator()(const NodeField &, ExprId expr) { words_.push_back(expr.index); }
  void operator()(const NodeField &, const Extents &extents) {
    for (const ExprId extent : extents) {
      words_.push_back(extent.index);
    }
  }
  void operator()(const NodeField &, const Region &region) { put(region); }
  void operator()(const NodeField &, const Arguments &arguments) {
    words_.push_back(static_cast<std::uint32_t>(arguments.size()));
    for (const Argument &argument : arguments) {
      words_.push_back(static_cast<std::uint32_t>(argument.index()));
      std::visit([this](const auto &value) { put(value); }, argument);
    }
  }
  void operator()(const NodeField &, const Bodies &bodies) {
    words_.push_back(static_cast<std::uint32_t>(bodies.size()));
    for (const GraphId body : bodies) {
      words_.push_back(body.index);
    }
  }

  const std::vector<std::uint32_t> &words() const { return words_; }

private:
  template <typename Tag> void put(Id<Tag> id) { words_.push_back(id.index); }
  void put(const Region &region) {
    words_.push_back(region.buffer.index);
    words_.push_back(static_cast<std::uint32_t>(region.ranges.size()));
    for (const Range &range : region.ranges) {
      words_.push_back(range.begin.index);
      words_.push_back(range.count.index);
    }
  }

  std::vector<std::uint32_t> words_;
};

class Encoder {
  Offset<flatbuffers::Vector<const wire::Expr *>> encode_exprs(const ExprTable &table) {
    std::vector<wire::Expr> exprs;
    exprs.reserve(table.size());
    for (const Expr &expr : table.all()) {
      exprs.emplace_back(expr.bits, expr.a.index, expr.b.index, expr.c.index,
                         static_cast<std::uint8_t>(expr.op), static_cast<std::uint8_t>(expr.kind),
                         static_cast<std::uint8_t>(expr.type));
    }
    return builder_.CreateVectorOfStructs(exprs);
  }

  template <typename Thing> auto encode_each(const std::vector<Thing> &things) {
    std::vector<decltype(encode(things[0]))> offsets;
    offsets.reserve(things.size());
    for (const Thing &thing : things) {
      offsets.push_back(encode(thing));
    }
    return builder_.CreateVector(offsets);
  }

  template <typename Ids> auto encode_ids(const Ids &ids) {
    std::vector<std::uint32_t> indices;
    indices.reserve(ids.size());
    for (const auto id : ids) {
      indices.push_back(id.index);
    }
    return builder_.CreateVector(indices);
  }

  Offset<wire::Param> encode(const Param &param) {
    const auto name = builder_.CreateString(param.name);
    const wire::Place place = to_wire(param.place);
    return wire::CreateParam(builder_, name, static_cast<std::uint8_t>(param.type),
                             param.default_value.index, &place);
  }

  Offset<wire::Buffer> encode(const Buffer &buffer) {
    const auto name = builder_.CreateString(buffer.name);
    const auto shape = encode_ids(buffer.shape);
    const wire::Place place = to_wire(buffer.place);
    return wire::CreateBuffer(builder_, name, static_cast<std::uint8_t>(buffer.type),
                              static_cast<std::uint8_t>(buffer.space),
                              static_cast<std::uint8_t>(buffer.access), shape, &place,
                              buffer.mapped);
  }

  Offset<wire::KernelParam> encode(const KernelParam &param) {
    const auto name = builder_.CreateString(param.name);
    return wire::CreateKernelParam(builder_, name, static_cast<std::uint8_t>(param.type),
                                   param.is_buffer, static_cast<std::uint8_t>(param.mode),
                                   param.is_graph);
  }

  Offset<wire::Kernel> encode(const Kernel &kernel) {
    const auto name = builder_.CreateString(kernel.name);
    const auto symbol = builder_.CreateString(kernel.symbol);
    const auto params = encode_each(kernel.params);
    const wire::Place place = to_wire(kernel.place);
    const auto cuda_symbol = builder_.CreateString(kernel.cuda_symbol);
    return wire::CreateKernel(builder_, name, symbol, params, &place, kernel.inplace,
                              kernel.strided, cuda_symbol, kernel.external);
  }

  Offset<wire::Node> encode(const Node &node) {
    FieldWriter writer;
    std::visit([&](const auto &work) { for_each_field(work, writer); }, node.work);
    const auto fields = builder_.CreateVector(writer.words());
    std::vector<wire::Dependency> dependencies;
    for (const Dependency &dependency : node.dependencies) {
      dependencies.emplace_back(dependency.node.index, dependency.buffer.index);
    }
    const auto dependencies_offset = builder_.CreateVectorOfStructs(dependencies);
    const wire::Place place = to_wire(node.place);
    const auto name =
        node.name.empty() ? Offset<flatbuffers::String>() : builder_.CreateString(node.name);
    const auto stream =
        node.stream.empty() ? Offset<flatbuffers::String>() : builder_.CreateString(node.stream);
    return wire::CreateNode(builder_, static_cast<std::uint8_t>(node.kind()), fields,
                            dependencies_offset, &place, name, stream, node.updatable.index);
  }

  Offset<wire::Graph> encode(const Graph &graph) {
    const auto name = builder_.CreateString(graph.name);
    const auto nodes = encode_each(graph.nodes);
    const wire::Place place = to_wire(graph.place);
    const auto label = builder_.CreateString(graph.label);
    const std::uint32_t stop = graph.stop ? *graph.stop + 1 : 0;
    return wire::CreateGraph(builder_, name, nodes, &place, graph.entry, label, stop,
                             graph.explicit_order, graph.device_launch);
  }

  Offset<wire::Condition> encode(const Condition &condition) {
    const auto text = builder_.CreateString(condition.text);
    const wire::Place place = to_wire(condition.place);
    return wire::CreateCondition(builder_, text, condition.initial, condition.limit.index, &place);
  }

  Offset<wire::Event> encode(const Event &event) {
    const auto name = builder_.CreateString(event.name);
    const wire::Place place = to_wire(event.place);
    return wire::CreateEvent(builder_, name, event.external, &place);
  }

  Offset<wire::Callable> encode(const Callable &callable) {
    const auto name = builder_.CreateString(callable.name);
    const auto params = encode_each(callable.params);
    const wire::Place place = to_wire(callable.place);
    return wire::CreateCallable(builder_, name, static_cast<std::uint8_t>(callable.kind), params,
                                callable.concurrent, &place);
  }

  Offset<wire::DeviceLaunch> encode(const DeviceLaunch &launch) {
    const auto text = builder_.CreateString(launch.text);
    const wire::Place place = to_wire(launch.place);
    return wire::CreateDeviceLaunch(builder_, text, static_cast<std::uint8_t>(launch.kind),
                                    launch.target.index, &place);
  }

  Offset<wire::Updatable> encode(const Updatable &updatable) {
    const auto name = builder_.CreateString(updatable.name);
    const wire::Place place = to_wire(updatable.place);
    return wire::CreateUpdatable(builder_, name, &place);
  }

  Offset<wire::DeviceUpdate> encode(const DeviceUpdate &update) {
    const auto text = builder_.CreateString(update.text);
    const wire::Place place = to_wire(update.place);
    return wire::CreateDeviceUpdate(builder_, text, update.graph.index, &place);
  }

  Offset<wire::Check> encode(const Check &check) {
    const auto slug = builder_.CreateString(check.slug);
    const auto message = builder_.CreateString(check.message);
    const wire::Place place = to_wire(check.place);
    return wire::CreateCheck(builder_, check.left.index, static_cast<std::uint8_t>(check.relation),
                             check.right.index, slug, message, &place);
  }

  Offset<wire::Image> encode(const Image &image) {
    const auto architecture = builder_.CreateString(image.architecture);
    const auto bytes = builder_.CreateVector(
        reinterpret_cast<const std::uint8_t *>(image.bytes.data()), image.bytes.size());
    const auto kernels = encode_ids(image.kernels);
    return wire::CreateImage(builder_, static_cast<std::uint8_t>(image.kind), architecture, bytes,
                             kernels);
  }

  flatbuffers::FlatBufferBuilder builder_;

public:
  std::vector<std::byte> encode(const Program &program) {
    const auto exprs = encode_exprs(program.exprs);
    const auto files = builder_.CreateVectorOfStrings(program.files);
    const auto params = encode_each(program.params);
    const auto buffers = encode_each(program.buffers);
    const auto kernels = encode_each(program.kernels);
    const auto graphs = encode_each(program.graphs);
    const auto checks = encode_each(program.checks);
    const auto images = encode_each(program.images);
    const auto conditions = encode_each(program.conditions);
    const auto events = encode_each(program.events);
    const auto callables = encode_each(program.callables);
    const auto launches = encode_each(program.launches);
    const auto updatables = encode_each(program.updatables);
    const auto updates = encode_each(program.updates);
    builder_.Finish(wire::CreateProgram(
        builder_, files, exprs, params, buffers, kernels, graphs, checks, images, conditions,
        program.reports.index, program.stops.index, events, callables, launches,
        program.refusals.index, updatables, updates, program.update_refusals.index));
    const auto *first = reinterpret_cast<const std::byte *>(builder_.GetBufferPointer());
    return {first, first + builder_.GetSize()};
  }
};

void put_little_endian(std::byte *at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    at[i] = static_cast<std::byte>(value >> (8 * i));
  }
}

} // namespace

std::vector<std::byte> encode_bundle(const Program &program) {
  const std::vector<std::byte> payload = Encoder().encode(program);
  std::vector<std::byte> bundle(bundle_header_bytes);
  std::memcpy(bundle.data(), bundle_magic.data(), bundle_magic.size());
  put_little_endian(&bundle[8], bundle_version, 4);
  put_little_endian(&bundle[16], payload.size(), 8);
  const auto digest = sha256(payload);
  std::memcpy(&bundle[24], digest.data(), digest.size());
  bundle.insert(bundle.end(), payload.begin(), payload.end());
  return bundle;
}

} // namespace cgrt::format
