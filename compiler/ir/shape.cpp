#include "ir/shape.h"

namespace cgc {

using cgrt::format::ExprId;
using cgrt::format::ExprOp;

ExprId element_count(cgrt::format::Program &program, cgrt::format::BufferId buffer) {
  const auto &shape = program[buffer].shape;
  ExprId count = shape[0];
  for (std::size_t axis = 1; axis < shape.size(); ++axis) {
    count = program.exprs.binary(ExprOp::Mul, count, shape[axis]);
  }
  return count;
}

cgrt::format::Region whole_region(cgrt::format::Program &program, cgrt::format::BufferId buffer) {
  const ExprId zero = program.exprs.constant(cgrt::format::Value::of(std::int64_t{0}));
  cgrt::format::Region region{buffer, {}};
  for (const ExprId extent : program[buffer].shape) {
    region.ranges.push_back({zero, extent});
  }
  return region;
}

} // namespace cgc
