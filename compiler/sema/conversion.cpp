#include "sema/conversion.h"

#include "format/scalar_type.h"

namespace cgc {

std::optional<ast::Value> evaluate(ast::ExprRef root, const CheckedFile &file,
                                   const ExprCheck &exprs, Diagnostics &diagnostics) {
  const auto outcome = exprs.constant_value(root);
  if (outcome && !outcome->ok()) {
    diagnostics.report(Diag::EvaluationFault, file[root].range, "this expression has no value",
                       cgrt::format::text(outcome->fault));
    return std::nullopt;
  }
  return outcome ? std::optional(outcome->value) : std::nullopt;
}

void check_conversion(ast::ExprRef root, ast::ScalarType type, const std::string &what,
                      const CheckedFile &file, const ExprCheck &exprs, Diagnostics &diagnostics) {
  const bool to_float = cgrt::format::is_float(type);
  if (file.kinds[root.index] == cgrt::format::ValueKind::Float && !to_float) {
    diagnostics.report(Diag::FloatToInteger, file[root].range, what, cgrt::format::spelling(type));
    return;
  }
  const auto value = evaluate(root, file, exprs, diagnostics);
  if (value && cgrt::format::to_scalar_bits(*value, type).fault != cgrt::format::Fault::None) {
    diagnostics.report(Diag::ValueOutOfRange, file[root].range, what, value->text(),
                       cgrt::format::spelling(type));
  }
}

} // namespace cgc
