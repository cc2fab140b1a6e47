#include "emit/dot.h"

#include "diag/quoted.h"
#include "emit/expr_text.h"

#include <llvm/Support/raw_ostream.h>

#include <map>

namespace cgc {

using cgrt::format::Arguments;
using cgrt::format::Bodies;
using cgrt::format::ConditionalType;
using cgrt::format::ConditionId;
using cgrt::format::ExprId;
using cgrt::format::Extents;
using cgrt::format::FieldAccess;
using cgrt::format::Graph;
using cgrt::format::GraphId;
using cgrt::format::KernelId;
using cgrt::format::Node;
using cgrt::format::NodeField;
using cgrt::format::OptionalExtents;
using cgrt::format::Program;
using cgrt::format::Quantity;
using cgrt::format::Region;

namespace {

class DotWriter {
public:
  DotWriter(const Program &program, llvm::raw_ostream &out) : program_(program), out_(out) {}

  void write(const Graph &graph) {
    out_ << "digraph " << quoted(graph.name) << " {\n"
         << "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=Helvetica];\n";
    write_graph(graph, "n", 1);
    out_ << "}\n";
  }

private:
  std::string text(ExprId id) const { return expr_text(program_, id); }

  /// "(ceildiv(n, 256))"; trailing dimensions of 1 are left out.
  std::string dimensions(const std::array<ExprId, 3> &values) const {
    std::size_t count = 3;
    while (count > 1 && text(values[count - 1]) == "1") {
      --count;
    }
    std::string result = "(";
    for (std::size_t i = 0; i < count; ++i) {
      result += (i == 0 ? "" : ", ") + text(values[i]);
    }
    return result + ")";
  }

  std::string detail(const NodeField &field, const Extents &extents) const {
    return std::string(field.name) + dimensions(extents);
  }
  std::string detail(const NodeField &field, ExprId expr) const {
    return std::string(field.name) + "(" + text(expr) + ")";
  }
  std::string detail(const NodeField &field, const OptionalExtents &extents) const {
    const std::string part = dimensions(extents);
    return part == "(1)" ? "" : std::string(field.name) + part;
  }
  std::string detail(const NodeField &field, Quantity quantity) const {
    return text(quantity) == "0" ? "" : detail(field, ExprId(quantity));
  }
  /// The size of what a node writes; what it reads is named in the label and as large.
  std::string detail(const NodeField &field, const Region &region) const {
    if (field.access != FieldAccess::Write) {
      return "";
    }
    std::string result;
    for (const auto &range : region.ranges) {
      result += text(range.count) + " × ";
    }
    return result + std::string(cgrt::format::spelling(program_[region.buffer].type));
  }
  std::string detail(const NodeField &, KernelId) const { return ""; }
  std::string detail(const NodeField &, GraphId) const { return ""; }
  /// What it launches.
  std::string detail(const NodeField &, const Arguments &arguments) const {
    std::string result;
    for (const auto &argument : arguments) {
      if (const auto *launch = std::get_if<cgrt::format::LaunchId>(&argument)) {
        result += (result.empty() ? "" : ", ") + program_[*launch].text;
      }
    }
    return result;
  }
  std::string detail(const NodeField &, cgrt::format::EventId) const { return ""; }
  std::string detail(const NodeField &, cgrt::format::CallableId) const { return ""; }
  std::string detail(const NodeField &, ConditionId) const { return ""; }
  std::string detail(const NodeField &, ConditionalType) const { return ""; }
  std::string detail(const NodeField &, const Bodies &) const { return ""; }

  /// "grid(ceildiv(n, 256)) block(256)"
  std::string details(const Node &node) const {
    std::string result;
    const auto add = [&](const NodeField &field, const auto &value) {
      const std::string part = detail(field, value);
      result += (result.empty() || part.empty() ? "" : " ") + part;
    };
    std::visit([&](const auto &work) { for_each_field(work, add); }, node.work);
    return result;
  }

  /// Nodes are called `prefix` and their number. Child graphs and bodies nest as deep as their
  /// calls and blocks do in the text.
  void write_graph(const Graph &graph, const std::string &prefix, unsigned depth) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const std::string id = prefix + std::to_string(i);
      const Node &node = graph.nodes[i];
      if (const auto *child = std::get_if<cgrt::format::ChildWork>(&node.work)) {
        out_.indent(2 * depth) << "subgraph cluster_" << id << " {\n";
        write_node(id, node, depth + 1);
        write_graph(program_[child->graph], id + "_", depth + 1);
        out_.indent(2 * depth) << "}\n";
      } else if (const auto *branch = std::get_if<cgrt::format::ConditionalWork>(&node.work)) {
        write_conditional(id, node, branch->bodies, depth);
      } else {
        write_node(id, node, depth);
      }
    }
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const auto &dependency : graph.nodes[i].dependencies) {
        out_.indent(2 * depth) << prefix << dependency.node.index << " -> " << prefix << i;
        if (dependency.buffer.valid()) {
          out_ << " [edgetooltip=" << quoted(program_[dependency.buffer].name) << "]";
        }
        out_ << ";\n";
      }
    }
  }

  void write_conditional(const std::string &id, const Node &node, const Bodies &bodies,
                         unsigned depth) {
    out_.indent(2 * depth) << "subgraph cluster_" << id << " {\n";
    out_.indent(2 * depth + 2) << "label=" << quoted(describe(program_, node)) << ";\n";
    write_node(id, node, depth + 1);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const std::string body = id + "_" + std::to_string(i);
      out_.indent(2 * depth + 2) << "subgraph cluster_" << body << " {\n";
      out_.indent(2 * depth + 4) << "label=" << quoted(program_[bodies[i]].label)
                                 << "; style=dashed;\n";
      write_graph(program_[bodies[i]], body + "_", depth + 2);
      out_.indent(2 * depth + 2) << "}\n";
    }
    out_.indent(2 * depth) << "}\n";
  }

  void write_node(const std::string &id, const Node &node, unsigned depth) {
    Node unnamed = node;
    unnamed.name.clear();
    const std::string title = node.name.empty() ? "" : node.name + "\n";
    const std::string more = details(node);
    const std::string label =
        title + describe(program_, unnamed) + (more.empty() ? "" : "\n" + more);
    const cgrt::SourceLocation where = program_.locate(node.place);
    const bool decides = node.kind() == cgrt::format::NodeKind::Conditional;
    out_.indent(2 * depth) << id << " [" << (decides ? "shape=diamond, style=filled, " : "")
                           << "label=" << quoted(label);
    std::string tooltip;
    if (where.line != 0) {
      tooltip = where.file + ":" + std::to_string(where.line);
    }
    if (!node.stream.empty()) {
      out_ << ", colorscheme=dark28, penwidth=2, color=" << color(node.stream);
      tooltip += (tooltip.empty() ? "stream " : ", stream ") + node.stream;
    }
    if (!tooltip.empty()) {
      out_ << ", tooltip=" << quoted(tooltip);
    }
    out_ << "];\n";
  }

  /// Of the scheme's eight, each stream's by its first appearance.
  std::size_t color(const std::string &stream) {
    return colors_.emplace(stream, colors_.size()).first->second % 8 + 1;
  }

  const Program &program_;
  llvm::raw_ostream &out_;
  std::map<std::string, std::size_t> colors_; ///< of the streams so far
};

} // namespace

std::string emit_dot(const Program &program) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const Graph &graph : program.graphs) {
    if (graph.entry) { // the others are drawn where they are used
      DotWriter(program, out).write(graph);
    }
  }
  return out.str();
}

} // namespace cgc
