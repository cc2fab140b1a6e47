#include "emit/expr_text.h"

#include "format/scalar_type.h"

namespace cgc {

using cgrt::format::Expr;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::Program;

namespace {

constexpr std::string_view ellipsis = "…";

/// Writes left to right and stops at the limit, so that shared operands cannot make the text, or
/// the time, grow beyond it.
class ExprText {
public:
  ExprText(const Program &program, std::size_t most) : program_(program), most_(most) {}

  std::string run(ExprId id) {
    write(id, false);
    return full_ ? text_ + std::string(ellipsis) : text_;
  }

private:
  void put(std::string_view part) {
    if (full_ || text_.size() + part.size() > most_) {
      full_ = true;
      return;
    }
    text_ += part;
  }

  void write(ExprId id, bool nested) {
    if (full_ || depth_ > most_) {
      full_ = true;
      return;
    }
    ++depth_;
    const Expr &expr = program_.exprs[id];
    switch (expr.op) {
    case ExprOp::Const:
      put(cgrt::format::Value::from_bits(expr.kind, expr.bits).text());
      break;
    case ExprOp::Param:
      put(program_.params[expr.bits].name);
      break;
    case ExprOp::Select:
      write_select(expr, nested);
      break;
    default:
      write_operator(expr, nested);
      break;
    }
    --depth_;
  }

  void write_select(const Expr &expr, bool nested) {
    put(nested ? "(" : "");
    write(expr.a, true);
    put(" ? ");
    write(expr.b, true);
    put(" : ");
    write(expr.c, true);
    put(nested ? ")" : "");
  }

  void write_operator(const Expr &expr, bool nested) {
    const std::string_view name =
        expr.op == ExprOp::Cast ? cgrt::format::spelling(expr.type) : cgrt::format::symbol(expr.op);
    const bool is_function = (name[0] >= 'a' && name[0] <= 'z');
    const bool is_binary = cgrt::format::operand_count(expr.op) == 2;
    if (is_function) {
      put(name);
      put("(");
      write(expr.a, false);
      if (is_binary) {
        put(", ");
        write(expr.b, false);
      }
      put(")");
      return;
    }
    put(nested && is_binary ? "(" : "");
    if (is_binary) {
      write(expr.a, true);
      put(" ");
      put(name);
      put(" ");
      write(expr.b, true);
    } else {
      put(name);
      write(expr.a, true);
    }
    put(nested && is_binary ? ")" : "");
  }

  const Program &program_;
  std::size_t most_;
  std::string text_;
  std::size_t depth_ = 0;
  bool full_ = false;
};

} // namespace

std::string expr_text(const Program &program, ExprId id, std::size_t most) {
  return ExprText(program, most).run(id);
}

} // namespace cgc
