#include "sema/function.h"

#include <algorithm>
#include <array>

namespace cgc {

const Function *find_function(std::string_view name) {
  using cgrt::format::ExprOp;
  static constexpr auto functions = std::to_array<Function>({
      {"ceildiv", FunctionKind::Operator, ExprOp::CeilDiv, 2},
      {"min", FunctionKind::Operator, ExprOp::Min, 2},
      {"max", FunctionKind::Operator, ExprOp::Max, 2},
      {"abs", FunctionKind::Operator, ExprOp::Abs, 1},
      {"pow2ceil", FunctionKind::Operator, ExprOp::Pow2Ceil, 1},
      {"sizeof", FunctionKind::Sizeof, ExprOp::Const, 1},
      {"len", FunctionKind::Len, ExprOp::Const, 1},
      {"dim", FunctionKind::Dim, ExprOp::Const, 2},
  });
  const auto *found = std::find_if(functions.begin(), functions.end(),
                                   [&](const Function &function) { return function.name == name; });
  return found == functions.end() ? nullptr : found;
}

} // namespace cgc
