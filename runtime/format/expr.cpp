#include "format/expr.h"

#include "format/scalar_type.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace cgrt::format {

namespace {

struct OpInfo {
  std::string_view spelling;
  std::string_view symbol;
  std::uint32_t operands;
};

constexpr auto ops = std::to_array<OpInfo>({
#define CGRT_EXPR_OP(name, spelling, symbol, operands) {spelling, symbol, operands},
#include "format/expr_op.def"
});

__extension__ using Wide = __int128;

Outcome fault(Fault kind) {
  return {Value{}, kind};
}

/// An exact integer result as a checked value of its kind.
Outcome checked(Wide result, ValueKind kind) {
  if (kind == ValueKind::Uint) {
    if (result < 0 || result > std::numeric_limits<std::uint64_t>::max()) {
      return fault(Fault::Overflow);
    }
    return {Value::of(static_cast<std::uint64_t>(result))};
  }
  if (result < std::numeric_limits<std::int64_t>::min() ||
      result > std::numeric_limits<std::int64_t>::max()) {
    return fault(Fault::Overflow);
  }
  return {Value::of(static_cast<std::int64_t>(result))};
}

/// Two 64-bit factors can exceed even 128 signed bits.
Outcome multiply(Wide x, Wide y, ValueKind kind) {
  Wide product = 0;
  return __builtin_mul_overflow(x, y, &product) ? fault(Fault::Overflow) : checked(product, kind);
}

Outcome divide(ExprOp op, const Value &a, const Value &b, ValueKind kind) {
  if (kind == ValueKind::Float) {
    const double quotient = a.as_double() / b.as_double();
    return {Value::of(op == ExprOp::CeilDiv ? std::ceil(quotient) : quotient)};
  }
  const Wide x = a.as_wide();
  const Wide y = b.as_wide();
  if (y == 0) {
    return fault(Fault::DivisionByZero);
  }
  if (op == ExprOp::Rem) {
    return checked(x % y, kind);
  }
  Wide quotient = x / y;
  if (op == ExprOp::CeilDiv && x % y != 0 && (x < 0) == (y < 0)) {
    ++quotient;
  }
  return checked(quotient, kind);
}

Outcome shift(ExprOp op, const Value &a, const Value &b, ValueKind kind) {
  const Wide count = b.as_wide();
  if (count < 0 || count > 63) {
    return fault(Fault::BadShift);
  }
  const Wide x = a.as_wide();
  if (op == ExprOp::Shr) {
    return checked(x >> count, kind);
  }
  return multiply(x, Wide{1} << count, kind);
}

bool compare(ExprOp op, const Value &a, const Value &b) {
  const auto holds = [op](auto x, auto y) {
    switch (op) {
    case ExprOp::Lt:
      return x < y;
    case ExprOp::Le:
      return x <= y;
    case ExprOp::Gt:
      return x > y;
    case ExprOp::Ge:
      return x >= y;
    case ExprOp::Eq:
      return x == y;
    default:
      return x != y;
    }
  };
  if (a.is_float() || b.is_float()) {
    return holds(a.as_double(), b.as_double());
  }
  return holds(a.as_wide(), b.as_wide());
}

Outcome bitwise(ExprOp op, const Value &a, const Value &b, ValueKind kind) {
  const Wide x = a.as_wide();
  const Wide y = b.as_wide();
  return checked(op == ExprOp::BitAnd ? (x & y) : op == ExprOp::BitOr ? (x | y) : (x ^ y), kind);
}

Outcome float_arithmetic(ExprOp op, double x, double y) {
  switch (op) {
  case ExprOp::Add:
    return {Value::of(x + y)};
  case ExprOp::Sub:
    return {Value::of(x - y)};
  case ExprOp::Mul:
    return {Value::of(x * y)};
  case ExprOp::Min:
    return {Value::of(std::fmin(x, y))};
  default:
    return {Value::of(std::fmax(x, y))};
  }
}

Outcome arithmetic(ExprOp op, const Value &a, const Value &b, ValueKind kind) {
  if (kind == ValueKind::Float) {
    return float_arithmetic(op, a.as_double(), b.as_double());
  }
  const Wide x = a.as_wide();
  const Wide y = b.as_wide();
  switch (op) {
  case ExprOp::Add:
    return checked(x + y, kind);
  case ExprOp::Sub:
    return checked(x - y, kind);
  case ExprOp::Mul:
    return multiply(x, y, kind);
  case ExprOp::Min:
    return checked(std::min(x, y), kind);
  default:
    return checked(std::max(x, y), kind);
  }
}

Outcome pow2_ceil(const Value &a, ValueKind kind) {
  const Wide x = a.as_wide();
  Wide power = 1;
  while (power < x) {
    power *= 2;
  }
  return checked(power, kind);
}

Outcome unary(ExprOp op, const Value &a, ValueKind kind) {
  const bool floating = kind == ValueKind::Float;
  switch (op) {
  case ExprOp::Neg:
    return floating ? Outcome{Value::of(-a.as_double())} : checked(-a.as_wide(), kind);
  case ExprOp::Abs:
    return floating ? Outcome{Value::of(std::fabs(a.as_double()))}
                    : checked(a.as_wide() < 0 ? -a.as_wide() : a.as_wide(), kind);
  case ExprOp::BitNot:
    return kind == ValueKind::Uint ? Outcome{Value::of(~a.bits())} : checked(~a.as_wide(), kind);
  case ExprOp::Not:
    return {Value::of(!a.truthy())};
  default:
    return pow2_ceil(a, kind);
  }
}

Outcome select(const Expr &expr, const Outcome &condition, const Outcome &yes, const Outcome &no) {
  if (!condition.ok()) {
    return condition;
  }
  const Outcome &taken = condition.value.truthy() ? yes : no;
  if (!taken.ok() || taken.value.kind() == expr.kind) {
    return taken;
  }
  // The other branch's kind is the wider one.
  return expr.kind == ValueKind::Float ? Outcome{Value::of(taken.value.as_double())}
                                       : checked(taken.value.as_wide(), expr.kind);
}

Outcome short_circuit(ExprOp op, const Outcome &a, const Outcome &b) {
  if (!a.ok()) {
    return a;
  }
  const bool decided = (op == ExprOp::Or) == a.value.truthy();
  if (decided) {
    return {Value::of(op == ExprOp::Or)};
  }
  return b.ok() ? Outcome{Value::of(b.value.truthy())} : b;
}

Outcome strict_binary(const Expr &expr, const Value &a, const Value &b) {
  switch (expr.op) {
  case ExprOp::Div:
  case ExprOp::Rem:
  case ExprOp::CeilDiv:
    return divide(expr.op, a, b, expr.kind);
  case ExprOp::Shl:
  case ExprOp::Shr:
    return shift(expr.op, a, b, expr.kind);
  case ExprOp::Lt:
  case ExprOp::Le:
  case ExprOp::Gt:
  case ExprOp::Ge:
  case ExprOp::Eq:
  case ExprOp::Ne:
    return {Value::of(compare(expr.op, a, b))};
  case ExprOp::BitAnd:
  case ExprOp::BitOr:
  case ExprOp::BitXor:
    return bitwise(expr.op, a, b, expr.kind);
  default:
    return arithmetic(expr.op, a, b, expr.kind);
  }
}

ValueKind promoted(ValueKind kind) {
  return kind == ValueKind::Bool ? ValueKind::Int : kind;
}

ValueKind common(ValueKind a, ValueKind b) {
  // Int < Uint < Float in the enumeration's order.
  return std::max(promoted(a), promoted(b));
}

} // namespace

