#include "ir/lowering_context.h"

#include "sema/attribute_check.h"

#include "format/scalar_type.h"

namespace cgc {

using cgrt::format::Check;
using cgrt::format::ExprId;

std::optional<cgrt::format::Value> LoweringContext::known(ExprId id, const SourceRange &range,
                                                          std::string_view what) {
  const auto outcome = program.exprs.known(id);
  if (outcome && !outcome->ok()) {
    diagnostics.report(Diag::EvaluationFault, range, std::string(what) + " has no value",
                       cgrt::format::text(outcome->fault));
    return std::nullopt;
  }
  return outcome ? std::optional(outcome->value) : std::nullopt;
}

void LoweringContext::require(ExprId left, Check::Relation relation, ExprId right,
                              std::string_view slug, std::string message,
                              const SourceRange &range) {
  if (required_.emplace(left, static_cast<std::uint8_t>(relation), right).second) {
    Check check;
    check.left = left;
    check.relation = relation;
    check.right = right;
    check.slug = slug;
    check.message = std::move(message);
    check.place = files.place(range);
    program.checks.push_back(std::move(check));
  }
}

std::string UniqueNames::add(const std::string &name, char separator) {
  const auto [place, added] = taken_.emplace(name, 1);
  if (added) {
    return name;
  }
  // The number may have been given as a name, too.
  std::string candidate;
  do {
    candidate = name + separator + std::to_string(++place->second);
  } while (taken_.contains(candidate));
  taken_.emplace(candidate, 1);
  return candidate;
}

void LoweringContext::require_fits(cgrt::format::ExprId value, cgrt::ScalarType type,
                                   const std::string &what, const SourceRange &range) {
  const auto scalar_class = cgrt::format::class_of(type);
  if (program.exprs.known(value) || scalar_class == cgrt::format::ScalarClass::Float ||
      scalar_class == cgrt::format::ScalarClass::Bool) {
    return;
  }
  const cgrt::format::Expr &expr = program.exprs[value];
  if (expr.op == cgrt::format::ExprOp::Param && !cgrt::format::is_float(expr.type) &&
      cgrt::format::least(expr.type) >= cgrt::format::least(type) &&
      cgrt::format::greatest(expr.type) <= cgrt::format::greatest(type)) {
    return; // as every value of the param does
  }
  const std::string name(cgrt::format::spelling(type));
  const ExprId least = integer(cgrt::format::least(type));
  const ExprId greatest =
      program.exprs.constant(cgrt::format::Value::of(cgrt::format::greatest(type)));
  require(least, Check::Relation::LessEqual, value, "range",
          what + " {right} is less than " + name + " holds", range);
  require(value, Check::Relation::LessEqual, greatest, "range",
          what + " {left} is more than " + name + " holds", range);
}

cgrt::format::LaunchId LoweringContext::add_launch(ast::LaunchKind kind, const Symbol &target,
                                                   const SourceRange &range, std::string_view who) {
  const std::uint32_t number = target.kind == SymbolKind::None ? entry : target.index;
  const ast::Graph &own = checked.main().file->graphs[entry];
  const ast::Graph &graph = checked.main().file->graphs[number];
  if (number == entry && kind != ast::LaunchKind::Tail) {
    diagnostics.report(Diag::SelfAtOnce, range, spelling(kind));
  } else if (number == entry && find_attribute(own.attributes, "device_launch") == nullptr) {
    diagnostics.report(Diag::TargetNotForDevice, range, own.name.text)
        .notes.push_back({own.name.range, "the graph is declared here"});
  }
  std::string text = std::string(spelling(kind)) + " ";
  text += number == entry ? ast::self_name : graph.name.text;
  if (!who.empty()) {
    text += " by kernel " + std::string(who);
  }
  program.launches.push_back({text, kind, {}, files.place(range)});
  launch_targets.push_back(number);
  return {static_cast<std::uint32_t>(program.launches.size() - 1)};
}

} // namespace cgc
