// The extents that a parameter of a kernel or def demands of its argument.
#pragma once

#include "ir/lowering_context.h"

#include <string>

namespace cgc {

/// Whom an error about a parameter's shape is about.
struct ShapeContract {
  std::string callee;       ///< "kernel 'saxpy'"
  ast::Name parameter;      ///< where it is declared
  std::string argument;     ///< as it is written
  const SourceRange &range; ///< of the argument
};

/// Reports extents that are known to differ, where `what` ("extent 1") names the one at hand; what
/// depends on parameters becomes a Check.
void require_extent(LoweringContext &context, const ShapeContract &contract,
                    const std::string &what, cgrt::format::ExprId actual,
                    cgrt::format::ExprId declared);

} // namespace cgc
