// Expressions and regions made by hand, for tests of how they lie to each other.
#pragma once

#include "ir/polynomial.h"

#include "format/program.h"

#include <gtest/gtest.h>

namespace cgc::testing {

/// `n` is a param of type i32; buffer 0 is one that nothing needs to look up.
class ExprFixture : public ::testing::Test {
public:
  cgrt::format::ExprId number(std::int64_t value) {
    return program.exprs.constant(cgrt::format::Value::of(value));
  }
  cgrt::format::ExprId times(std::int64_t factor, cgrt::format::ExprId a) {
    return program.exprs.binary(cgrt::format::ExprOp::Mul, number(factor), a);
  }
  cgrt::format::Region region(cgrt::format::ExprId begin, cgrt::format::ExprId count) const {
    return {cgrt::format::BufferId{0}, {{begin, count}}};
  }

  cgrt::format::Program program;
  Polynomials polynomials{program.exprs};
  cgrt::format::ExprId n = program.exprs.parameter({0}, cgrt::ScalarType::I32);
};

} // namespace cgc::testing
