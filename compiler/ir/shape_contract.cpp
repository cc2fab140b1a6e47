#include "ir/shape_contract.h"

namespace cgc {

using cgrt::format::Check;
using cgrt::format::ExprId;

void require_extent(LoweringContext &context, const ShapeContract &contract,
                    const std::string &what, ExprId actual, ExprId declared) {
  const std::string parameter(contract.parameter.text);
  const std::size_t errors_before = context.diagnostics.error_count();
  const auto known_declared =
      context.known(declared, contract.range, "the shape of '" + parameter + "'");
  const auto known_actual = context.known(actual, contract.range, "this extent");
  if (context.diagnostics.error_count() != errors_before ||
      context.polynomials.equal(actual, declared)) {
    return;
  }
  if (known_actual && known_declared) {
    context.diagnostics
        .report(Diag::ExtentMismatch, contract.range, parameter, contract.callee, what,
                known_declared->text(), contract.argument, known_actual->text())
        .notes.push_back({contract.parameter.range, "the parameter is declared here"});
    return;
  }
  context.require(actual, Check::Relation::Equal, declared, "shape",
                  "argument '" + parameter + "' of " + contract.callee + ": " + what +
                      " is {right}, that of '" + contract.argument + "' is {left}",
                  contract.range);
}

} // namespace cgc
