#include "ast/ast.h"

#include "format/scalar_type.h"

#include <llvm/Support/raw_ostream.h>

namespace cgc::ast {

std::string_view spelling(ClauseKind kind) {
  constexpr std::string_view names[] = {"grid", "block", "shared"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

/// Expressions are printed fully bracketed, so that precedence shows.
class Printer {
public:
  explicit Printer(const File &file) : file_(file), out_(text_) {}

  std::string run() {
    for (const Const &constant : file_.consts) {
      out_ << "const " << view(constant.name) << " = " << text(constant.value) << "\n";
    }
    for (const Param &param : file_.params) {
      out_ << "param " << view(param.name) << ": " << cgrt::format::spelling(param.type);
      if (param.default_value.valid()) {
        out_ << " = " << text(param.default_value);
      }
      out_ << "\n";
    }
    for (const Buffer &buffer : file_.buffers) {
      print_buffer(buffer);
    }
    for (const Kernel &kernel : file_.kernels) {
      print_kernel(kernel);
    }
    for (const Graph &graph : file_.graphs) {
      out_ << "graph " << view(graph.name) << "\n";
      for (const Statement &statement : graph.statements) {
        out_ << "  ";
        std::visit([this](const auto &action) { print_action(action); }, statement.action);
        out_ << "\n";
      }
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
        part = expr.name;
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
        part = std::string(expr.name) + "(";
        for (std::size_t a = 0; a < expr.arguments.size(); ++a) {
          part += (a == 0 ? "" : ", ") + take(expr.arguments[a]);
        }
        part += ")";
        break;
      case ExprKind::Type:
        part = cgrt::format::spelling(expr.type);
        break;
      }
      texts.push_back(std::move(part));
    }
    return std::move(texts.back());
  }

  void print_shape(const std::vector<ExprRef> &shape) {
    const char *separator = "[";
    for (const ExprRef extent : shape) {
      out_ << separator << text(extent);
      separator = ", ";
    }
    out_ << "]";
  }

  void print_buffer(const Buffer &buffer) {
    constexpr llvm::StringLiteral accesses[] = {"", "in ", "out ", "inout "};
    out_ << (buffer.space == MemorySpace::Host ? "host " : "device ")
         << accesses[static_cast<std::size_t>(buffer.access)] << view(buffer.name) << ": "
         << cgrt::format::spelling(buffer.type);
    print_shape(buffer.shape);
    out_ << "\n";
  }

  void print_kernel(const Kernel &kernel) {
    out_ << "kernel " << view(kernel.name) << "\n";
    for (const KernelParameter &parameter : kernel.parameters) {
      out_ << "  " << view(parameter.name) << ": ";
      if (parameter.mode) {
        out_ << cgrt::format::spelling(*parameter.mode) << " ";
      }
      out_ << cgrt::format::spelling(parameter.type);
      if (parameter.mode) {
        print_shape(parameter.shape);
      }
      out_ << "\n";
    }
    for (const KernelClause &clause : kernel.clauses) {
      out_ << "  " << spelling(clause.kind) << "(";
      const char *separator = "";
      for (const ExprRef value : clause.values) {
        out_ << separator << text(value);
        separator = ", ";
      }
      out_ << ")\n";
    }
    out_ << "  body of " << kernel.body.size() << " bytes\n";
  }

  void print_action(const CopyStatement &copy) {
    out_ << "copy " << view(copy.destination) << " <- " << view(copy.source);
  }

  void print_action(const FillStatement &fill) {
    out_ << "fill " << view(fill.destination) << " <- " << text(fill.value);
  }

  void print_action(const LaunchStatement &launch) {
    out_ << "launch " << view(launch.kernel) << "(";
    const char *separator = "";
    for (const ExprRef argument : launch.arguments) {
      out_ << separator << text(argument);
      separator = ", ";
    }
    out_ << ")";
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
