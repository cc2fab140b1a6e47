// Resolves and types the expressions of one file.
#pragma once

#include "diag/diagnostics.h"
#include "sema/checked_file.h"

#include <string>

namespace cgc {

/// Where an expression stands decides what it may read.
struct ExprScope {
  /// The enclosing kernel, whose parameters its clauses read; they do not see the file's params.
  const ast::Kernel *kernel = nullptr;
  bool params = true;    ///< whether the file's params may be read
  bool buffers = true;   ///< whether len and dim may ask for a buffer's shape
  std::string_view user; ///< "a const", for messages
};

class ExprCheck {
public:
  ExprCheck(CheckedFile &checked, Diagnostics &diagnostics)
      : checked_(checked), diagnostics_(diagnostics) {}

  /// True when the whole expression is right; `symbols` and `kinds` are then set for it.
  bool check(ast::ExprRef root, const ExprScope &scope);
  /// Also demands that it computes an integer; `what` names it.
  bool check_integer(ast::ExprRef root, const ExprScope &scope, const std::string &what);

  /// The symbol that a name means there.
  Symbol resolve(std::string_view name, const ExprScope &scope) const;

  /// "a kernel", "a buffer"
  static std::string_view describe(SymbolKind kind);

private:
  bool check_node(ast::ExprRef ref, const ExprScope &scope);
  bool check_name(ast::ExprRef ref, const ExprScope &scope);
  bool check_shape_use(const ast::Expr &name, const ExprScope &scope, bool visible);
  bool check_call(ast::ExprRef ref, const ExprScope &scope);
  bool check_dim_index(const ast::Expr &call, ast::ExprRef buffer, const ExprScope &scope);
  bool check_operator(ast::ExprRef ref, cgrt::format::ExprOp op, std::string_view spelling);
  bool is_buffer(const Symbol &symbol, const ExprScope &scope) const;
  std::size_t rank(const Symbol &symbol, const ExprScope &scope) const;

  CheckedFile &checked_;
  Diagnostics &diagnostics_;
};

/// "1 argument", "2 dimensions"
std::string counted(std::size_t count, std::string_view noun);

/// The value of a checked expression over consts and literals, or nothing where it is not constant;
/// its fault where it is bound to have none.
std::optional<cgrt::format::Outcome> constant_value(const CheckedFile &checked, ast::ExprRef root);

} // namespace cgc
