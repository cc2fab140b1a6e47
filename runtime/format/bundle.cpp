#include "format/bundle.h"
#include "format/sha256.h"

#include "bundle_generated.h"

#include <cstring>

namespace cgrt::format {

namespace {

/// Takes a node's fields from their words; bundle.fbs describes the layout.
class FieldReader {
public:
  explicit FieldReader(const flatbuffers::Vector<std::uint32_t> &words) : words_(words) {}

  void operator()(const NodeField &, KernelId &kernel) { kernel = {next()}; }
  void operator()(const NodeField &, GraphId &graph) { graph = {next()}; }
  void operator()(const NodeField &, EventId &event) { event = {next()}; }
  void operator()(const NodeField &, CallableId &function) { function = {next()}; }
  void operator()(const NodeField &, ConditionId &condition) { condition = {next()}; }
  void operator()(const NodeField &, ConditionalType &type) {
    const std::uint32_t word = next();
    if (word >= conditional_type_count) {
      throw Error(ErrorCode::InvalidProgram, "a conditional is of an unknown type");
    }
    type = static_cast<ConditionalType>(word);
  }
  void operator()(const NodeField &, ExprId &expr) { expr = {next()}; }
  void operator()(const NodeField &, Extents &extents) {
    for (ExprId &extent : extents) {
      extent = {next()};
    }
  }
  void operator()(const NodeField &, Region &region) { region = next_region(); }
  void operator()(const NodeField &, Arguments &arguments) {
    // No count is trusted for an allocation: each argument and each range must have its words.
    for (std::uint32_t count = next(); count > 0; --count) {
      switch (next()) {
      case 0:
        arguments.emplace_back(ExprId{next()});
        break;
      case 1:
        arguments.emplace_back(next_region());
        break;
      case 2:
        arguments.emplace_back(ConditionId{next()});
        break;
      case 3:
        arguments.emplace_back(LaunchId{next()});
        break;
      case 4:
        arguments.emplace_back(UpdatableId{next()});
        break;
      default:
        throw Error(ErrorCode::InvalidProgram, "a kernel's argument is of an unknown kind");
      }
    }
  }
  void operator()(const NodeField &, Bodies &bodies) {
    for (std::uint32_t count = next(); count > 0; --count) {
      bodies.push_back({next()});
    }
  }

  void expect_end() const {
    if (at_ != words_.size()) {
      throw Error(ErrorCode::InvalidProgram, "a node has more fields than its kind");
    }
  }

private:
  std::uint32_t next() {
    if (at_ >= words_.size()) {
      throw Error(ErrorCode::InvalidProgram, "a node has fewer fields than its kind");
    }
    return words_.Get(at_++);
  }

  Region next_region() {
    Region region;
    region.buffer = {next()};
    for (std::uint32_t count = next(); count > 0; --count) {
      const ExprId begin{next()};
      region.ranges.push_back({begin, {next()}});
    }
    return region;
  }

  const flatbuffers::Vector<std::uint32_t> &words_;
  flatbuffers::uoffset_t at_ = 0;
};

/// Reads the payload's tables into a Program. FlatBuffers has checked that every table, vector and
/// string lies inside the payload; verify() checks afterwards what the numbers mean, so most
/// enumerators are taken over unchecked here.
class Decoder {
public:
  Program decode(const wire::Program &wire) {
    Program program;
    for (const auto *file : *wire.files()) {
      program.files.push_back(file->str());
    }
    // FlatBuffers checks the alignment of tables and numbers, but not of structures in a vector.
    if (wire.exprs()->size() != 0 &&
        reinterpret_cast<std::uintptr_t>(wire.exprs()->Data()) % alignof(wire::Expr) != 0) {
      throw Error(ErrorCode::InvalidProgram, "the expressions are not aligned");
    }
    for (const auto *expr : *wire.exprs()) {
      append_expr(program.exprs, *expr);
    }
    decode_each(*wire.params(), program.params);
    decode_each(*wire.buffers(), program.buffers);
    decode_each(*wire.kernels(), program.kernels);
    decode_each(*wire.graphs(), program.graphs);
    decode_each(*wire.checks(), program.checks);
    decode_each(*wire.images(), program.images);
    decode_each(*wire.conditions(), program.conditions);
    decode_each(*wire.events(), program.events);
    decode_each(*wire.callables(), program.callables);
    decode_each(*wire.launches(), program.launches);
    decode_each(*wire.updatables(), program.updatables);
    decode_each(*wire.updates(), program.updates);
    program.reports = {wire.reports()};
    program.stops = {wire.stops()};
    program.refusals = {wire.refusals()};
    program.update_refusals = {wire.update_refusals()};
    return program;
  }

private:
  template <typename Wire, typename Thing>
  void decode_each(const Wire &wire, std::vector<Thing> &things) {
    things.reserve(wire.size());
    for (const auto *thing : wire) {
      things.push_back(decode(*thing));
    }
  }

