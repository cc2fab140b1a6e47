// The code of a kernel of one thread while statements of the program add to it.
#pragma once

#include "ir/kernel_instances.h"

#include <string>
#include <string_view>
#include <vector>

namespace cgc {

class DeviceCode {
public:
  /// `range` is that of the first statement.
  explicit DeviceCode(const SourceRange &range) : range_(range) {}

  const SourceRange &range() const { return range_; }
  /// Statements of the program in it.
  std::size_t statements() const { return statements_; }
  void count_statement() { ++statements_; }
  std::size_t arguments() const { return arguments_.size(); }
  /// Whether it writes into the buffer.
  bool writes(cgrt::format::BufferId buffer) const;

  // The names by which the code knows what it is given; equal things share one.
  std::string scalar(cgrt::format::ExprId value, cgrt::ScalarType type);
  /// A pointer to the region's first element.
  std::string pointer(const cgrt::format::Region &region, cgrt::ScalarType type, bool reads,
                      bool writes);
  std::string handle(cgrt::format::ConditionId condition);
  std::string graph(cgrt::format::LaunchId launch);
  std::string node(cgrt::format::UpdatableId node);

  /// A new local variable's name.
  std::string variable() { return "v" + std::to_string(variables_++); }
  void line(const std::string &text) { text_ += "  " + text + "\n"; }

  /// The launch; `name` is its kernel's unless an equal one is there.
  cgrt::format::KernelWork finish(const std::string &name, const SourceRange &range,
                                  KernelInstances &kernels, LoweringContext &context) const;

private:
  std::string add(std::string_view prefix, cgrt::format::KernelParam param,
                  cgrt::format::Argument argument);

  SourceRange range_;
  std::vector<cgrt::format::KernelParam> params_;
  std::vector<cgrt::format::Argument> arguments_; ///< parallel to params_
  std::string text_;
  std::size_t variables_ = 0;
  std::size_t statements_ = 0;
};

} // namespace cgc
