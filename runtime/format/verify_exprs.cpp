#include "format/problems.h"
#include "format/program.h"

#include <array>

namespace cgrt::format {

namespace {

class ExprVerifier {
public:
  ExprVerifier(const Program &program, Problems &problems)
      : program_(program), problems_(problems) {}

  void run() {
    for (std::uint32_t i = 0; i < program_.exprs.size(); ++i) {
      check_expr(i);
    }
  }

private:
  void check_expr(std::uint32_t index) {
    const Expr &expr = program_.exprs.all()[index];
    const std::string where = "expression " + std::to_string(index);
    if (static_cast<std::uint8_t>(expr.op) >= expr_op_count() ||
        static_cast<std::uint8_t>(expr.kind) >= value_kind_count ||
        static_cast<std::uint8_t>(expr.type) >= scalar_type_count) {
      problems_.add(where, "unknown operator, kind or type");
      return;
    }
    const std::array<ExprId, 3> operands = {expr.a, expr.b, expr.c};
    const std::uint32_t count = operand_count(expr.op);
    std::array<ValueKind, 3> kinds = {ValueKind::Int, ValueKind::Int, ValueKind::Int};
    for (std::uint32_t i = 0; i < 3; ++i) {
      if (i >= count ? operands[i].valid() : operands[i].index >= index) {
        problems_.add(where, "operand " + std::to_string(i) + " does not stand before it");
        return;
      }
      if (i < count) {
        kinds[i] = program_.exprs[operands[i]].kind;
      }
    }
    check_expr_kind(expr, kinds, where);
  }

  void check_expr_kind(const Expr &expr, const std::array<ValueKind, 3> &kinds,
                       const std::string &where) {
    if (expr.op == ExprOp::Const) {
      if (expr.kind == ValueKind::Bool && expr.bits > 1) {
        problems_.add(where, "a bool is neither 0 nor 1");
      }
      return;
    }
    if (expr.op == ExprOp::Param) {
      if (expr.bits >= program_.params.size()) {
        problems_.add(where, "names no parameter");
        return;
      }
      if (expr.type != program_.params[expr.bits].type) {
        problems_.add(where, "does not have its parameter's type");
        return;
      }
    }
    const bool typed = expr.op == ExprOp::Param || expr.op == ExprOp::Cast;
    const auto kind =
        typed ? kind_of(expr.type) : result_kind(expr.op, kinds[0], kinds[1], kinds[2]);
    if (!kind || *kind != expr.kind) {
      problems_.add(where, "its kind does not follow from its operands");
    }
  }

  const Program &program_;
  Problems &problems_;
};

} // namespace

void verify_exprs(const Program &program, Problems &problems) {
  ExprVerifier(program, problems).run();
}

} // namespace cgrt::format
