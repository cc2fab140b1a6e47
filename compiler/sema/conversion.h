// Whether a value may become a scalar of a type.
#pragma once

#include "sema/expr_check.h"

namespace cgc {

/// Reports a float for an integer, and a constant that the type does not hold; `what` names the
/// scalar.
void check_conversion(ast::ExprRef root, ast::ScalarType type, const std::string &what,
                      const CheckedFile &file, const ExprCheck &exprs, Diagnostics &diagnostics);

/// The value of a constant expression that has been checked; a fault is reported.
std::optional<ast::Value> evaluate(ast::ExprRef root, const CheckedFile &file,
                                   const ExprCheck &exprs, Diagnostics &diagnostics);

} // namespace cgc