  static Place decode(const wire::Place *place) {
    return place == nullptr ? Place{} : Place{{place->file()}, place->line(), place->column()};
  }

  static void append_expr(ExprTable &table, const wire::Expr &wire) {
    // The table folds as it grows, so what it looks up by must be in range before verify() runs.
    if (wire.op() >= expr_op_count() || wire.kind() >= value_kind_count ||
        wire.type() >= scalar_type_count) {
      throw Error(ErrorCode::InvalidProgram, "an expression has an unknown operator, kind or type");
    }
    Expr expr;
    expr.op = static_cast<ExprOp>(wire.op());
    expr.kind = static_cast<ValueKind>(wire.kind());
    expr.type = static_cast<ScalarType>(wire.type());
    expr.a = {wire.a()};
    expr.b = {wire.b()};
    expr.c = {wire.c()};
    expr.bits = wire.bits();
    table.append(expr);
  }

  static Param decode(const wire::Param &wire) {
    return {wire.name()->str(),
            static_cast<ScalarType>(wire.type()),
            {wire.default_value()},
            decode(wire.place())};
  }

  template <typename Id>
  static std::vector<Id> decode_ids(const flatbuffers::Vector<std::uint32_t> &wire) {
    std::vector<Id> ids;
    for (const std::uint32_t index : wire) {
      ids.push_back({index});
    }
    return ids;
  }

  static Buffer decode(const wire::Buffer &wire) {
    return {wire.name()->str(),
            static_cast<ScalarType>(wire.type()),
            static_cast<MemorySpace>(wire.space()),
            static_cast<CallerAccess>(wire.access()),
            decode_ids<ExprId>(*wire.shape()),
            decode(wire.place()),
            wire.mapped()};
  }

  static KernelParam decode(const wire::KernelParam &wire) {
    return {wire.name()->str(), static_cast<ScalarType>(wire.type()), wire.is_buffer(),
            static_cast<Mode>(wire.mode()), wire.is_graph()};
  }

  Kernel decode(const wire::Kernel &wire) {
    Kernel kernel;
    kernel.name = wire.name()->str();
    kernel.symbol = wire.symbol()->str();
    decode_each(*wire.params(), kernel.params);
    kernel.place = decode(wire.place());
    kernel.inplace = wire.inplace();
    kernel.strided = wire.strided();
    kernel.external = wire.external();
    if (wire.cuda_symbol() != nullptr) {
      kernel.cuda_symbol = wire.cuda_symbol()->str();
    }
    return kernel;
  }

  static Work decode_work(const wire::Node &node) {
    FieldReader reader(*node.fields());
    Work work;
    switch (node.kind()) {
#define CGRT_NODE_KIND(name, id, ...)                                                              \
  case id:                                                                                         \
    for_each_field(work.emplace<name##Work>(), reader);                                            \
    break;
#include "format/node_kinds.def"
    default:
      throw Error(ErrorCode::InvalidProgram, "a node is of a kind that this version does not know");
    }
    reader.expect_end();
    return work;
  }

  static Node decode(const wire::Node &wire) {
    Node node;
    node.work = decode_work(wire);
    if (wire.dependencies() != nullptr) {
      for (const auto *dependency : *wire.dependencies()) {
        node.dependencies.push_back({{dependency->node()}, {dependency->buffer()}});
      }
    }
    node.place = decode(wire.place());
    if (wire.name() != nullptr) {
      node.name = wire.name()->str();
    }
    if (wire.stream() != nullptr) {
      node.stream = wire.stream()->str();
    }
    node.updatable = {wire.updatable()};
    return node;
  }

  Graph decode(const wire::Graph &wire) {
    Graph graph;
    graph.name = wire.name()->str();
    decode_each(*wire.nodes(), graph.nodes);
    graph.place = decode(wire.place());
    graph.entry = wire.entry();
    if (wire.label() != nullptr) {
      graph.label = wire.label()->str();
    }
    if (wire.stop() != 0) {
      graph.stop = wire.stop() - 1;
    }
    graph.explicit_order = wire.explicit_order();
    graph.device_launch = wire.device_launch();
    return graph;
  }

  static Condition decode(const wire::Condition &wire) {
    return {wire.text()->str(), wire.initial(), {wire.limit()}, decode(wire.place())};
  }

  static Event decode(const wire::Event &wire) {
    return {wire.name()->str(), wire.external(), decode(wire.place())};
  }

  Callable decode(const wire::Callable &wire) {
    Callable callable;
    callable.name = wire.name()->str();
    callable.kind = static_cast<CallableKind>(wire.kind());
    decode_each(*wire.params(), callable.params);
    callable.concurrent = wire.concurrent();
    callable.place = decode(wire.place());
    return callable;
  }

  static DeviceLaunch decode(const wire::DeviceLaunch &wire) {
    return {wire.text()->str(),
            static_cast<LaunchKind>(wire.kind()),
            {wire.target()},
            decode(wire.place())};
  }

  static Updatable decode(const wire::Updatable &wire) {
    return {wire.name()->str(), decode(wire.place())};
  }

  static DeviceUpdate decode(const wire::DeviceUpdate &wire) {
    return {wire.text()->str(), {wire.graph()}, decode(wire.place())};
  }

  static Check decode(const wire::Check &wire) {
    Check check;
    check.left = {wire.left()};
    check.relation = static_cast<Check::Relation>(wire.relation());
    check.right = {wire.right()};
    check.slug = wire.slug()->str();
    check.message = wire.message()->str();
    check.place = decode(wire.place());
    return check;
  }

  static Image decode(const wire::Image &wire) {
    Image image;
    image.kind = static_cast<ImageKind>(wire.kind());
    image.architecture = wire.architecture()->str();
    image.kernels = decode_ids<KernelId>(*wire.kernels());
    const auto *first = reinterpret_cast<const std::byte *>(wire.bytes()->data());
    image.bytes.assign(first, first + wire.bytes()->size());
    return image;
  }
};

[[noreturn]] void refuse(const std::string &name, const std::string &reason) {
  throw Error(ErrorCode::InvalidProgram, name + ": " + reason);
}

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = (value << 8) | std::to_integer<std::uint64_t>(bytes[i]);
  }
  return value;
}

} // namespace

