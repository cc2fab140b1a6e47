// Device expressions to the code of a kernel.
#pragma once

#include "ir/device_code.h"
#include "ir/frame.h"

#include <optional>
#include <string>
#include <vector>

namespace cgc {

/// A name or a literal in the code.
struct DeviceValue {
  std::string text;
  cgrt::ScalarType type = cgrt::ScalarType::I32;

  /// Whether it is not 0, as C++.
  std::string truth() const;
};

/// What the expression reads, element by element where the host knows the indices.
std::vector<cgrt::format::Region> regions_read(ast::ExprRef root, Frame &frame);

/// The value of one that is constant. A fault is reported.
std::optional<cgrt::format::Value> constant_value(ast::ExprRef root, Frame &frame,
                                                  LoweringContext &context);

/// Adds the evaluation to the code. Types follow C's rules on those of the elements, params and
/// literals; 16-bit floats compute as float. Parts without elements are host expressions.
DeviceValue lower_device_expr(ast::ExprRef root, Frame &frame, DeviceCode &code,
                              LoweringContext &context);

/// The value as that type, converted as in C.
std::string converted(cgrt::ScalarType type, const DeviceValue &value);

/// Adds `target = value;`.
void lower_assignment(const ast::AssignStatement &assignment, Frame &frame, DeviceCode &code,
                      LoweringContext &context);

} // namespace cgc
