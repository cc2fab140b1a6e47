#include "hand_made.h"

#include <algorithm>
#include <span>
#include <stdexcept>

namespace conformance {

using cgrt::format::ExprId;
using cgrt::format::Region;

std::uint32_t HandMade::buffer(const std::string &name, const std::vector<std::int64_t> &extents,
                               cgrt::ScalarType type, cgrt::MemorySpace space) {
  cgrt::format::Buffer buffer;
  buffer.name = name;
  buffer.type = type;
  buffer.space = space;
  buffer.access = cgrt::CallerAccess::InOut;
  for (const std::int64_t extent : extents) {
    buffer.shape.push_back(number(extent));
  }
  program_.buffers.push_back(std::move(buffer));
  return static_cast<std::uint32_t>(program_.buffers.size() - 1);
}

Region HandMade::box(std::uint32_t buffer, const Ranges &ranges) {
  Region region{{buffer}, {}};
  for (const auto &[begin, count] : ranges) {
    region.ranges.push_back({number(begin), number(count)});
  }
  return region;
}

Region HandMade::whole(std::uint32_t buffer) {
  Region region{{buffer}, {}};
  for (const ExprId extent : program_.buffers[buffer].shape) {
    region.ranges.push_back({number(0), extent});
  }
  return region;
}

cgrt::format::KernelWork HandMade::launch(std::uint32_t kernel,
                                          std::vector<cgrt::format::Argument> arguments) {
  const ExprId one = number(1);
  cgrt::format::KernelWork work;
  work.kernel = {kernel};
  work.grid = {one, one, one};
  work.block = {one, one, one};
  work.shared_bytes = number(0);
  work.cluster = {one, one, one};
  work.cooperative = number(0);
  work.priority = number(0);
  work.arguments = std::move(arguments);
  return work;
}

cgrt::format::ConditionId HandMade::condition(std::uint32_t initial) {
  cgrt::format::Condition condition;
  condition.text = "condition " + std::to_string(program_.conditions.size());
  condition.initial = initial;
  program_.conditions.push_back(std::move(condition));
  return {static_cast<std::uint32_t>(program_.conditions.size() - 1)};
}

std::uint32_t HandMade::conditional(cgrt::format::ConditionalType type,
                                    cgrt::format::ConditionId condition,
                                    const std::vector<std::uint32_t> &bodies,
                                    const std::vector<std::uint32_t> &after) {
  cgrt::format::Bodies graphs;
  for (const std::uint32_t body : bodies) {
    graphs.push_back({body});
  }
  return node(cgrt::format::ConditionalWork{type, condition, std::move(graphs)}, after);
}

cgrt::format::EventId HandMade::event(const std::string &name, bool external) {
  program_.events.push_back({name, external, {}});
  return {static_cast<std::uint32_t>(program_.events.size() - 1)};
}

cgrt::format::CallableId HandMade::function(const std::string &name,
                                            cgrt::format::CallableKind kind,
                                            std::vector<cgrt::format::KernelParam> params) {
  program_.callables.push_back({name, kind, std::move(params), false, {}});
  return {static_cast<std::uint32_t>(program_.callables.size() - 1)};
}

std::uint32_t HandMade::graph(const std::string &name, bool entry) {
  cgrt::format::Graph graph;
  graph.name = name;
  graph.entry = entry;
  program_.graphs.push_back(std::move(graph));
  return static_cast<std::uint32_t>(program_.graphs.size() - 1);
}

std::uint32_t HandMade::node(cgrt::format::Work work, const std::vector<std::uint32_t> &after) {
  auto &nodes = program_.graphs.back().nodes;
  cgrt::format::Node node{std::move(work), {}, {}};
  for (const std::uint32_t dependency : after) {
    node.dependencies.push_back({{dependency}, {}});
  }
  nodes.push_back(std::move(node));
  return static_cast<std::uint32_t>(nodes.size() - 1);
}

cgrt::Program HandMade::finish() const {
  const std::vector<std::string> problems = verify(program_);
  if (!problems.empty()) {
    throw std::logic_error(problems.front());
  }
  return cgrt::Program(std::make_shared<const cgrt::format::Program>(program_));
}

std::vector<std::uint32_t> read_words(const cgrt::Instance &instance, const std::string &name) {
  const std::vector<std::byte> bytes = instance.read(name);
  std::vector<std::uint32_t> values(bytes.size() / sizeof(std::uint32_t));
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(values)).begin());
  return values;
}

void write_words(cgrt::Instance &instance, const std::string &name,
                 const std::vector<std::uint32_t> &values) {
  instance.write(name, std::as_bytes(std::span(values)));
}

} // namespace conformance
