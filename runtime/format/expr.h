// Host expressions: a flat table in which every operand stands before its user, so that one pass
// evaluates all of them and no input can make the evaluator recurse or loop.
#pragma once

#include "format/ids.h"
#include "format/scalar_type.h"
#include "format/value.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cgrt::format {

enum class ExprOp : std::uint8_t {
#define CGRT_EXPR_OP(name, spelling, symbol, operands) name,
#include "format/expr_op.def"
};

std::uint8_t expr_op_count();
std::string_view spelling(ExprOp op); ///< in IR text: "add"
std::string_view symbol(ExprOp op);   ///< in the language: "+"
std::uint32_t operand_count(ExprOp op);
std::optional<ExprOp> parse_expr_op(std::string_view text);

struct Expr {
  ExprOp op = ExprOp::Const;
  ValueKind kind = ValueKind::Int;   ///< what it computes, known without evaluating
  ScalarType type = ScalarType::I64; ///< Cast: the target; Param: the declared type
  ExprId a, b, c;                    ///< operands
  std::uint64_t bits = 0;            ///< Const: the value; Param: the parameter's index

  bool operator==(const Expr &) const = default;
};

/// How a value of scalar type `type` takes part in host arithmetic.
inline ValueKind kind_of(ScalarType type) {
  switch (class_of(type)) {
  case ScalarClass::Bool:
    return ValueKind::Bool;
  case ScalarClass::Float:
    return ValueKind::Float;
  default:
    return type == ScalarType::U64 ? ValueKind::Uint : ValueKind::Int;
  }
}

/// What `op` computes from operands of these kinds, or nothing where C has no such operation
/// (`%`, `~`, shifts and bit operations on floats).
std::optional<ValueKind> result_kind(ExprOp op, ValueKind a, ValueKind b, ValueKind c);

/// As C converts; a fault where an integer type cannot hold the value.
Outcome cast(const Value &value, ScalarType type);

/// Applies `expr` to its operands' outcomes (those beyond its operand count are ignored).
Outcome apply(const Expr &expr, const Outcome &a, const Outcome &b, const Outcome &c);

/// A table of expressions in which equal ones are one and constant ones are folded.
class ExprTable {
public:
  ExprId constant(const Value &value);
  ExprId parameter(ParamId param, ScalarType type);
  ExprId unary(ExprOp op, ExprId a);
  ExprId binary(ExprOp op, ExprId a, ExprId b);
  ExprId select(ExprId condition, ExprId then_value, ExprId else_value);
  ExprId cast(ScalarType type, ExprId a);

  std::uint32_t size() const { return static_cast<std::uint32_t>(exprs_.size()); }
  const Expr &operator[](ExprId id) const { return exprs_[id.index]; }
  std::span<const Expr> all() const { return exprs_; }
  /// Appends as it is, for readers: no folding, no sharing; checked by verify().
  ExprId append(const Expr &expr);

  /// The value of an expression that reads no parameter, or the fault it is bound to end in.
  std::optional<Outcome> known(ExprId id) const;

  /// The parameters that `id` reads; each once, ascending.
  std::vector<ParamId> parameters_of(ExprId id) const;

private:
  ExprId intern(const Expr &expr);

  struct Hash {
    std::size_t operator()(const Expr &expr) const;
  };
  std::vector<Expr> exprs_;
  std::vector<std::optional<Outcome>> known_; ///< parallel to exprs_
  std::unordered_map<Expr, std::uint32_t, Hash> index_;
};

/// Every expression's outcome for these parameter values; linear in the table.
std::vector<Outcome> evaluate(const ExprTable &table, std::span<const Value> params);

} // namespace cgrt::format