std::uint8_t expr_op_count() {
  return static_cast<std::uint8_t>(ops.size());
}
std::string_view spelling(ExprOp op) {
  return ops[static_cast<std::size_t>(op)].spelling;
}
std::string_view symbol(ExprOp op) {
  return ops[static_cast<std::size_t>(op)].symbol;
}
std::uint32_t operand_count(ExprOp op) {
  return ops[static_cast<std::size_t>(op)].operands;
}

std::optional<ExprOp> parse_expr_op(std::string_view text) {
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].spelling == text) {
      return static_cast<ExprOp>(i);
    }
  }
  return std::nullopt;
}

std::optional<ValueKind> result_kind(ExprOp op, ValueKind a, ValueKind b, ValueKind c) {
  const bool floats = a == ValueKind::Float || b == ValueKind::Float;
  switch (op) {
  case ExprOp::Lt:
  case ExprOp::Le:
  case ExprOp::Gt:
  case ExprOp::Ge:
  case ExprOp::Eq:
  case ExprOp::Ne:
  case ExprOp::And:
  case ExprOp::Or:
  case ExprOp::Not:
    return ValueKind::Bool;
  case ExprOp::BitNot:
  case ExprOp::Pow2Ceil:
    return a == ValueKind::Float ? std::nullopt : std::optional(promoted(a));
  case ExprOp::Neg:
  case ExprOp::Abs:
    return promoted(a);
  case ExprOp::Shl:
  case ExprOp::Shr:
    return floats ? std::nullopt : std::optional(promoted(a));
  case ExprOp::Rem:
  case ExprOp::BitAnd:
  case ExprOp::BitOr:
  case ExprOp::BitXor:
    return floats ? std::nullopt : std::optional(common(a, b));
  case ExprOp::Select:
    return b == c ? b : common(b, c);
  case ExprOp::Const:
  case ExprOp::Param:
  case ExprOp::Cast:
    return std::nullopt;
  default:
    return common(a, b);
  }
}

