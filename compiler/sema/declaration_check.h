// What declarations at file scope and in blocks have in common.
#pragma once

#include "sema/expr_check.h"

namespace cgc {

/// Extents are integers, and there are 1 to 8 of them.
void check_shape(const std::vector<ast::ExprRef> &shape, const ast::Name &name,
                 const ExprScope &scope, ExprCheck &exprs, Diagnostics &diagnostics);

/// Shape and attributes. Buffers declared together share both; check one of them.
void check_buffer(const ast::Buffer &buffer, const ExprScope &scope, ExprCheck &exprs,
                  Diagnostics &diagnostics);

/// A kernel's declaration; its clauses.
KernelClauses check_kernel(const ast::Kernel &kernel, ExprCheck &exprs, Diagnostics &diagnostics);

void check_callable(const ast::Callable &callable, ExprCheck &exprs, Diagnostics &diagnostics);

/// The type of a kernel's parameter when its type parameters stand for `types`.
ast::ScalarType parameter_type(const ast::Signature &kernel, const ast::Parameter &parameter,
                               const std::vector<ast::ScalarType> &types);

/// Reports a name that kernel bodies could not see.
void check_seen_by_bodies(const ast::Name &name, Diagnostics &diagnostics);

} // namespace cgc
