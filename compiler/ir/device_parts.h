// What of an expression only the device can compute.
#pragma once

#include "sema/checked_file.h"

#include <vector>

namespace cgc {

/// The parts of a checked expression that read elements of buffers.
class DeviceParts {
public:
  DeviceParts(const CheckedFile &file, ast::ExprRef root)
      : first_(file[root].first), on_device_(root.index - first_ + 1, false) {
    for (std::uint32_t i = first_; i <= root.index; ++i) {
      const ast::Expr &expr = file[{i}];
      bool reads = expr.kind == ast::ExprKind::Index;
      ast::for_each_operand(expr, [&](ast::ExprRef operand) { reads = reads || has(operand); });
      on_device_[i - first_] = reads;
    }
  }

  /// Whether it is the expression, or a part of it, that reads an element.
  bool has(ast::ExprRef part) const { return on_device_[part.index - first_]; }

private:
  std::uint32_t first_;
  std::vector<bool> on_device_; ///< of the expressions from first_ to the root
};

} // namespace cgc