bool looks_like_bundle(std::span<const std::byte> bytes) {
  return bytes.size() >= bundle_magic.size() &&
         std::memcmp(bytes.data(), bundle_magic.data(), bundle_magic.size()) == 0;
}

Program decode_bundle(std::span<const std::byte> bytes, const std::string &name) {
  if (!looks_like_bundle(bytes)) {
    refuse(name, "not a cgraph bundle");
  }
  if (bytes.size() < bundle_header_bytes) {
    refuse(name, "the bundle is truncated: its header is incomplete");
  }
  const std::uint64_t version = little_endian(bytes.subspan(8, 4));
  if (version != bundle_version) {
    refuse(name, "bundle version " + std::to_string(version) + "; this runtime reads version " +
                     std::to_string(bundle_version) +
                     (version > bundle_version ? ": update cgrt" : ": compile it again with cgc"));
  }
  if (little_endian(bytes.subspan(12, 4)) != 0) {
    refuse(name, "the bundle is damaged: its header is not one that cgc writes");
  }
  const std::uint64_t payload_bytes = little_endian(bytes.subspan(16, 8));
  const auto payload = bytes.subspan(bundle_header_bytes);
  if (payload.size() != payload_bytes) {
    refuse(name, std::string(payload.size() < payload_bytes ? "the bundle is truncated"
                                                            : "bytes follow the bundle's end") +
                     ": " + std::to_string(payload.size()) +
                     " payload bytes where the header says " + std::to_string(payload_bytes));
  }
  const auto digest = sha256(payload);
  if (std::memcmp(digest.data(), &bytes[24], digest.size()) != 0) {
    refuse(name, "the bundle is damaged: its checksum does not match");
  }
  return decode_payload(payload, name);
}

Program decode_payload(std::span<const std::byte> payload, const std::string &name) {
  // FlatBuffers reads in place and wants its scalars aligned.
  const std::vector<std::uint64_t> aligned = [&] {
    std::vector<std::uint64_t> words(payload.size() / 8 + 1);
    std::memcpy(words.data(), payload.data(), payload.size());
    return words;
  }();
  constexpr std::size_t max_depth = 16;
  constexpr std::size_t max_tables = 100'000'000;
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t *>(aligned.data()),
                                 payload.size(), max_depth, max_tables);
  if (payload.size() < 8 || !wire::VerifyProgramBuffer(verifier)) {
    refuse(name, "the bundle's structure is broken");
  }
  Program program;
  try {
    program = Decoder().decode(*wire::GetProgram(aligned.data()));
  } catch (const Error &error) {
    refuse(name, error.message());
  }
  const std::vector<std::string> problems = verify(program, 1);
  if (!problems.empty()) {
    refuse(name, "the bundle's contents break a rule: " + problems.front());
  }
  return program;
}

} // namespace cgrt::format
