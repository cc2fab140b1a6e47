#include "ir/polynomial.h"

#include <gtest/gtest.h>

#include <limits>

namespace cgc {
namespace {

using cgrt::ScalarType;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::ExprTable;
using cgrt::format::Value;

class PolynomialTest : public ::testing::Test {
public:
  ExprId number(std::int64_t value) { return table.constant(Value::of(value)); }
  ExprId add(ExprId a, ExprId b) { return table.binary(ExprOp::Add, a, b); }
  ExprId sub(ExprId a, ExprId b) { return table.binary(ExprOp::Sub, a, b); }
  ExprId mul(ExprId a, ExprId b) { return table.binary(ExprOp::Mul, a, b); }

  ExprTable table;
  Polynomials polynomials{table};
  ExprId n = table.parameter({0}, ScalarType::I32);
  ExprId m = table.parameter({1}, ScalarType::I32);
  ExprId u = table.parameter({2}, ScalarType::U32);
};

TEST_F(PolynomialTest, WaysToWriteTheSameAreEqual) {
  // (n + m) * (n - m) == n * n - m * m
  EXPECT_TRUE(polynomials.equal(mul(add(n, m), sub(n, m)), sub(mul(n, n), mul(m, m))));
  EXPECT_TRUE(polynomials.equal(mul(number(3), n), add(add(n, n), n)));
  EXPECT_TRUE(polynomials.equal(table.unary(ExprOp::Neg, sub(n, m)), sub(m, n)));
  EXPECT_TRUE(polynomials.equal(table.cast(ScalarType::I64, n), n));
  EXPECT_FALSE(polynomials.equal(mul(n, m), mul(n, n)));
  EXPECT_FALSE(polynomials.equal(n, m));
}

TEST_F(PolynomialTest, DifferencesCancelToConstants) {
  const ExprId distance = sub(mul(add(n, number(1)), m), mul(n, m)); // m
  EXPECT_EQ(polynomials.of(distance), polynomials.of(m));
  const Polynomial zero = polynomials.of(sub(distance, m));
  EXPECT_TRUE(zero.is_constant());
  EXPECT_EQ(zero.constant, 0);
}

TEST_F(PolynomialTest, WhatIsNoPolynomialIsAnAtom) {
  const ExprId half = table.binary(ExprOp::Div, n, number(2));
  EXPECT_TRUE(polynomials.equal(add(half, half), mul(number(2), half)));
  EXPECT_FALSE(polynomials.equal(mul(number(2), half), n)); // n may be odd
  const ExprId real = table.parameter({3}, ScalarType::F64);
  EXPECT_EQ(polynomials.of(add(real, real)).terms.size(), 1U);
  EXPECT_FALSE(polynomials.equal(add(real, real), mul(number(2), real))); // rounding is not ours
}

TEST_F(PolynomialTest, CoefficientsThatDoNotFitAreNotAdded) {
  const ExprId most = number(std::numeric_limits<std::int64_t>::max());
  const ExprId beyond = add(mul(most, n), mul(most, n));
  EXPECT_EQ(polynomials.of(beyond), (Polynomial{0, {{{beyond.index}, 1}}}));
  EXPECT_EQ(cgc::add({std::numeric_limits<std::int64_t>::max(), {}}, {1, {}}), std::nullopt);
  EXPECT_EQ(cgc::add({0, {}}, {std::numeric_limits<std::int64_t>::min(), {}}, -1), std::nullopt);
}

TEST_F(PolynomialTest, ReferencesOutliveTheTablesGrowth) {
  const Polynomial &first = polynomials.of(n);
  const Polynomial before = first;
  ExprId sum = n;
  for (int i = 0; i < 1000; ++i) {
    sum = add(mul(sum, number(2)), m);
    static_cast<void>(polynomials.of(sum));
  }
  EXPECT_EQ(first, before);
}

TEST_F(PolynomialTest, SignsFollowFromTypesAndAssumptions) {
  EXPECT_FALSE(polynomials.nonnegative(polynomials.of(n)));
  EXPECT_TRUE(polynomials.nonnegative(polynomials.of(u)));
  EXPECT_TRUE(polynomials.nonnegative(polynomials.of(add(mul(u, u), number(3)))));
  EXPECT_FALSE(polynomials.nonnegative(polynomials.of(sub(mul(u, u), u))));
  EXPECT_FALSE(polynomials.nonnegative(polynomials.of(sub(u, number(1)))));

  polynomials.assume_nonnegative(mul(n, m)); // an extent; n and m may both be negative
  EXPECT_TRUE(polynomials.nonnegative(polynomials.of(mul(number(5), mul(m, n)))));
  EXPECT_FALSE(polynomials.nonnegative(polynomials.of(n)));
  EXPECT_FALSE(polynomials.nonnegative(polynomials.of(mul(mul(n, m), n))));

  polynomials.assume_nonnegative(mul(number(4), n)); // then so is n
  EXPECT_TRUE(polynomials.nonnegative(polynomials.of(n)));
  polynomials.assume_nonnegative(sub(m, number(2))); // says nothing that is kept
  EXPECT_FALSE(polynomials.nonnegative(polynomials.of(m)));
}

} // namespace
} // namespace cgc
