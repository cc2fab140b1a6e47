// The values of a program's parameters, and of every expression with them.
#pragma once

#include "format/program.h"
#include "node_label.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cgrt {

/// Whom an error about an expression is about; used within one full expression.
struct ExprUse {
  const NodeLabel &subject;   ///< "kernel saxpy"
  std::string_view role;      ///< "grid.y", "argument"
  std::string_view name = {}; ///< the argument's name

  /// "argument x"
  std::string what() const;
};

class Parameters {
public:
  /// Checks and converts what the caller gave, fills in defaults, evaluates all expressions and
  /// runs the program's checks. Error{Usage}: a parameter is unknown, missing, of the wrong kind
  /// or outside its type; Error{InvalidValue}: a check does not hold.
  /// `program` must outlive this object.
  Parameters(const format::Program &program, const std::map<std::string, Scalar> &given);

  /// For each expression whether its value differs.
  std::vector<bool> changes_from(const Parameters &earlier) const;

  /// An expression's value. Error{InvalidValue} names the use if it has none.
  const format::Value &value(format::ExprId id, const ExprUse &use) const;
  /// As a 64-bit signed integer; Error{InvalidValue} also if it does not fit.
  std::int64_t integer(format::ExprId id, const ExprUse &use) const;

private:
  void run_check(const format::Check &check, const SourceLocation &where) const;

  std::vector<format::Outcome> outcomes_; ///< parallel to the expression table
};

} // namespace cgrt
