#include "ir/memory_lowering.h"

#include "ir/region_relation.h"

#include "format/scalar_type.h"

namespace cgc {

using cgrt::format::Check;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::KernelWork;
using cgrt::format::Region;

namespace {

constexpr std::int64_t fill_block = 256;
constexpr std::size_t most_strided_dimensions = 3;

} // namespace

cgrt::format::Work MemoryLowering::lower(const ast::CopyStatement &copy, Frame &frame) {
  const std::size_t errors_before = context_.diagnostics.error_count();
  const View destination = frame.view(copy.destination);
  const View source = frame.view(copy.source);
  if (context_.diagnostics.error_count() != errors_before) {
    return cgrt::format::CopyWork{destination.region, source.region}; // nothing else is sure
  }
  const SourceRange range = join(frame.range(copy.destination), frame.range(copy.source));
  check_shapes(copy, destination, source, frame);
  check_strides(range, destination.region);
  check_strides(range, source.region);
  if (overlap(context_.polynomials, destination.region, source.region) == Overlap::Yes) {
    const auto name = frame.text(copy.source);
    if (name == frame.text(copy.destination)) {
      context_.diagnostics.report(Diag::CopyOntoItself, range, name);
    } else {
      context_.diagnostics.report(Diag::OverlappingCopy, range, frame.text(copy.destination), name);
    }
  }
  return cgrt::format::CopyWork{destination.region, source.region};
}

void MemoryLowering::check_shapes(const ast::CopyStatement &copy, const View &destination,
                                  const View &source, Frame &frame) {
  const std::vector<ExprId> to = destination.shape();
  const std::vector<ExprId> from = source.shape();
  const SourceRange range = join(frame.range(copy.destination), frame.range(copy.source));
  for (std::size_t axis = 0; axis < std::min(to.size(), from.size()); ++axis) {
    if (context_.polynomials.equal(to[axis], from[axis])) {
      continue;
    }
    const auto known_to = context_.program.exprs.known(to[axis]);
    const auto known_from = context_.program.exprs.known(from[axis]);
    const std::string extent = "extent " + std::to_string(axis);
    if (known_to && known_from) {
      if (known_to->ok() && known_from->ok()) {
        context_.diagnostics.report(Diag::CopyShapeMismatch, range, frame.text(copy.destination),
                                    extent, known_to->value.text(), frame.text(copy.source),
                                    known_from->value.text());
      }
      continue;
    }
    context_.require(to[axis], Check::Relation::Equal, from[axis], "shape",
                     "'" + frame.text(copy.destination) + "' has " + extent + " {left}, '" +
                         frame.text(copy.source) +
                         "' has {right}; both sides of a copy have the same shape",
                     range);
  }
}

/// Strides that depend on parameters are left to the graph builder.
void MemoryLowering::check_strides(const SourceRange &range, const Region &region) {
  const auto dimensions = strided_dimensions(context_.program, context_.polynomials, region);
  if (dimensions.empty()) {
    return;
  }
  // Rows of single elements: the elements themselves are a dimension.
  const bool dense = context_.polynomials.equal(dimensions.back().stride, context_.integer(1));
  const std::size_t count = dimensions.size() + (dense ? 0 : 1);
  bool known = true;
  for (const StridedDimension &dimension : dimensions) {
    const auto extent = context_.program.exprs.known(dimension.count);
    known = known && extent && extent->ok() && extent->value.truthy() &&
            context_.program.exprs.known(dimension.stride);
  }
  if (known && count > most_strided_dimensions) {
    context_.diagnostics.report(Diag::TooManyStrides, range, "copy", count);
  }
}

cgrt::format::Work MemoryLowering::lower(const ast::FillStatement &fill, Frame &frame,
                                         const SourceRange &range) {
  const View destination = frame.view(fill.destination);
  const cgrt::ScalarType type = context_.program[destination.region.buffer].type;
  const ExprId value = frame.lower_as(type, fill.value);
  const auto dimensions =
      strided_dimensions(context_.program, context_.polynomials, destination.region);
  const bool dense = dimensions.empty() ||
                     context_.polynomials.equal(dimensions.back().stride, context_.integer(1));
  const std::size_t count = dimensions.size() + (dense ? 0 : 1);
  if (dimensions.size() > most_strided_dimensions) {
    context_.diagnostics.report(Diag::TooManyStrides, range, "fill", dimensions.size());
  }
  if (cgrt::format::size_of(type) <= 4 && count <= 2) {
    return cgrt::format::FillWork{destination.region, value};
  }
  return fill_by_kernel(destination, value, dimensions, range);
}

cgrt::format::Work MemoryLowering::fill_by_kernel(const View &destination, ExprId value,
                                                  const std::vector<StridedDimension> &dimensions,
                                                  const SourceRange &range) {
  const cgrt::ScalarType type = context_.program[destination.region.buffer].type;
  const ExprId one = context_.integer(1);
  const ExprId count = element_count(context_.program, destination);
  KernelWork work;
  work.grid = {context_.program.exprs.binary(ExprOp::CeilDiv, count, context_.integer(fill_block)),
               one, one};
  work.block = {context_.integer(fill_block), one, one};
  work.shared_bytes = context_.integer(0);
  for (ExprId &extent : work.cluster) {
    extent = one;
  }
  work.cooperative = context_.integer(0);
  work.priority = context_.integer(0);
  const bool contiguous =
      dimensions.empty() ||
      (dimensions.size() == 1 && context_.polynomials.equal(dimensions[0].stride, one));
  if (contiguous) {
    work.kernel = kernels_.fill(type, range);
    work.arguments = {count, value, destination.region};
    return work;
  }
  std::array<StridedDimension, most_strided_dimensions> all;
  all.fill({one, one});
  const std::size_t used = std::min(dimensions.size(), all.size());
  std::copy_n(dimensions.rbegin(), used, all.rbegin());
  work.kernel = kernels_.fill_strided(type, range);
  for (const StridedDimension &dimension : all) {
    work.arguments.emplace_back(dimension.count);
  }
  for (const StridedDimension &dimension : all) {
    work.arguments.emplace_back(dimension.stride);
  }
  work.arguments.emplace_back(value);
  work.arguments.emplace_back(destination.region);
  return work;
}

} // namespace cgc
