// Resolves and types the expressions of one file.
#pragma once

#include "diag/diagnostics.h"
#include "sema/checked_file.h"
#include "sema/scope.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cgc {

/// Where an expression stands decides what it may read.
struct ExprScope {
  /// The enclosing kernel, whose parameters its clauses read; they do not see the file's params.
  const ast::Signature *kernel = nullptr;
  const Scope *locals = nullptr;
  bool params = true;    ///< whether the file's params may be read
  bool buffers = true;   ///< whether len and dim may ask for a buffer's shape
  std::string_view user; ///< "a const", for messages
  bool elements = false; ///< whether it is a device expression, which reads elements of buffers
};

/// A buffer or a slice of one, as far as types tell.
struct Reference {
  Symbol symbol; ///< a Buffer or a DefParameter
  ast::ScalarType type = ast::ScalarType::F32;
  std::size_t rank = 0;
  SourceRange range = {};
};

class ExprCheck {
public:
  /// `file` is the one in `program` that is being checked; those before it are complete.
  ExprCheck(CheckedProgram &program, CheckedFile &file, const SourceFiles &files,
            Diagnostics &diagnostics)
      : program_(program), file_(file), files_(files), diagnostics_(diagnostics) {}

  /// True when the whole expression is right and a scalar; `symbols` and `kinds` are then set for
  /// it.
  bool check(ast::ExprRef root, const ExprScope &scope);
  /// The elements that a device expression, which has been checked, reads.
  std::vector<Reference> elements_in(ast::ExprRef root, const ExprScope &scope) const;
  /// Also demands that it computes an integer; `what` names it.
  bool check_integer(ast::ExprRef root, const ExprScope &scope, const std::string &what);
  /// A buffer or a slice; nothing after reporting what else it is.
  std::optional<Reference> check_reference(ast::ExprRef root, const ExprScope &scope);

  /// The symbol that a Name means there; None after reporting that there is none.
  Symbol resolve(ast::ExprRef name, const ExprScope &scope);
  /// The same for a name without a module; says nothing.
  Symbol find(std::string_view name, const ExprScope &scope) const;

  /// The value of a checked expression over consts and literals, or nothing where it is not
  /// constant; its fault where it is bound to have none.
  std::optional<cgrt::format::Outcome> constant_value(ast::ExprRef root) const;

  /// A reference as it is written, for messages.
  std::string text(ast::ExprRef root) const;

  void report_wrong_kind(ast::ExprRef name, const Symbol &symbol, std::string_view wanted);

  /// "a kernel", "a buffer"
  static std::string_view describe(SymbolKind kind);

  /// Grows with each error, and with each use of what has an error elsewhere.
  std::size_t failures() const { return diagnostics_.reported_errors() + silent_failures_; }

  /// Whether the declaration has an error; what uses it says nothing then.
  bool is_broken(const Symbol &symbol) const {
    return program_.broken_declarations.contains(symbol);
  }

  /// What has been read or called: (module, kind, index).
  const std::set<std::tuple<std::uint32_t, SymbolKind, std::uint32_t>> &used() const {
    return used_;
  }

private:
  /// Says nothing where the name's declaration has an error.
  void report_undefined(const ast::Name &name, const CheckedFile &declared_in,
                        std::string_view shown, std::string_view why);
  /// Checks all nodes of the expression; references are allowed anywhere here.
  bool check_nodes(ast::ExprRef root, const ExprScope &scope);
  bool check_node(ast::ExprRef ref, const ExprScope &scope);
  bool check_name(ast::ExprRef ref, const ExprScope &scope);
  bool check_parameter(ast::ExprRef ref, const ast::Parameter &declared, const ExprScope &scope);
  bool check_visible(const ast::Expr &name, const ExprScope &scope, bool visible,
                     std::string_view what);
  bool check_call(ast::ExprRef ref, const ExprScope &scope);
  bool check_sizeof(const ast::Expr &argument, ast::ExprRef ref);
  Reference reference(ast::ExprRef root, const ExprScope &scope) const;
  bool check_cast_to_parameter(ast::ExprRef ref, const Symbol &type, const ExprScope &scope);
  bool check_dim_index(const ast::Expr &call, ast::ExprRef buffer, const ExprScope &scope);
  bool check_operator(ast::ExprRef ref, cgrt::format::ExprOp op, std::string_view spelling);
  bool check_subscripts(ast::ExprRef ref, const ExprScope &scope);
  bool require_scalar(ast::ExprRef ref, const ExprScope &scope);
  bool require_element(ast::ExprRef ref, const ExprScope &scope);
  bool is_reference(ast::ExprRef ref) const;
  std::size_t rank(ast::ExprRef ref, const ExprScope &scope) const;
  const ast::Parameter *parameter(const Symbol &symbol, const ExprScope &scope) const;
  bool is_element(ast::ExprRef ref, const ExprScope &scope) const;
  cgrt::format::ValueKind kind_of_parameter(const ast::Parameter &parameter,
                                            const ExprScope &scope) const;

  CheckedProgram &program_;
  CheckedFile &file_;
  const SourceFiles &files_;
  Diagnostics &diagnostics_;
  std::set<std::tuple<std::uint32_t, SymbolKind, std::uint32_t>> used_;
  std::size_t silent_failures_ = 0;
};

/// "1 argument", "2 dimensions"
std::string counted(std::size_t count, std::string_view noun);

} // namespace cgc
