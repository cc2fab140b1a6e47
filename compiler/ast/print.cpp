#include "ast/ast.h"

#include "diag/quoted.h"

#include "format/scalar_type.h"

#include <llvm/Support/raw_ostream.h>

namespace cgc::ast {

namespace {

/// Expressions are printed fully bracketed, so that precedence shows.
class Printer {
public:
  explicit Printer(const File &file) : file_(file), out_(text_) {}

  std::string run() {
    for (const Import &import : file_.imports) {
      out_ << "import " << import.path << " as " << view(import.name) << "\n";
    }
    for (const Const &constant : file_.consts) {
      print_const(constant);
      out_ << "\n";
    }
    for (const Param &param : file_.params) {
      out_ << "param " << view(param.name) << ": " << cgrt::format::spelling(param.type);
      if (param.default_value.valid()) {
        out_ << " = " << text(param.default_value);
      }
      out_ << "\n";
    }
    for (const std::uint32_t buffer : file_.file_buffers) {
      print_attributes(file_.buffers[buffer].attributes);
      print_buffer(file_.buffers[buffer]);
      out_ << "\n";
    }
    for (const SourceRange &block : file_.cuda_blocks) {
      out_ << "cuda block of " << block.end - block.begin << " bytes\n";
    }
    for (const Kernel &kernel : file_.kernels) {
      print_kernel(kernel);
    }
    for (const Callable &callable : file_.callables) {
      print_callable(callable);
    }
    for (const Def &def : file_.defs) {
      out_ << "def " << view(def.name) << "\n";
      print_parameters(def.parameters);
      print_block(def.body, 1);
    }
    for (const Graph &graph : file_.graphs) {
      print_attributes(graph.attributes);
      out_ << "graph " << view(graph.name) << "\n";
      print_block(graph.body, 1);
    }
    return out_.str();
  }

private:
  static llvm::StringRef view(const Name &name) { return {name.text.data(), name.text.size()}; }

  /// Each expression of the subtree as text, operands first: no recursion along long chains.
  std::string text(ExprRef root) {
    const std::uint32_t first = file_[root].first;
    std::vector<std::string> texts;
    const auto take = [&](ExprRef ref) { return std::move(texts[ref.index - first]); };
    for (std::uint32_t i = first; i <= root.index; ++i) {
      const Expr &expr = file_[{i}];
      std::string part;
      switch (expr.kind) {
      case ExprKind::Literal:
        part = expr.value.text();
        break;
      case ExprKind::Name:
        part = qualified(expr);
        break;
      case ExprKind::Unary:
        part = std::string(cgrt::format::symbol(expr.op)) + take(expr.operands[0]);
        break;
      case ExprKind::Binary:
        // The left operand grows in place, so that a chain takes linear time.
        part = take(expr.operands[0]);
        part.insert(0, "(");
        part +=
            " " + std::string(cgrt::format::symbol(expr.op)) + " " + take(expr.operands[1]) + ")";
        break;
      case ExprKind::Select:
        part = "(" + take(expr.operands[0]) + " ? " + take(expr.operands[1]) + " : " +
               take(expr.operands[2]) + ")";
        break;
      case ExprKind::Cast:
        part = std::string(cgrt::format::spelling(expr.type)) + "(" + take(expr.operands[0]) + ")";
        break;
      case ExprKind::Call:
        part = qualified(expr) + "(";
        for (std::size_t a = 0; a < expr.arguments.size(); ++a) {
          part += (a == 0 ? "" : ", ") + take(expr.arguments[a]);
        }
        part += ")";
        break;
      case ExprKind::Index:
        part = take(expr.operands[0]) + "[";
        for (std::size_t a = 0; a < expr.arguments.size(); ++a) {
          part += (a == 0 ? "" : ", ") + take(expr.arguments[a]);
        }
        part += "]";
        break;
      case ExprKind::Range:
        part = expr.operands[0].valid() ? take(expr.operands[0]) : "";
        part += ":";
        part += expr.operands[1].valid() ? take(expr.operands[1]) : "";
        break;
      case ExprKind::Type:
        part = cgrt::format::spelling(expr.type);
        break;
      }
      texts.push_back(std::move(part));
    }
    return std::move(texts.back());
  }

  static std::string qualified(const Expr &expr) {
    const std::string name(expr.name);
    return expr.qualifier.empty() ? name : std::string(expr.qualifier) + "." + name;
  }

