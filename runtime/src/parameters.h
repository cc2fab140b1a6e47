// The values of a program's parameters, and of every expression with them.
#pragma once

#include "dependents.h"
#include "format/program.h"
#include "node_label.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
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

  /// A parameter's new value, converted. Error{Usage} as above.
  struct Assignment {
    format::ParamId param;
    format::Value value;
  };
  Assignment assignment(std::string_view name, const Scalar &value) const;

  /// What a param of a type computes with, and its bits as that type.
  struct Converted {
    format::Value value;
    std::uint64_t bits;
  };
  /// None where assignment() refuses the value.
  static std::optional<Converted> convert(ScalarType type, const Scalar &value);

  /// What assign() has changed, with what it was before.
  struct Changes {
    std::vector<std::pair<format::ExprId, format::Outcome>> outcomes; ///< operands before users
    std::vector<Assignment> values;

    void clear() {
      outcomes.clear();
      values.clear();
    }
  };

  /// Evaluates again what reads these parameters, each of them once, and fills `changes`, which is
  /// empty. Error{InvalidValue}: a check does not hold; then nothing has changed.
  void assign(const Dependents &dependents, std::span<const Assignment> assignments,
              Changes &changes);
  /// The same for a param that only one expression reads, itself, and no check. `value` is
  /// converted.
  void put(format::ParamId param, format::ExprId reader, const format::Value &value) {
    values_[param.index] = value;
    outcomes_[reader.index] = {value};
  }
  /// Takes back what assign() has changed, or brings it back.
  void exchange(Changes &changes);

  const format::Outcome &outcome(format::ExprId id) const { return outcomes_[id.index]; }

  /// A parameter's value.
  const format::Value &value(format::ParamId param) const { return values_[param.index]; }
  /// An expression's value. Error{InvalidValue} names the use if it has none.
  const format::Value &value(format::ExprId id, const ExprUse &use) const;
  /// As a 64-bit signed integer; Error{InvalidValue} also if it does not fit.
  std::int64_t integer(format::ExprId id, const ExprUse &use) const;

private:
  void run_check(const format::Check &check) const;

  const format::Program *program_;
  std::vector<format::Value> values_;     ///< parallel to the parameters
  std::vector<format::Outcome> outcomes_; ///< parallel to the expression table
  std::vector<format::ExprId> affected_;  ///< scratch
};

} // namespace cgrt
