#include "parameters.h"

#include <cgrt/types.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace cgrt {

using format::Outcome;
using format::Value;

namespace {

std::string typed_name(const format::Param &param) {
  return "param " + param.name + ": " + std::string(format::spelling(param.type));
}

const format::Param &find(const format::Program &program, std::string_view name) {
  std::string known;
  for (const format::Param &param : program.params) {
    if (param.name == name) {
      return param;
    }
  }
  for (const format::Param &param : program.params) {
    known += (known.empty() ? "" : ", ") + param.name;
  }
  throw Error(ErrorCode::Usage,
              "there is no param " + std::string(name) +
                  (known.empty() ? "; the program has none" : "; the program has " + known));
}

std::optional<Parameters::Converted> convert(ScalarType type, const Value &value) {
  const format::ScalarBits bits = format::to_scalar_bits(value, type);
  if ((value.is_float() && !format::is_float(type)) || bits.fault != format::Fault::None) {
    return std::nullopt;
  }
  return Parameters::Converted{format::is_float(type)
                                   ? format::cast(value, type).value
                                   : Value::from_bits(format::kind_of(type), value.bits()),
                               bits.bits};
}

/// `value` as the parameter's type computes with it.
Value converted(const format::Program &program, const format::Param &param, const Value &value) {
  if (const auto result = convert(param.type, value)) {
    return result->value;
  }
  if (value.is_float()) {
    throw Error(ErrorCode::Usage, typed_name(param) + " takes an integer, not " + value.text(),
                program.locate(param.place));
  }
  throw Error(ErrorCode::Usage,
              typed_name(param) + " cannot be " + value.text() + ": the type holds " +
                  std::to_string(format::least(param.type)) + " to " +
                  std::to_string(format::greatest(param.type)),
              program.locate(param.place));
}

std::vector<Value> values_of(const format::Program &program,
                             const std::map<std::string, Scalar> &given) {
  std::vector<Value> values;
  values.reserve(program.params.size());
  for (const format::Param &param : program.params) {
    if (const auto found = given.find(param.name); found != given.end()) {
      values.push_back(converted(program, param, Value::from_scalar(found->second)));
      continue;
    }
    if (!param.default_value.valid()) {
      throw Error(ErrorCode::Usage, typed_name(param) + " has no default and must be given",
                  program.locate(param.place));
    }
    const Outcome fallback = program.exprs.known(param.default_value).value_or(Outcome{});
    if (!fallback.ok()) {
      throw Error(ErrorCode::InvalidValue,
                  typed_name(param) + ": its default: " + std::string(text(fallback.fault)),
                  program.locate(param.place));
    }
    values.push_back(converted(program, param, fallback.value));
  }
  return values;
}

void replace_all(std::string &text, std::string_view what, const std::string &with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

[[noreturn]] void no_value(const ExprUse &use, std::string_view why) {
  throw Error(ErrorCode::InvalidValue,
              use.subject.text() + ": " + use.what() + ": " + std::string(why) + " [range]",
              use.subject.where());
}

} // namespace

std::string ExprUse::what() const {
  return std::string(role) + (name.empty() ? "" : " ") + std::string(name);
}

Parameters::Parameters(const format::Program &program, const std::map<std::string, Scalar> &given)
    : program_(&program) {
  for (const auto &[name, scalar] : given) {
    static_cast<void>(find(program, name));
  }
  values_ = values_of(program, given);
  outcomes_ = format::evaluate(program.exprs, values_);
  for (const format::Check &check : program.checks) {
    run_check(check);
  }
}

[[gnu::hot]] std::optional<Parameters::Converted> Parameters::convert(ScalarType type,
                                                                      const Scalar &value) {
  return cgrt::convert(type, Value::from_scalar(value));
}

Parameters::Assignment Parameters::assignment(std::string_view name, const Scalar &value) const {
  const format::Param &param = find(*program_, name);
  return {{static_cast<std::uint32_t>(&param - program_->params.data())},
          converted(*program_, param, Value::from_scalar(value))};
}

void Parameters::assign(const Dependents &dependents, std::span<const Assignment> assignments,
                        Changes &changes) {
  affected_.clear();
  for (const Assignment &assignment : assignments) {
    const auto exprs = dependents.of(assignment.param);
    affected_.insert(affected_.end(), exprs.begin(), exprs.end());
  }
  if (assignments.size() > 1) {
    std::sort(affected_.begin(), affected_.end());
    affected_.erase(std::unique(affected_.begin(), affected_.end()), affected_.end());
  }
  for (const auto &[param, value] : assignments) {
    changes.values.push_back({param, std::exchange(values_[param.index], value)});
  }
  const auto outcome = [this](format::ExprId id) {
    return id.valid() ? outcomes_[id.index] : Outcome{};
  };
  for (const format::ExprId id : affected_) {
    const format::Expr &expr = program_->exprs[id];
    const Outcome now =
        expr.op == format::ExprOp::Param
            ? Outcome{values_[expr.bits]}
            : format::apply(expr, outcome(expr.a), outcome(expr.b), outcome(expr.c));
    Outcome &then = outcomes_[id.index];
    if (now.fault != then.fault || now.value != then.value) {
      changes.outcomes.emplace_back(id, std::exchange(then, now));
    }
  }
  try {
    for (const auto &[id, old] : changes.outcomes) {
      for (const std::uint32_t check : dependents.checks(id)) {
        run_check(program_->checks[check]);
      }
    }
  } catch (...) {
    exchange(changes);
    changes.clear();
    throw;
  }
}

void Parameters::exchange(Changes &changes) {
  for (auto &[id, other] : changes.outcomes) {
    std::swap(outcomes_[id.index], other);
  }
  for (auto &[param, other] : changes.values) {
    std::swap(values_[param.index], other);
  }
}

const Value &Parameters::value(format::ExprId id, const ExprUse &use) const {
  const Outcome &outcome = outcomes_[id.index];
  if (!outcome.ok()) {
    no_value(use, text(outcome.fault));
  }
  return outcome.value;
}

std::int64_t Parameters::integer(format::ExprId id, const ExprUse &use) const {
  const Value &found = value(id, use);
  if (found.is_float() || found.as_wide() > std::numeric_limits<std::int64_t>::max()) {
    no_value(use, found.text() + " does not fit i64");
  }
  return static_cast<std::int64_t>(found.as_wide());
}

void Parameters::run_check(const format::Check &check) const {
  const Outcome &left = outcomes_[check.left.index];
  const Outcome &right = outcomes_[check.right.index];
  for (const Outcome *side : {&left, &right}) {
    if (!side->ok()) {
      throw Error(ErrorCode::InvalidValue,
                  std::string(format::text(side->fault)) + " [" + check.slug + "]",
                  program_->locate(check.place));
    }
  }
  const auto left_value = left.value.as_wide();
  const auto right_value = right.value.as_wide();
  if (check.relation == format::Check::Relation::Equal ? left_value == right_value
                                                       : left_value <= right_value) {
    return;
  }
  std::string message = check.message;
  replace_all(message, "{left}", left.value.text());
  replace_all(message, "{right}", right.value.text());
  throw Error(ErrorCode::InvalidValue, message + " [" + check.slug + "]",
              program_->locate(check.place));
}

} // namespace cgrt