[[gnu::hot]] Outcome cast(const Value &value, ScalarType type) {
  switch (type) {
  case ScalarType::Bool:
    return {Value::of(value.truthy())};
  case ScalarType::F64:
    return {Value::of(value.as_double())};
  case ScalarType::F32:
    return {Value::of(static_cast<double>(
        std::bit_cast<float>(static_cast<std::uint32_t>(to_scalar_bits(value, type).bits))))};
  case ScalarType::F16:
    return {Value::of(from_f16_bits(to_f16_bits(value.as_double())))};
  case ScalarType::BF16:
    return {Value::of(from_bf16_bits(to_bf16_bits(value.as_double())))};
  default:
    break;
  }
  Value integer = value;
  if (value.is_float()) {
    const double truncated = std::trunc(value.as_double());
    // Both bounds are exact doubles; what lies between fits 128 bits. NaN fails the comparison.
    if (!(truncated >= -0x1p63 && truncated < 0x1p64)) {
      return fault(Fault::OutOfRange);
    }
    integer = truncated < 0 ? Value::of(static_cast<std::int64_t>(truncated))
                            : Value::of(static_cast<std::uint64_t>(truncated));
  }
  if (to_scalar_bits(integer, type).fault != Fault::None) {
    return fault(Fault::OutOfRange);
  }
  return {Value::from_bits(kind_of(type), integer.bits())}; // no type holds a value of other bits
}

Outcome apply(const Expr &expr, const Outcome &a, const Outcome &b, const Outcome &c) {
  switch (expr.op) {
  case ExprOp::Const:
    return {Value::from_bits(expr.kind, expr.bits)};
  case ExprOp::Select:
    return select(expr, a, b, c);
  case ExprOp::And:
  case ExprOp::Or:
    return short_circuit(expr.op, a, b);
  default:
    break;
  }
  if (!a.ok()) {
    return a;
  }
  if (expr.op == ExprOp::Cast) {
    return cast(a.value, expr.type);
  }
  if (operand_count(expr.op) == 1) {
    return unary(expr.op, a.value, expr.kind);
  }
  return b.ok() ? strict_binary(expr, a.value, b.value) : b;
}

std::size_t ExprTable::Hash::operator()(const Expr &expr) const {
  std::size_t seed = expr.bits;
  for (const std::size_t part :
       {static_cast<std::size_t>(expr.op), static_cast<std::size_t>(expr.kind),
        static_cast<std::size_t>(expr.type), static_cast<std::size_t>(expr.a.index),
        static_cast<std::size_t>(expr.b.index), static_cast<std::size_t>(expr.c.index)}) {
    seed = (seed ^ part) * 0x9E3779B97F4A7C15U;
    seed ^= seed >> 29;
  }
  return seed;
}

ExprId ExprTable::append(const Expr &expr) {
  const ExprId id{size()};
  exprs_.push_back(expr);
  const auto known_operand = [&](ExprId operand) -> std::optional<Outcome> {
    return operand.index < id.index ? known_[operand.index] : std::nullopt;
  };
  std::optional<Outcome> outcome;
  const std::uint32_t operands = operand_count(expr.op);
  if (expr.op != ExprOp::Param) {
    const auto a = known_operand(expr.a);
    const auto b = known_operand(expr.b);
    const auto c = known_operand(expr.c);
    if ((operands < 1 || a) && (operands < 2 || b) && (operands < 3 || c)) {
      outcome = apply(expr, a.value_or(Outcome{}), b.value_or(Outcome{}), c.value_or(Outcome{}));
    }
  }
  known_.push_back(outcome);
  return id;
}

