#include "sema/expr_check.h"

#include "sema/function.h"
#include "sema/host_expr.h"

namespace cgc {

using ast::ExprKind;
using ast::ExprRef;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::ExprTable;
using cgrt::format::Outcome;
using cgrt::format::ValueKind;

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string_view ExprCheck::describe(SymbolKind kind) {
  switch (kind) {
  case SymbolKind::Const:
    return "a const";
  case SymbolKind::Param:
    return "a param";
  case SymbolKind::Buffer:
    return "a buffer";
  case SymbolKind::Kernel:
    return "a kernel";
  case SymbolKind::Graph:
    return "a graph";
  case SymbolKind::KernelParameter:
    return "a kernel parameter";
  case SymbolKind::None:
    break;
  }
  return "nothing";
}

Symbol ExprCheck::resolve(std::string_view name, const ExprScope &scope) const {
  if (scope.kernel != nullptr) {
    const auto &parameters = scope.kernel->parameters;
    for (std::uint32_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].name.text == name) {
        return {SymbolKind::KernelParameter, i};
      }
    }
  }
  const auto found = checked_.names.find(name);
  return found == checked_.names.end() ? Symbol{} : found->second;
}

bool ExprCheck::is_buffer(const Symbol &symbol, const ExprScope &scope) const {
  return symbol.kind == SymbolKind::Buffer ||
         (symbol.kind == SymbolKind::KernelParameter &&
          scope.kernel->parameters[symbol.index].mode.has_value());
}

std::size_t ExprCheck::rank(const Symbol &symbol, const ExprScope &scope) const {
  return symbol.kind == SymbolKind::Buffer ? checked_.file->buffers[symbol.index].shape.size()
                                           : scope.kernel->parameters[symbol.index].shape.size();
}

bool ExprCheck::check(ExprRef root, const ExprScope &scope) {
  const std::uint32_t first = (*checked_.file)[root].first;
  // An operand with an error makes its users say nothing: `good` carries that upwards.
  std::vector<bool> good;
  good.reserve(root.index - first + 1);
  for (std::uint32_t i = first; i <= root.index; ++i) {
    const ast::Expr &expr = (*checked_.file)[{i}];
    bool operands_good = true;
    for (const ExprRef operand : expr.operands) {
      operands_good = operands_good && (!operand.valid() || good[operand.index - first]);
    }
    for (const ExprRef argument : expr.arguments) {
      operands_good = operands_good && good[argument.index - first];
    }
    good.push_back(operands_good && check_node({i}, scope));
  }
  if (!good.back()) {
    return false;
  }
  const ast::Expr &expr = (*checked_.file)[root];
  if (expr.kind == ExprKind::Type) {
    diagnostics_.report(Diag::TypeAsValue, expr.range);
    return false;
  }
  if (expr.kind == ExprKind::Name && is_buffer(checked_.symbols[root.index], scope)) {
    diagnostics_.report(Diag::WrongKindOfName, expr.range, expr.name, "a buffer", "a scalar");
    return false;
  }
  return true;
}

bool ExprCheck::check_integer(ExprRef root, const ExprScope &scope, const std::string &what) {
  if (!check(root, scope)) {
    return false;
  }
  if (checked_.kinds[root.index] == ValueKind::Float) {
    diagnostics_.report(Diag::NeedsInteger, (*checked_.file)[root].range, what);
    return false;
  }
  return true;
}

bool ExprCheck::check_node(ExprRef ref, const ExprScope &scope) {
  const ast::Expr &expr = (*checked_.file)[ref];
  // Everywhere but as an argument of len, dim and sizeof, an operand is a scalar.
  if (expr.kind != ExprKind::Call) {
    for (const ExprRef operand : expr.operands) {
      if (operand.valid() && (*checked_.file)[operand].kind == ExprKind::Name &&
          is_buffer(checked_.symbols[operand.index], scope)) {
        const ast::Expr &name = (*checked_.file)[operand];
        diagnostics_.report(Diag::WrongKindOfName, name.range, name.name, "a buffer", "a scalar");
        return false;
      }
    }
  }
  ValueKind &kind = checked_.kinds[ref.index];
  switch (expr.kind) {
  case ExprKind::Literal:
    kind = expr.value.kind();
    return true;
  case ExprKind::Name:
    return check_name(ref, scope);
  case ExprKind::Unary:
  case ExprKind::Binary:
    return check_operator(ref, expr.op, "");
  case ExprKind::Select:
    return check_operator(ref, ExprOp::Select, "?:");
  case ExprKind::Cast:
    kind = cgrt::format::kind_of(expr.type);
    return true;
  case ExprKind::Call:
    return check_call(ref, scope);
  case ExprKind::Type:
    return true;
  }
  return false;
}

bool ExprCheck::check_name(ExprRef ref, const ExprScope &scope) {
  const ast::Expr &expr = (*checked_.file)[ref];
  const Symbol symbol = resolve(expr.name, scope);
  checked_.symbols[ref.index] = symbol;
  ValueKind &kind = checked_.kinds[ref.index];
  switch (symbol.kind) {
  case SymbolKind::None:
    if (!checked_.file->poisoned.contains(expr.name)) {
      diagnostics_.report(Diag::UndefinedName, expr.range, expr.name, "");
    }
    return false;
  case SymbolKind::Const: {
    const auto &value = checked_.const_values[symbol.index];
    kind = value ? value->kind() : ValueKind::Int;
    return value.has_value(); // without one its own declaration has the error
  }
  case SymbolKind::Param:
    if (scope.kernel != nullptr) {
      diagnostics_.report(Diag::UndefinedName, expr.range, expr.name,
                          " in the kernel; add it to the kernel's parameters and pass the param");
      return false;
    }
    if (!scope.params) {
      diagnostics_.report(Diag::NotConstant, expr.range, expr.name, "a param", scope.user);
      return false;
    }
    kind = cgrt::format::kind_of(checked_.file->params[symbol.index].type);
    return true;
  case SymbolKind::Buffer:
    return check_shape_use(expr, scope, scope.kernel == nullptr);
  case SymbolKind::KernelParameter:
    kind = cgrt::format::kind_of(scope.kernel->parameters[symbol.index].type);
    return !is_buffer(symbol, scope) || check_shape_use(expr, scope, true);
  case SymbolKind::Kernel:
  case SymbolKind::Graph:
    diagnostics_.report(Diag::WrongKindOfName, expr.range, expr.name, describe(symbol.kind),
                        "a scalar");
    return false;
  }
  return false;
}

