#include "sema/host_expr.h"

#include "sema/function.h"

#include "format/scalar_type.h"

namespace cgc {

using ast::ExprKind;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::ExprTable;
using cgrt::format::Value;

namespace {

/// One pass over the expression's part of the pool, operands first.
class ExprLowering {
public:
  ExprLowering(const CheckedFile &checked, const ExprEnvironment &environment, ExprTable &table,
               std::uint32_t first)
      : checked_(checked), environment_(environment), table_(table), first_(first) {}

  ExprId run(ast::ExprRef root) {
    for (std::uint32_t i = first_; i <= root.index; ++i) {
      lowered_.push_back(lower({i}));
    }
    return lowered_.back();
  }

private:
  /// Invalid for a buffer's name: len and dim ask for its shape instead.
  ExprId at(ast::ExprRef ref) const { return lowered_[ref.index - first_]; }

  ExprId lower(ast::ExprRef ref) {
    const ast::Expr &expr = (*checked_.file)[ref];
    switch (expr.kind) {
    case ExprKind::Literal:
      return table_.constant(expr.value);
    case ExprKind::Name:
      return environment_.scalar(checked_.symbols[ref.index]);
    case ExprKind::Unary:
      return table_.unary(expr.op, at(expr.operands[0]));
    case ExprKind::Binary:
      return table_.binary(expr.op, at(expr.operands[0]), at(expr.operands[1]));
    case ExprKind::Select:
      return table_.select(at(expr.operands[0]), at(expr.operands[1]), at(expr.operands[2]));
    case ExprKind::Cast:
      return table_.cast(expr.type, at(expr.operands[0]));
    case ExprKind::Call:
      return lower_call(expr, checked_.symbol(ref));
    case ExprKind::Type:
    case ExprKind::Index:
    case ExprKind::Range:
      break; // no values: sema has refused them where one is wanted
    }
    return {};
  }

  std::vector<ExprId> shape_of(const ast::Expr &call) const {
    return environment_.shape(checked_.symbols[call.arguments[0].index]);
  }

  ExprId lower_call(const ast::Expr &expr, const Symbol &symbol) {
    if (symbol.kind == SymbolKind::TypeParameter) {
      return table_.cast(type_of(symbol), at(expr.arguments[0]));
    }
    const Function &function = *find_function(expr.name);
    switch (function.kind) {
    case FunctionKind::Operator:
      return function.arguments == 1
                 ? table_.unary(function.op, at(expr.arguments[0]))
                 : table_.binary(function.op, at(expr.arguments[0]), at(expr.arguments[1]));
    case FunctionKind::Sizeof: {
      const ast::ExprRef argument = expr.arguments[0];
      const ast::ScalarType type = checked_[argument].kind == ExprKind::Type
                                       ? checked_[argument].type
                                       : type_of(checked_.symbol(argument));
      return table_.constant(Value::of(static_cast<std::int64_t>(cgrt::format::size_of(type))));
    }
    case FunctionKind::Len: {
      ExprId count = table_.constant(Value::of(std::int64_t{1}));
      for (const ExprId extent : shape_of(expr)) {
        count = table_.binary(ExprOp::Mul, count, extent);
      }
      return count;
    }
    case FunctionKind::Dim: {
      // Sema has checked that the index is constant and inside the shape.
      const auto index = table_.known(at(expr.arguments[1]));
      return shape_of(expr)[static_cast<std::size_t>(index->value.bits())];
    }
    }
    return {};
  }

  /// Before instances are made, any type stands for the parameter.
  ast::ScalarType type_of(const Symbol &symbol) const {
    return environment_.type ? environment_.type(symbol) : ast::ScalarType::I64;
  }

  const CheckedFile &checked_;
  const ExprEnvironment &environment_;
  ExprTable &table_;
  std::uint32_t first_;
  std::vector<ExprId> lowered_;
};

} // namespace

ExprId lower_expr(const CheckedFile &checked, ast::ExprRef root, const ExprEnvironment &environment,
                  ExprTable &table) {
  const std::uint32_t first = (*checked.file)[root].first;
  return ExprLowering(checked, environment, table, first).run(root);
}

} // namespace cgc
