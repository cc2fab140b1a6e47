#include "diag/quoted.h"
#include "ir/module.h"

#include "format/node_kind.h"

#include <llvm/Support/raw_ostream.h>

namespace cgc {

using cgrt::CallerAccess;
using cgrt::MemorySpace;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::Place;
using cgrt::format::Region;

namespace {

/// Prints names as they are and everything else by number: `%3` is an expression, `#3` a node.
class Printer {
public:
  explicit Printer(const Module &module) : program_(module.program), out_(text_) {}

  std::string run() {
    print_files();
    print_exprs();
    for (const auto &param : program_.params) {
      out_ << "param " << param.name << ": " << cgrt::format::spelling(param.type);
      if (param.default_value.valid()) {
        out_ << " = " << name(param.default_value);
      }
      end(param.place);
    }
    for (const auto &buffer : program_.buffers) {
      print_buffer(buffer);
    }
    for (const auto &kernel : program_.kernels) {
      print_kernel(kernel);
    }
    for (const auto &check : program_.checks) {
      out_ << "check " << name(check.left)
           << (check.relation == cgrt::format::Check::Relation::Equal ? " == " : " <= ")
           << name(check.right) << " [" << check.slug << "] " << quoted(check.message);
      end(check.place);
    }
    for (const auto &graph : program_.graphs) {
      print_graph(graph);
    }
    return out_.str();
  }

private:
  static std::string name(ExprId id) { return "%" + std::to_string(id.index); }

  /// The place at which a line's thing stands, and the line's end.
  void end(const Place &place) {
    if (place.line != 0) {
      out_ << " @" << place.file.index << ":" << place.line << ":" << place.column;
    }
    out_ << "\n";
  }

  void print_files() {
    for (std::size_t i = 0; i < program_.files.size(); ++i) {
      out_ << "file " << i << " " << quoted(program_.files[i]) << "\n";
    }
  }

  void print_exprs() {
    for (std::uint32_t i = 0; i < program_.exprs.size(); ++i) {
      const auto &expr = program_.exprs[{i}];
      out_ << name({i}) << " = " << cgrt::format::spelling(expr.op);
      if (expr.op == ExprOp::Const) {
        print_constant(cgrt::format::Value::from_bits(expr.kind, expr.bits));
      } else if (expr.op == ExprOp::Param) {
        out_ << " " << program_.params[expr.bits].name;
      } else if (expr.op == ExprOp::Cast) {
        out_ << " " << cgrt::format::spelling(expr.type);
      }
      for (const ExprId operand : {expr.a, expr.b, expr.c}) {
        if (operand.valid()) {
          out_ << " " << name(operand);
        }
      }
      out_ << "\n";
    }
  }

  void print_constant(const cgrt::format::Value &value) {
    constexpr std::string_view kinds[] = {"bool", "int", "uint", "float"};
    out_ << " " << kinds[static_cast<std::size_t>(value.kind())] << " " << value.text();
  }

  void print_buffer(const cgrt::format::Buffer &buffer) {
    constexpr std::string_view accesses[] = {"", "in ", "out ", "inout "};
    out_ << "buffer " << (buffer.space == MemorySpace::Host ? "host " : "device ")
         << (buffer.mapped ? "mapped " : "") << accesses[static_cast<std::size_t>(buffer.access)]
         << buffer.name << ": " << cgrt::format::spelling(buffer.type);
    print_list(buffer.shape, "[", "]");
    end(buffer.place);
  }

  template <typename Ids> void print_list(const Ids &ids, const char *open, const char *close) {
    out_ << open;
    const char *separator = "";
    for (const ExprId id : ids) {
      out_ << separator << name(id);
      separator = ", ";
    }
    out_ << close;
  }

  void print_kernel(const cgrt::format::Kernel &kernel) {
    out_ << "kernel " << kernel.name << " symbol " << kernel.symbol << "(";
    const char *separator = "";
    for (const auto &param : kernel.params) {
      out_ << separator << param.name << ": ";
      if (param.is_buffer) {
        out_ << cgrt::format::spelling(param.mode) << " ";
      }
      out_ << cgrt::format::spelling(param.type) << (param.is_buffer ? "[]" : "");
      separator = ", ";
    }
    out_ << ")" << (kernel.inplace ? " inplace" : "") << (kernel.strided ? " strided" : "");
    end(kernel.place);
  }

  void print_region(const Region &region) {
    out_ << program_[region.buffer].name;
    const char *separator = "[";
    for (const auto &range : region.ranges) {
      out_ << separator << name(range.begin) << " +" << name(range.count);
      separator = ", ";
    }
    out_ << "]";
  }

  void print_field(cgrt::format::KernelId kernel) { out_ << program_[kernel].name; }
  void print_field(cgrt::format::GraphId graph) { out_ << program_[graph].name; }
  void print_field(ExprId expr) { out_ << name(expr); }
  void print_field(const cgrt::format::Extents &extents) { print_list(extents, "", ""); }
  void print_field(const Region &region) { print_region(region); }
  void print_field(const cgrt::format::Arguments &arguments) {
    const char *separator = "";
    for (const auto &argument : arguments) {
      out_ << separator;
      std::visit([this](const auto &value) { print_field(value); }, argument);
      separator = ", ";
    }
  }

  void print_graph(const cgrt::format::Graph &graph) {
    out_ << (graph.entry ? "" : "child ") << "graph " << graph.name << " {";
    end(graph.place);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const auto &node = graph.nodes[i];
      out_ << "  #" << i << " = " << info(node.kind()).spelling;
      std::visit(
          [this](const auto &work) {
            for_each_field(work, [this](const cgrt::format::NodeField &field, const auto &value) {
              out_ << " " << field.name << "(";
              print_field(value);
              out_ << ")";
            });
          },
          node.work);
      if (!node.name.empty()) {
        out_ << " named " << quoted(node.name);
      }
      const char *separator = " after ";
      for (const auto &dependency : node.dependencies) {
        out_ << separator << "#" << dependency.node.index;
        if (dependency.buffer.valid()) {
          out_ << "(" << program_[dependency.buffer].name << ")";
        }
        separator = ", ";
      }
      end(node.place);
    }
    out_ << "}\n";
  }

  const cgrt::format::Program &program_;
  std::string text_;
  llvm::raw_string_ostream out_;
};

} // namespace

std::string print(const Module &module) {
  return Printer(module).run();
}

} // namespace cgc
