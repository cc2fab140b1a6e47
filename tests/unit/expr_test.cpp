#include "format/expr.h"

#include <gtest/gtest.h>

#include <limits>

namespace cgrt::format {
namespace {

constexpr std::int64_t least_i64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t greatest_i64 = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t greatest_u64 = std::numeric_limits<std::uint64_t>::max();

Value i(std::int64_t value) {
  return Value::of(value);
}
Value u(std::uint64_t value) {
  return Value::of(value);
}
Value f(double value) {
  return Value::of(value);
}

struct BinaryCase {
  ExprOp op;
  Value a, b;
  Outcome expected;
};

Outcome folded(ExprOp op, const Value &a, const Value &b) {
  ExprTable table;
  return table.known(table.binary(op, table.constant(a), table.constant(b))).value();
}

void expect_same(const Outcome &actual, const Outcome &expected) {
  ASSERT_EQ(actual.fault, expected.fault);
  if (expected.ok()) {
    EXPECT_EQ(actual.value, expected.value)
        << actual.value.text() << " instead of " << expected.value.text();
  }
}

TEST(Expr, IntegerArithmeticIsCsAndChecked) {
  const Outcome overflow = {{}, Fault::Overflow};
  const Outcome by_zero = {{}, Fault::DivisionByZero};
  const BinaryCase cases[] = {
      {ExprOp::Add, i(2), i(3), {i(5)}},
      {ExprOp::Add, i(greatest_i64), i(1), overflow},
      {ExprOp::Add, u(greatest_i64), i(1), {u(std::uint64_t{1} << 63)}},
      {ExprOp::Add, u(greatest_u64), u(1), overflow},
      {ExprOp::Sub, i(least_i64), i(1), overflow},
      {ExprOp::Sub, u(0), i(1), overflow},
      {ExprOp::Mul, i(least_i64), i(-1), overflow},
      {ExprOp::Mul, u(greatest_u64), u(greatest_u64), overflow},
      {ExprOp::Mul, i(1 << 20), i(1 << 20), {i(std::int64_t{1} << 40)}},
      {ExprOp::Div, i(-7), i(2), {i(-3)}},
      {ExprOp::Div, i(least_i64), i(-1), overflow},
      {ExprOp::Div, i(1), i(0), by_zero},
      {ExprOp::Rem, i(-7), i(2), {i(-1)}},
      {ExprOp::Rem, i(7), i(0), by_zero},
      {ExprOp::CeilDiv, i(7), i(2), {i(4)}},
      {ExprOp::CeilDiv, i(8), i(2), {i(4)}},
      {ExprOp::CeilDiv, i(0), i(2), {i(0)}},
      {ExprOp::CeilDiv, i(-7), i(2), {i(-3)}},
      {ExprOp::CeilDiv, i(-7), i(-2), {i(4)}},
      {ExprOp::CeilDiv, i(7), i(0), by_zero},
      {ExprOp::Min, i(-1), i(2), {i(-1)}},
      {ExprOp::Max, i(-1), i(2), {i(2)}},
      {ExprOp::BitAnd, i(-1), i(6), {i(6)}},
      {ExprOp::BitOr, i(8), i(6), {i(14)}},
      {ExprOp::BitXor, i(5), i(6), {i(3)}},
  };
  for (const BinaryCase &test : cases) {
    SCOPED_TRACE(std::string(spelling(test.op)) + " " + test.a.text() + " " + test.b.text());
    expect_same(folded(test.op, test.a, test.b), test.expected);
  }
}

TEST(Expr, ShiftsTakeZeroTo63AndAreChecked) {
  expect_same(folded(ExprOp::Shl, i(1), i(20)), {i(1048576)});
  expect_same(folded(ExprOp::Shl, i(1), i(63)), {{}, Fault::Overflow});
  expect_same(folded(ExprOp::Shl, u(1), i(63)), {u(std::uint64_t{1} << 63)});
  expect_same(folded(ExprOp::Shl, u(greatest_u64), i(63)), {{}, Fault::Overflow});
  expect_same(folded(ExprOp::Shl, i(1), i(64)), {{}, Fault::BadShift});
  expect_same(folded(ExprOp::Shl, i(1), i(-1)), {{}, Fault::BadShift});
  expect_same(folded(ExprOp::Shr, i(-8), i(1)), {i(-4)});
}

TEST(Expr, ComparisonsOfMixedSignsAreMathematical) {
  expect_same(folded(ExprOp::Lt, i(-1), u(0)), {Value::of(true)});
  expect_same(folded(ExprOp::Eq, i(-1), u(greatest_u64)), {Value::of(false)});
  expect_same(folded(ExprOp::Ge, f(2.5), i(2)), {Value::of(true)});
  expect_same(folded(ExprOp::Ne, f(std::numeric_limits<double>::quiet_NaN()),
                     f(std::numeric_limits<double>::quiet_NaN())),
              {Value::of(true)});
}

TEST(Expr, FloatsContaminateAndDivideByZeroAsIeee) {
  expect_same(folded(ExprOp::Add, i(1), f(0.5)), {f(1.5)});
  expect_same(folded(ExprOp::Div, f(1), i(0)), {f(std::numeric_limits<double>::infinity())});
  EXPECT_FALSE(result_kind(ExprOp::Rem, ValueKind::Float, ValueKind::Int, ValueKind::Int));
  EXPECT_FALSE(result_kind(ExprOp::Shl, ValueKind::Int, ValueKind::Float, ValueKind::Int));
  EXPECT_FALSE(result_kind(ExprOp::BitNot, ValueKind::Float, ValueKind::Int, ValueKind::Int));
}

TEST(Expr, UnaryOperators) {
  ExprTable table;
  const auto fold = [&](ExprOp op, const Value &a) {
    return table.known(table.unary(op, table.constant(a))).value();
  };
  expect_same(fold(ExprOp::Neg, i(5)), {i(-5)});
  expect_same(fold(ExprOp::Neg, i(least_i64)), {{}, Fault::Overflow});
  expect_same(fold(ExprOp::Neg, u(1)), {{}, Fault::Overflow});
  expect_same(fold(ExprOp::Abs, i(least_i64)), {{}, Fault::Overflow});
  expect_same(fold(ExprOp::Abs, f(-1.5)), {f(1.5)});
  expect_same(fold(ExprOp::BitNot, i(0)), {i(-1)});
  expect_same(fold(ExprOp::BitNot, u(0)), {u(greatest_u64)});
  expect_same(fold(ExprOp::Not, f(0.0)), {Value::of(true)});
  expect_same(fold(ExprOp::Pow2Ceil, i(1000)), {i(1024)});
  expect_same(fold(ExprOp::Pow2Ceil, i(1024)), {i(1024)});
  expect_same(fold(ExprOp::Pow2Ceil, i(-3)), {i(1)});
  expect_same(fold(ExprOp::Pow2Ceil, i(greatest_i64)), {{}, Fault::Overflow});
}

TEST(Expr, CastsToIntegerTruncateAndAreChecked) {
  ExprTable table;
  const auto fold = [&](ScalarType type, const Value &a) {
    return table.known(table.cast(type, table.constant(a))).value();
  };
  expect_same(fold(ScalarType::I32, f(-2.9)), {i(-2)});
  expect_same(fold(ScalarType::I32, i(std::int64_t{1} << 40)), {{}, Fault::OutOfRange});
  expect_same(fold(ScalarType::U8, i(-1)), {{}, Fault::OutOfRange});
  expect_same(fold(ScalarType::U8, f(255.9)), {i(255)});
  expect_same(fold(ScalarType::U64, f(0x1p63)), {u(std::uint64_t{1} << 63)});
  expect_same(fold(ScalarType::I64, f(0x1p63)), {{}, Fault::OutOfRange});
  expect_same(fold(ScalarType::I32, f(std::numeric_limits<double>::quiet_NaN())),
              {{}, Fault::OutOfRange});
  expect_same(fold(ScalarType::F32, f(0.1)), {f(static_cast<double>(0.1F))});
  expect_same(fold(ScalarType::Bool, f(0.5)), {Value::of(true)});
}

TEST(Expr, BranchesThatAreNotTakenMayFault) {
  ExprTable table;
  const ExprId n = table.parameter({0}, ScalarType::I32);
  const ExprId zero = table.constant(i(0));
  const ExprId positive = table.binary(ExprOp::Gt, n, zero);
  const ExprId quotient = table.binary(ExprOp::Div, table.constant(i(10)), n);
  const ExprId guarded = table.select(positive, quotient, zero);
  const ExprId both = table.binary(ExprOp::And, positive, quotient);
  const Value none = i(0);
  const Value five = i(5);
  expect_same(evaluate(table, {&none, 1})[guarded.index], {i(0)});
  expect_same(evaluate(table, {&five, 1})[guarded.index], {i(2)});
  expect_same(evaluate(table, {&none, 1})[both.index], {Value::of(false)});
  expect_same(evaluate(table, {&none, 1})[quotient.index], {{}, Fault::DivisionByZero});
}

TEST(Expr, EqualExpressionsAreOneAndConstantsFold) {
  ExprTable table;
  const ExprId n = table.parameter({0}, ScalarType::I32);
  const ExprId block = table.constant(i(256));
  EXPECT_EQ(table.binary(ExprOp::CeilDiv, n, block), table.binary(ExprOp::CeilDiv, n, block));
  EXPECT_EQ(table.binary(ExprOp::Mul, table.constant(i(16)), table.constant(i(16))), block);
  EXPECT_FALSE(table.known(n));
  const std::uint32_t size = table.size();
  // A constant fault stays an operation, and can be discarded by a decided branch.
  const ExprId fault = table.binary(ExprOp::Div, table.constant(i(1)), table.constant(i(0)));
  EXPECT_EQ(table.known(fault)->fault, Fault::DivisionByZero);
  EXPECT_EQ(table.select(table.constant(Value::of(true)), n, fault), n);
  EXPECT_LE(table.size(), size + 4);
}

TEST(Expr, SelectConvertsToTheCommonKind) {
  ExprTable table;
  const ExprId n = table.parameter({0}, ScalarType::I32);
  const ExprId mixed = table.select(n, table.constant(i(1)), table.constant(f(0.5)));
  const Value yes = i(1);
  expect_same(evaluate(table, {&yes, 1})[mixed.index], {f(1.0)});
}

TEST(Expr, KnowsTheParametersItReads) {
  ExprTable table;
  const ExprId a = table.parameter({0}, ScalarType::I32);
  const ExprId c = table.parameter({2}, ScalarType::F32);
  table.parameter({1}, ScalarType::I32);
  const ExprId sum = table.binary(ExprOp::Add, table.binary(ExprOp::Add, c, a), c);
  EXPECT_EQ(table.parameters_of(sum), (std::vector<ParamId>{{0}, {2}}));
  EXPECT_TRUE(table.parameters_of(table.constant(i(1))).empty());
}

TEST(Expr, ALongChainEvaluatesWithoutRecursion) {
  ExprTable table;
  const ExprId n = table.parameter({0}, ScalarType::I64);
  ExprId sum = n;
  constexpr std::int64_t terms = 200000;
  for (std::int64_t k = 1; k < terms; ++k) {
    sum = table.binary(ExprOp::Add, sum, n);
  }
  const Value three = i(3);
  expect_same(evaluate(table, {&three, 1})[sum.index], {i(3 * terms)});
}

} // namespace
} // namespace cgrt::format