  void print_list(const std::vector<ExprRef> &values, const char *open, const char *close) {
    out_ << open;
    const char *separator = "";
    for (const ExprRef value : values) {
      out_ << separator << text(value);
      separator = ", ";
    }
    out_ << close;
  }

  void print_const(const Const &constant) {
    out_ << "const " << view(constant.name) << " = " << text(constant.value);
  }

  void print_attributes(const Attributes &attributes) {
    for (const Attribute &attribute : attributes) {
      out_ << "@" << view(attribute.name);
      if (attribute.text) {
        out_ << "(" << quoted(*attribute.text) << ")";
      } else if (!attribute.arguments.empty()) {
        print_list(attribute.arguments, "(", ")");
      }
      out_ << " ";
    }
  }

  void print_buffer(const Buffer &buffer) {
    constexpr llvm::StringLiteral accesses[] = {"", "in ", "out ", "inout "};
    out_ << (buffer.space == MemorySpace::Host ? "host " : "device ")
         << accesses[static_cast<std::size_t>(buffer.access)] << view(buffer.name) << ": "
         << cgrt::format::spelling(buffer.type);
    print_list(buffer.shape, "[", "]");
  }

  void print_parameters(const std::vector<Parameter> &parameters) {
    for (const Parameter &parameter : parameters) {
      out_ << "  " << view(parameter.name) << ": ";
      if (parameter.mode) {
        out_ << cgrt::format::spelling(*parameter.mode) << " ";
      }
      if (parameter.launch) {
        out_ << cgrt::format::spelling(*parameter.launch) << " graph";
      } else if (parameter.type_name) {
        out_ << view(*parameter.type_name);
      } else {
        out_ << cgrt::format::spelling(parameter.type);
      }
      if (parameter.mode) {
        print_list(parameter.shape, "[", "]");
      }
      out_ << "\n";
    }
  }

  void print_callable(const Callable &callable) {
    print_attributes(callable.attributes);
    out_ << cgrt::format::spelling(callable.kind) << " " << view(callable.name) << "\n";
    print_parameters(callable.parameters);
  }

  void print_kernel(const Kernel &kernel) {
    print_attributes(kernel.attributes);
    out_ << "kernel " << view(kernel.name) << "\n";
    for (const TypeParameter &type : kernel.type_parameters) {
      out_ << "  type " << view(type.name);
      const char *separator = ": ";
      for (const ScalarType allowed : type.types) {
        out_ << separator << cgrt::format::spelling(allowed);
        separator = ", ";
      }
      out_ << "\n";
    }
    print_parameters(kernel.parameters);
    for (const KernelClause &clause : kernel.clauses) {
      out_ << "  " << view(clause.name);
      print_list(clause.values, "(", ")\n");
    }
    print_body(kernel.body);
    if (kernel.host) {
      out_ << "  host body of " << kernel.host->end - kernel.host->begin << " bytes\n";
    }
  }

  void print_body(const KernelBody &body) {
    if (body.kind == BodyKind::Cuda) {
      out_ << "  body of " << body.range.end - body.range.begin << " bytes\n";
      return;
    }
    if (body.kind == BodyKind::External) {
      out_ << "  external\n";
      return;
    }
    out_ << (body.kind == BodyKind::Source ? "  source " : "  binary ") << quoted(body.path);
    if (body.symbol) {
      out_ << " symbol " << quoted(*body.symbol);
    }
    out_ << "\n";
  }

  // Blocks nest no deeper than brackets may.
  void print_block(const Block &block, std::size_t depth) {
    for (const Statement &statement : block.statements) {
      out_.indent(static_cast<unsigned>(2 * depth));
      print_attributes(statement.attributes);
      if (statement.label) {
        out_ << view(*statement.label) << ": ";
      }
      std::visit([this](const auto &action) { print_action(action); }, statement.action);
      const char *separator = " after ";
      for (const Name &name : statement.after) {
        out_ << separator << view(name);
        separator = ", ";
      }
      out_ << "\n";
      print_bodies(statement, depth);
    }
  }

