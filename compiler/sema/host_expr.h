// Checked host expressions to the program's expression table.
#pragma once

#include "sema/checked_file.h"

#include "format/expr.h"

#include <functional>
#include <vector>

namespace cgc {

/// What names stand for where an expression is used: a kernel's clauses are lowered once for each
/// launch, with its arguments in the place of the kernel's parameters.
struct ExprEnvironment {
  /// The value of a scalar name; none for a buffer's.
  std::function<cgrt::format::ExprId(const Symbol &)> scalar;
  /// The extents of a buffer name.
  std::function<std::vector<cgrt::format::ExprId>(const Symbol &)> shape;
  /// The type that a type parameter stands for; may be missing where there is none.
  std::function<ast::ScalarType(const Symbol &)> type;
};

/// Adds the expression to the table. Folding may leave a constant fault: see ExprTable::known().
cgrt::format::ExprId lower_expr(const CheckedFile &checked, ast::ExprRef root,
                                const ExprEnvironment &environment, cgrt::format::ExprTable &table);

} // namespace cgc