ExprId ExprTable::intern(const Expr &expr) {
  if (const auto found = index_.find(expr); found != index_.end()) {
    return {found->second};
  }
  const ExprId id = append(expr);
  // A folded constant takes the place of the operation; a constant fault keeps its operation, so
  // that it can be reported or skipped by a branch.
  if (expr.op != ExprOp::Const && known_[id.index] && known_[id.index]->ok()) {
    const Value value = known_[id.index]->value;
    exprs_.pop_back();
    known_.pop_back();
    const ExprId folded = constant(value);
    index_.emplace(expr, folded.index);
    return folded;
  }
  index_.emplace(expr, id.index);
  return id;
}

ExprId ExprTable::constant(const Value &value) {
  Expr expr;
  expr.op = ExprOp::Const;
  expr.kind = value.kind();
  expr.bits = value.bits();
  return intern(expr);
}

ExprId ExprTable::parameter(ParamId param, ScalarType type) {
  Expr expr;
  expr.op = ExprOp::Param;
  expr.kind = kind_of(type);
  expr.type = type;
  expr.bits = param.index;
  return intern(expr);
}

ExprId ExprTable::unary(ExprOp op, ExprId a) {
  Expr expr;
  expr.op = op;
  expr.kind = result_kind(op, (*this)[a].kind, ValueKind::Int, ValueKind::Int).value();
  expr.a = a;
  return intern(expr);
}

ExprId ExprTable::binary(ExprOp op, ExprId a, ExprId b) {
  Expr expr;
  expr.op = op;
  expr.kind = result_kind(op, (*this)[a].kind, (*this)[b].kind, ValueKind::Int).value();
  expr.a = a;
  expr.b = b;
  // A decided `&&` or `||` does not depend on its other side.
  if (const auto left = known(a); left && left->ok() && (op == ExprOp::And || op == ExprOp::Or) &&
                                  (op == ExprOp::Or) == left->value.truthy()) {
    return constant(Value::of(op == ExprOp::Or));
  }
  return intern(expr);
}

ExprId ExprTable::select(ExprId condition, ExprId then_value, ExprId else_value) {
  Expr expr;
  expr.op = ExprOp::Select;
  expr.kind = result_kind(expr.op, (*this)[condition].kind, (*this)[then_value].kind,
                          (*this)[else_value].kind)
                  .value();
  expr.a = condition;
  expr.b = then_value;
  expr.c = else_value;
  if (const auto decided = known(condition); decided && decided->ok()) {
    const ExprId taken = decided->value.truthy() ? then_value : else_value;
    if ((*this)[taken].kind == expr.kind) {
      return taken;
    }
  }
  return intern(expr);
}

ExprId ExprTable::cast(ScalarType type, ExprId a) {
  const Expr &operand = (*this)[a];
  if ((operand.op == ExprOp::Param || operand.op == ExprOp::Cast) && operand.type == type) {
    return a; // its value is of that type already
  }
  Expr expr;
  expr.op = ExprOp::Cast;
  expr.kind = kind_of(type);
  expr.type = type;
  expr.a = a;
  return intern(expr);
}

std::optional<Outcome> ExprTable::known(ExprId id) const {
  return known_[id.index];
}

std::vector<ParamId> ExprTable::parameters_of(ExprId id) const {
  std::vector<bool> seen(id.index + 1, false);
  std::vector<ParamId> params;
  seen[id.index] = true;
  // Operands stand before their users, so one backward sweep reaches everything.
  for (std::uint32_t i = id.index + 1; i-- > 0;) {
    if (!seen[i]) {
      continue;
    }
    const Expr &expr = exprs_[i];
    if (expr.op == ExprOp::Param) {
      params.push_back({static_cast<std::uint32_t>(expr.bits)});
    }
    for (const ExprId operand : {expr.a, expr.b, expr.c}) {
      if (operand.valid()) {
        seen[operand.index] = true;
      }
    }
  }
  std::sort(params.begin(), params.end());
  params.erase(std::unique(params.begin(), params.end()), params.end());
  return params;
}

std::vector<Outcome> evaluate(const ExprTable &table, std::span<const Value> params) {
  const std::span<const Expr> exprs = table.all();
  std::vector<Outcome> outcomes(exprs.size());
  const auto operand = [&](ExprId id) { return id.valid() ? outcomes[id.index] : Outcome{}; };
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    const Expr &expr = exprs[i];
    outcomes[i] = expr.op == ExprOp::Param
                      ? Outcome{params[expr.bits]}
                      : apply(expr, operand(expr.a), operand(expr.b), operand(expr.c));
  }
  return outcomes;
}

} // namespace cgrt::format
