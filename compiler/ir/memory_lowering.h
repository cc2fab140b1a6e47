// Copies and fills to nodes.
#pragma once

#include "ir/frame.h"
#include "ir/kernel_instances.h"

namespace cgc {

class MemoryLowering {
public:
  MemoryLowering(LoweringContext &context, KernelInstances &kernels)
      : context_(context), kernels_(kernels) {}

  cgrt::format::Work lower(const ast::CopyStatement &copy, Frame &frame);
  /// memset repeats 1, 2 or 4 bytes in up to two dimensions; a kernel fills what it does not.
  cgrt::format::Work lower(const ast::FillStatement &fill, Frame &frame, const SourceRange &range);

private:
  void check_shapes(const ast::CopyStatement &copy, const View &destination, const View &source,
                    Frame &frame);
  void check_strides(const SourceRange &range, const cgrt::format::Region &region);
  cgrt::format::Work fill_by_kernel(const View &destination, cgrt::format::ExprId value,
                                    const std::vector<StridedDimension> &dimensions,
                                    const SourceRange &range);

  LoweringContext &context_;
  KernelInstances &kernels_;
};

} // namespace cgc