/// A buffer's shape may be asked for where that cannot make a shape depend on itself.
bool ExprCheck::check_shape_use(const ast::Expr &name, const ExprScope &scope, bool visible) {
  if (scope.buffers && visible) {
    return true;
  }
  diagnostics_.report(Diag::NotConstant, name.range, name.name, "a buffer", scope.user);
  return false;
}

bool ExprCheck::check_operator(ExprRef ref, ExprOp op, std::string_view spelling) {
  const ast::Expr &expr = (*checked_.file)[ref];
  std::array<ValueKind, 3> kinds = {ValueKind::Int, ValueKind::Int, ValueKind::Int};
  std::size_t count = 0;
  const auto add = [&](ExprRef operand) {
    if (operand.valid()) {
      kinds[count++] = checked_.kinds[operand.index];
    }
  };
  for (const ExprRef operand : expr.operands) {
    add(operand);
  }
  for (const ExprRef argument : expr.arguments) {
    add(argument);
  }
  const auto kind = cgrt::format::result_kind(op, kinds[0], kinds[1], kinds[2]);
  if (!kind) {
    diagnostics_.report(Diag::OperatorNeedsIntegers, expr.range,
                        spelling.empty() ? cgrt::format::symbol(op) : spelling);
    return false;
  }
  checked_.kinds[ref.index] = *kind;
  return true;
}

bool ExprCheck::check_call(ExprRef ref, const ExprScope &scope) {
  const ast::Expr &expr = (*checked_.file)[ref];
  const Function *function = find_function(expr.name);
  if (function == nullptr) {
    diagnostics_.report(Diag::UnknownFunction, expr.range, expr.name);
    return false;
  }
  if (expr.arguments.size() != function->arguments) {
    diagnostics_.report(Diag::FunctionArgumentCount, expr.range, expr.name,
                        counted(function->arguments, "argument"), expr.arguments.size());
    return false;
  }
  checked_.kinds[ref.index] = ValueKind::Int;
  const ast::Expr &first = (*checked_.file)[expr.arguments[0]];
  if (function->kind == FunctionKind::Sizeof) {
    if (first.kind != ExprKind::Type) {
      diagnostics_.report(Diag::SizeofNeedsType, first.range);
    }
    return first.kind == ExprKind::Type;
  }
  const bool wants_buffer = function->kind != FunctionKind::Operator;
  for (const ExprRef argument : expr.arguments) {
    const ast::Expr &given = (*checked_.file)[argument];
    const bool buffer =
        given.kind == ExprKind::Name && is_buffer(checked_.symbols[argument.index], scope);
    const bool wanted = wants_buffer && argument == expr.arguments[0];
    if (given.kind == ExprKind::Type) {
      diagnostics_.report(Diag::TypeAsValue, given.range);
      return false;
    }
    if (buffer != wanted) {
      diagnostics_.report(Diag::WrongKindOfName, given.range,
                          given.kind == ExprKind::Name ? given.name : "this",
                          buffer ? "a buffer" : "a scalar", wanted ? "a buffer" : "a scalar");
      return false;
    }
  }
  if (function->kind == FunctionKind::Dim) {
    return check_dim_index(expr, expr.arguments[0], scope);
  }
  return wants_buffer || check_operator(ref, function->op, function->name);
}

bool ExprCheck::check_dim_index(const ast::Expr &call, ExprRef buffer, const ExprScope &scope) {
  const ExprRef index = call.arguments[1];
  const std::size_t dimensions = rank(checked_.symbols[buffer.index], scope);
  const auto value = constant_value(checked_, index);
  const ast::Expr &given = (*checked_.file)[index];
  if (!value || !value->ok() || value->value.is_float()) {
    diagnostics_.report(Diag::NotConstant, given.range, "the index", "not a constant integer",
                        "dim");
    return false;
  }
  if (value->value.as_wide() < 0 || value->value.as_wide() >= static_cast<int>(dimensions)) {
    diagnostics_.report(Diag::NoSuchDimension, given.range, (*checked_.file)[buffer].name,
                        counted(dimensions, "dimension"), value->value.text());
    return false;
  }
  return true;
}

std::optional<Outcome> constant_value(const CheckedFile &checked, ExprRef root) {
  ExprTable table;
  // Anything but a const gets a stand-in that makes the result unknown.
  const ExprId unknown = table.parameter({0}, ast::ScalarType::I64);
  ExprEnvironment environment;
  environment.scalar = [&](const Symbol &symbol) {
    if (symbol.kind != SymbolKind::Const || !checked.const_values[symbol.index]) {
      return unknown;
    }
    return table.constant(*checked.const_values[symbol.index]);
  };
  environment.shape = [&](const Symbol &) { return std::vector<ExprId>(8, unknown); };
  return table.known(lower_expr(checked, root, environment, table));
}

} // namespace cgc
