#include "ir/view.h"

#include <algorithm>

namespace cgc {

using cgrt::format::BufferId;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::Program;
using cgrt::format::Region;
using cgrt::format::Value;

std::vector<ExprId> View::shape() const {
  std::vector<ExprId> extents;
  extents.reserve(kept.size());
  for (const std::size_t dimension : kept) {
    extents.push_back(region.ranges[dimension].count);
  }
  return extents;
}

View whole_view(Program &program, BufferId buffer) {
  View view;
  view.region.buffer = buffer;
  const ExprId zero = program.exprs.constant(Value::of(std::int64_t{0}));
  for (const ExprId extent : program[buffer].shape) {
    view.kept.push_back(view.region.ranges.size());
    view.region.ranges.push_back({zero, extent});
  }
  return view;
}

ExprId element_count(Program &program, const View &view) {
  const std::vector<ExprId> shape = view.shape();
  if (shape.empty()) {
    return program.exprs.constant(Value::of(std::int64_t{1}));
  }
  ExprId count = shape[0];
  for (std::size_t axis = 1; axis < shape.size(); ++axis) {
    count = program.exprs.binary(ExprOp::Mul, count, shape[axis]);
  }
  return count;
}

std::vector<StridedDimension> strided_dimensions(Program &program, Polynomials &polynomials,
                                                 const Region &region) {
  const auto &shape = program[region.buffer].shape;
  const ExprId one = program.exprs.constant(Value::of(std::int64_t{1}));
  std::vector<StridedDimension> dimensions; // innermost first
  ExprId stride = one;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const ExprId count = region.ranges[i].count;
    if (!polynomials.equal(count, one)) {
      // Where the dimension inside is whole, both are one.
      const bool joins =
          !dimensions.empty() &&
          polynomials.equal(
              program.exprs.binary(ExprOp::Mul, dimensions.back().count, dimensions.back().stride),
              stride);
      if (joins) {
        dimensions.back().count = program.exprs.binary(ExprOp::Mul, count, dimensions.back().count);
      } else {
        dimensions.push_back({count, stride});
      }
    }
    if (i != 0) {
      stride = stride == one ? shape[i] : program.exprs.binary(ExprOp::Mul, shape[i], stride);
    }
  }
  std::reverse(dimensions.begin(), dimensions.end());
  return dimensions;
}

Contiguity contiguity(Program &program, Polynomials &polynomials, const Region &region) {
  const auto dimensions = strided_dimensions(program, polynomials, region);
  const ExprId one = program.exprs.constant(Value::of(std::int64_t{1}));
  if (dimensions.empty() ||
      (dimensions.size() == 1 && polynomials.equal(dimensions[0].stride, one))) {
    return Contiguity::Yes;
  }
  // Constant extents decide: an extent of 0 makes the region empty, and 1 was left out.
  bool known = true;
  for (const StridedDimension &dimension : dimensions) {
    const auto count = program.exprs.known(dimension.count);
    const auto stride = program.exprs.known(dimension.stride);
    if (count && count->ok() && !count->value.truthy()) {
      return Contiguity::Yes;
    }
    known = known && count && stride;
  }
  return known ? Contiguity::No : Contiguity::Maybe;
}

} // namespace cgc
