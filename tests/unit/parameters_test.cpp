#include "parameters.h"

#include <gmock/gmock.h>

#include <optional>

namespace cgrt {
namespace {

using format::Check;
using format::ExprId;
using format::ExprOp;
using format::Value;
using ::testing::HasSubstr;

/// n: i32 (required), a: f32 = 2, b: u8 = 7, all in line 1 to 3 of p.cgraph.
format::Program program() {
  format::Program program;
  program.files = {"p.cgraph"};
  const auto param = [&](const char *name, ScalarType type, ExprId value) {
    const auto line = static_cast<std::uint32_t>(program.params.size() + 1);
    program.params.push_back({name, type, value, {{0}, line, 1}});
  };
  param("n", ScalarType::I32, {});
  param("a", ScalarType::F32, program.exprs.constant(Value::of(2.0)));
  param("b", ScalarType::U8, program.exprs.constant(Value::of(std::int64_t{7})));
  return program;
}

using Given = std::map<std::string, Scalar>;

std::string error_of(const format::Program &program, const Given &given, ErrorCode code) {
  try {
    const Parameters parameters(program, given);
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

std::string usage_error(const Given &given) {
  return error_of(program(), given, ErrorCode::Usage);
}

const NodeLabel subject("buffer x", {"p.cgraph", 9, 1});

TEST(Parameters, TakesValuesAndDefaults) {
  format::Program p = program();
  const ExprId n = p.exprs.parameter({0}, ScalarType::I32);
  const ExprId a = p.exprs.parameter({1}, ScalarType::F32);
  const ExprId b = p.exprs.parameter({2}, ScalarType::U8);
  const Parameters parameters(p, {{"n", std::int64_t{-5}}, {"b", std::uint64_t{255}}});
  EXPECT_EQ(parameters.integer(n, {subject, "n"}), -5);
  EXPECT_EQ(parameters.value(a, {subject, "a"}), Value::of(2.0));
  EXPECT_EQ(parameters.integer(b, {subject, "b"}), 255);
}

TEST(Parameters, ConvertsToTheDeclaredType) {
  format::Program p = program();
  const ExprId n = p.exprs.parameter({0}, ScalarType::I32);
  const ExprId a = p.exprs.parameter({1}, ScalarType::F32);
  const Parameters parameters(p, {{"n", true}, {"a", 0.1}});
  EXPECT_EQ(parameters.value(n, {subject, "n"}), Value::of(std::int64_t{1}));
  EXPECT_EQ(parameters.value(a, {subject, "a"}), Value::of(double{0.1F}));
  const Parameters integer(p, {{"n", std::int64_t{1}}, {"a", std::int64_t{3}}});
  EXPECT_EQ(integer.value(a, {subject, "a"}), Value::of(3.0));
}

TEST(Parameters, RefusesWhatTheProgramDoesNotHave) {
  EXPECT_EQ(usage_error({{"n", std::int64_t{1}}, {"m", std::int64_t{1}}}),
            "there is no param m; the program has n, a, b");
  EXPECT_EQ(error_of({}, {{"m", true}}, ErrorCode::Usage),
            "there is no param m; the program has none");
}

TEST(Parameters, RefusesMissingAndWrongValuesAtTheirPlace) {
  EXPECT_EQ(usage_error({}), "p.cgraph:1: param n: i32 has no default and must be given");
  EXPECT_EQ(usage_error({{"n", 1.0}}), "p.cgraph:1: param n: i32 takes an integer, not 1");
  EXPECT_EQ(usage_error({{"n", std::int64_t{1} << 31}}),
            "p.cgraph:1: param n: i32 cannot be 2147483648: the type holds -2147483648 to "
            "2147483647");
  EXPECT_EQ(usage_error({{"n", std::int64_t{1}}, {"b", std::int64_t{-1}}}),
            "p.cgraph:3: param b: u8 cannot be -1: the type holds 0 to 255");
}

TEST(Parameters, ADefaultMustFitItsType) {
  format::Program p = program();
  p.params[2].default_value = p.exprs.constant(Value::of(std::int64_t{256}));
  EXPECT_THAT(error_of(p, {{"n", std::int64_t{1}}}, ErrorCode::Usage),
              HasSubstr("p.cgraph:3: param b: u8 cannot be 256"));
  p.params[2].default_value =
      p.exprs.binary(ExprOp::Div, p.exprs.constant(Value::of(std::int64_t{1})),
                     p.exprs.constant(Value::of(std::int64_t{0})));
  EXPECT_EQ(error_of(p, {{"n", std::int64_t{1}}}, ErrorCode::InvalidValue),
            "p.cgraph:3: param b: u8: its default: division by zero");
}

TEST(Parameters, AnExpressionWithoutAValueIsAnErrorOnlyWhereItIsUsed) {
  format::Program p = program();
  const ExprId n = p.exprs.parameter({0}, ScalarType::I32);
  const ExprId quotient =
      p.exprs.binary(ExprOp::Div, p.exprs.constant(Value::of(std::int64_t{8})), n);
  const Parameters parameters(p, {{"n", std::int64_t{0}}});
  try {
    parameters.integer(quotient, {subject, "dimension 0"});
    FAIL() << "no error";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidValue);
    EXPECT_STREQ(error.what(), "p.cgraph:9: buffer x: dimension 0: division by zero [range]");
  }
}

TEST(Parameters, AnIntegerMustFitSixtyFourSignedBits) {
  format::Program p;
  const ExprId large = p.exprs.constant(Value::of(~std::uint64_t{0}));
  const Parameters parameters(p, {});
  EXPECT_THROW(parameters.integer(large, {subject, "dimension 0"}), Error);
}

TEST(Parameters, RunsChecksInOrder) {
  format::Program p = program();
  const ExprId n = p.exprs.parameter({0}, ScalarType::I32);
  const ExprId ten = p.exprs.constant(Value::of(std::int64_t{10}));
  const ExprId zero = p.exprs.constant(Value::of(std::int64_t{0}));
  p.checks.push_back({n,
                      Check::Relation::LessEqual,
                      ten,
                      "range",
                      "{left} elements, {right} at most, not {left}",
                      {{0}, 20, 1}});
  p.checks.push_back({n, Check::Relation::Equal, ten, "shape", "x has {left}", {{0}, 21, 1}});
  p.checks.push_back({p.exprs.binary(ExprOp::Rem, ten, n),
                      Check::Relation::Equal,
                      zero,
                      "shape",
                      "",
                      {{0}, 22, 1}});
  const auto check = [&](std::int64_t value) {
    return error_of(p, {{"n", value}}, ErrorCode::InvalidValue);
  };
  EXPECT_EQ(check(10), "no error");
  EXPECT_EQ(check(11), "p.cgraph:20: 11 elements, 10 at most, not 11 [range]");
  EXPECT_EQ(check(5), "p.cgraph:21: x has 5 [shape]");
  p.checks.erase(p.checks.begin() + 1);
  EXPECT_EQ(check(0), "p.cgraph:22: division by zero [shape]");
}

} // namespace
} // namespace cgrt