  /// Where there are several, each has a line that says which it is.
  void print_bodies(const Statement &statement, std::size_t depth) {
    const auto indent = [&] { out_.indent(static_cast<unsigned>(2 * depth)); };
    if (const auto *branching = std::get_if<IfStatement>(&statement.action)) {
      for (std::size_t i = 0; i < branching->branches.size(); ++i) {
        const IfStatement::Branch &branch = branching->branches[i];
        if (i != 0) {
          indent();
          out_ << "else" << (branch.condition.valid() ? " if " + text(branch.condition) : "")
               << "\n";
        }
        print_block(branch.body, depth + 1);
      }
    } else if (const auto *choice = std::get_if<SwitchStatement>(&statement.action)) {
      for (const SwitchStatement::Case &one : choice->cases) {
        indent();
        if (one.labels.empty()) {
          out_ << "default\n";
        } else {
          print_list(one.labels, "case ", "\n");
        }
        print_block(one.body, depth + 1);
      }
    } else {
      for_each_block(statement, [&](const Block &block) { print_block(block, depth + 1); });
    }
  }

  void print_action(const CopyStatement &copy) {
    out_ << "copy " << text(copy.destination) << " <- " << text(copy.source);
  }
  void print_action(const FillStatement &fill) {
    out_ << "fill " << text(fill.destination) << " <- " << text(fill.value);
  }
  void print_action(const LaunchStatement &launch) {
    out_ << (launch.child ? "child " : "launch ") << text(launch.callee);
    if (launch.geometry) {
      print_list(launch.geometry->grid, "<<<(", "), ");
      print_list(launch.geometry->block, "(", ")");
      if (launch.geometry->shared.valid()) {
        out_ << ", " << text(launch.geometry->shared);
      }
      out_ << ">>>";
    }
    print_list(launch.arguments, "(", ")");
  }
  void print_action(const ForStatement &loop) {
    out_ << "for " << view(file_.loops[loop.variable]) << " in " << text(loop.begin) << ".."
         << text(loop.end);
  }
  void print_action(const AssignStatement &assignment) {
    out_ << "assign " << text(assignment.target) << " = " << text(assignment.value);
  }
  void print_action(const IfStatement &branching) {
    out_ << "if " << text(branching.branches.front().condition);
  }
  void print_action(const LoopStatement &loop) {
    out_ << (loop.body_first ? "do while " : "while ") << text(loop.condition);
    if (loop.limit.valid()) {
      out_ << " max " << text(loop.limit);
    }
  }
  void print_action(const RepeatStatement &loop) { out_ << "repeat " << text(loop.count); }
  void print_action(const SwitchStatement &choice) { out_ << "switch " << text(choice.value); }
  void print_action(const HandleStatement &declared) {
    out_ << (declared.is_event ? "event" : "stream");
    for (std::uint32_t i = 0; i < declared.count; ++i) {
      const Handle &handle = (declared.is_event ? file_.events : file_.streams)[declared.first + i];
      out_ << (i == 0 ? " " : ", ") << view(handle.name);
      if (handle.count.valid()) {
        out_ << "[" << text(handle.count) << "]";
      }
    }
  }
  void print_action(const OnStatement &placed) { out_ << "on " << text(placed.stream); }
  void print_action(const RecordStatement &recorded) { out_ << "record " << text(recorded.event); }
  void print_action(const WaitStatement &awaited) { out_ << "wait " << text(awaited.event); }
  void print_action(const StartStatement &start) {
    out_ << cgrt::format::spelling(start.kind) << " " << text(start.target);
    if (start.condition.valid()) {
      out_ << " when " << text(start.condition);
    }
  }
  void print_action(const UpdateStatement &update) {
    out_ << "update " << view(update.what) << "(" << view(update.label);
    if (update.parameter) {
      out_ << ", " << view(*update.parameter);
    }
    print_list(update.values, ") = (", ")");
  }
  void print_action(const SyncStatement &) { out_ << "sync"; }
  void print_action(const ScopeStatement &) { out_ << "scope"; }
  void print_action(const BufferStatement &declared) {
    for (std::uint32_t i = 0; i < declared.count; ++i) {
      out_ << (i == 0 ? "" : "; ");
      print_buffer(file_.buffers[declared.first + i]);
    }
  }
  void print_action(const ConstStatement &declared) {
    print_const(file_.local_consts[declared.index]);
  }

  const File &file_;
  std::string text_;
  llvm::raw_string_ostream out_;
};

} // namespace

std::string print(const File &file) {
  return Printer(file).run();
}

} // namespace cgc::ast
