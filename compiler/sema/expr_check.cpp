#include "sema/expr_check.h"

#include "sema/function.h"
#include "sema/host_expr.h"

#include <algorithm>

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
  case SymbolKind::Module:
    return "a module";
  case SymbolKind::Const:
  case SymbolKind::LocalConst:
    return "a const";
  case SymbolKind::Param:
    return "a param";
  case SymbolKind::Buffer:
    return "a buffer";
  case SymbolKind::Kernel:
    return "a kernel";
  case SymbolKind::Def:
    return "a def";
  case SymbolKind::Graph:
    return "a graph";
  case SymbolKind::Loop:
    return "a loop variable";
  case SymbolKind::KernelParameter:
    return "a kernel parameter";
  case SymbolKind::TypeParameter:
    return "a type";
  case SymbolKind::DefParameter:
    return "a parameter of a def";
  case SymbolKind::Callable:
    return "a function of the embedding program";
  case SymbolKind::Stream:
    return "a stream";
  case SymbolKind::Event:
    return "an event";
  case SymbolKind::None:
    break;
  }
  return "nothing";
}

Symbol ExprCheck::find(std::string_view name, const ExprScope &scope) const {
  if (scope.kernel != nullptr) {
    const auto position = [name](const auto &declared) {
      const auto found = std::find_if(declared.begin(), declared.end(),
                                      [name](const auto &it) { return it.name.text == name; });
      return static_cast<std::uint32_t>(found - declared.begin());
    };
    const std::uint32_t parameter = position(scope.kernel->parameters);
    if (parameter < scope.kernel->parameters.size()) {
      return {SymbolKind::KernelParameter, parameter, file_.module};
    }
    const std::uint32_t type = position(scope.kernel->type_parameters);
    if (type < scope.kernel->type_parameters.size()) {
      return {SymbolKind::TypeParameter, type, file_.module};
    }
  }
  const Symbol local = Scope::find(scope.locals, name);
  if (local.kind != SymbolKind::None) {
    return local;
  }
  const auto found = file_.names.find(name);
  return found == file_.names.end() ? Symbol{} : found->second;
}

Symbol ExprCheck::resolve(ExprRef ref, const ExprScope &scope) {
  const ast::Expr &name = file_[ref];
  Symbol symbol;
  if (name.qualifier.empty()) {
    symbol = find(name.name, scope);
    if (symbol.kind == SymbolKind::None) {
      report_undefined({name.name, name.range}, file_, name.name, "");
      return {};
    }
  } else {
    const Symbol module = find(name.qualifier, scope);
    const std::string full = std::string(name.qualifier) + "." + std::string(name.name);
    if (module.kind != SymbolKind::Module) {
      report_undefined({name.qualifier, name.range}, file_, full,
                       "; '" + std::string(name.qualifier) + "' is no imported module");
      return {};
    }
    used_.emplace(file_.module, SymbolKind::Module, module.index);
    const auto index = file_.file->imports[module.index].module;
    if (!index) {
      ++silent_failures_; // the import has the error
      return {};
    }
    const CheckedFile &other = program_.files[*index];
    const auto found = other.names.find(name.name);
    if (found == other.names.end() || found->second.kind == SymbolKind::Module) {
      report_undefined({name.name, name.range}, other, full, "");
      return {};
    }
    symbol = found->second;
  }
  if (is_broken(symbol)) {
    ++silent_failures_;
  }
  file_.symbols[ref.index] = symbol;
  used_.emplace(symbol.module, symbol.kind, symbol.index);
  return symbol;
}

void ExprCheck::report_undefined(const ast::Name &name, const CheckedFile &declared_in,
                                 std::string_view shown, std::string_view why) {
  if (declared_in.file->names_in_errors.contains(name.text)) {
    ++silent_failures_;
  } else {
    diagnostics_.report(Diag::UndefinedName, name.range, shown, why);
  }
}

std::string ExprCheck::text(ExprRef root) const {
  return std::string(files_.text(file_[root].range));
}

void ExprCheck::report_wrong_kind(ExprRef ref, const Symbol &symbol, std::string_view wanted) {
  if (symbol.kind != SymbolKind::None) { // which has been reported
    diagnostics_.report(Diag::WrongKindOfName, file_[ref].range, file_[ref].name,
                        describe(symbol.kind), wanted);
  }
}

/// The declaration of a parameter of a kernel or def; null for anything else.
const ast::Parameter *ExprCheck::parameter(const Symbol &symbol, const ExprScope &scope) const {
  if (symbol.kind == SymbolKind::KernelParameter) {
    return &scope.kernel->parameters[symbol.index];
  }
  if (symbol.kind == SymbolKind::DefParameter) {
    return &file_.file->defs[symbol.owner].parameters[symbol.index];
  }
  return nullptr;
}

/// Whether it is a buffer's name or a slice; it has been checked.
bool ExprCheck::is_reference(ExprRef ref) const {
  return file_[ref].kind == ExprKind::Index || file_.names_buffer[ref.index];
}

std::size_t ExprCheck::rank(ExprRef ref, const ExprScope &scope) const {
  std::size_t dropped = 0;
  while (file_[ref].kind == ExprKind::Index) {
    const auto &arguments = file_[ref].arguments;
    dropped += static_cast<std::size_t>(
        std::count_if(arguments.begin(), arguments.end(),
                      [this](ExprRef it) { return file_[it].kind != ExprKind::Range; }));
    ref = file_[ref].operands[0];
  }
  const Symbol &symbol = file_.symbols[ref.index];
  const ast::Parameter *declared = parameter(symbol, scope);
  const std::size_t all =
      declared != nullptr ? declared->shape.size() : file_.file->buffers[symbol.index].shape.size();
  return all - dropped;
}

bool ExprCheck::check_nodes(ExprRef root, const ExprScope &scope) {
  const std::uint32_t first = file_[root].first;
  // An operand with an error makes its users say nothing: `good` carries that upwards.
  std::vector<bool> good;
  good.reserve(root.index - first + 1);
  for (std::uint32_t i = first; i <= root.index; ++i) {
    const ast::Expr &expr = file_[{i}];
    bool operands_good = true;
    for (const ExprRef operand : expr.operands) {
      operands_good = operands_good && (!operand.valid() || good[operand.index - first]);
    }
    for (const ExprRef argument : expr.arguments) {
      operands_good = operands_good && good[argument.index - first];
    }
    good.push_back(operands_good && check_node({i}, scope));
  }
  return good.back();
}

/// Whether it is one element of a buffer; it has been checked.
bool ExprCheck::is_element(ExprRef ref, const ExprScope &scope) const {
  return file_[ref].kind == ExprKind::Index && rank(ref, scope) == 0;
}

bool ExprCheck::require_element(ExprRef ref, const ExprScope &scope) {
  if (is_element(ref, scope)) {
    return true;
  }
  diagnostics_.report(Diag::NeedsElement, file_[ref].range, text(ref),
                      counted(rank(ref, scope), "dimension"));
  return false;
}

bool ExprCheck::require_scalar(ExprRef ref, const ExprScope &scope) {
  const ast::Expr &expr = file_[ref];
  if (scope.elements && is_reference(ref)) {
    return require_element(ref, scope);
  }
  if (expr.kind == ExprKind::Type) {
    diagnostics_.report(Diag::TypeAsValue, expr.range);
    return false;
  }
  if (expr.kind == ExprKind::Index) {
    diagnostics_.report(Diag::ReadsElement, expr.range);
    return false;
  }
  if (is_reference(ref)) {
    diagnostics_.report(Diag::WrongKindOfName, expr.range, expr.name, "a buffer", "a scalar");
    return false;
  }
  return true;
}

bool ExprCheck::check(ExprRef root, const ExprScope &scope) {
  return check_nodes(root, scope) && require_scalar(root, scope);
}

bool ExprCheck::check_integer(ExprRef root, const ExprScope &scope, const std::string &what) {
  if (!check(root, scope)) {
    return false;
  }
  if (file_.kinds[root.index] == ValueKind::Float) {
    diagnostics_.report(Diag::NeedsInteger, file_[root].range, what);
    return false;
  }
  return true;
}

std::optional<Reference> ExprCheck::check_reference(ExprRef root, const ExprScope &scope) {
  const ExprKind kind = file_[root].kind;
  if (kind == ExprKind::Name) {
    const Symbol symbol = resolve(root, scope);
    const ast::Parameter *declared = parameter(symbol, scope);
    if (symbol.kind != SymbolKind::Buffer && (declared == nullptr || !declared->mode)) {
      report_wrong_kind(root, symbol, "a buffer");
      return std::nullopt;
    }
    if (is_broken(symbol)) {
      return std::nullopt;
    }
  } else if (kind != ExprKind::Index) {
    diagnostics_.report(Diag::WrongKindOfName, file_[root].range, text(root), "a scalar",
                        "a buffer");
    return std::nullopt;
  }
  if (!check_nodes(root, scope)) {
    return std::nullopt;
  }
  return reference(root, scope);
}

Reference ExprCheck::reference(ExprRef root, const ExprScope &scope) const {
  ExprRef base = root;
  while (file_[base].kind == ExprKind::Index) {
    base = file_[base].operands[0];
  }
  const Symbol symbol = file_.symbols[base.index];
  const ast::Parameter *declared = parameter(symbol, scope);
  return Reference{symbol,
                   declared != nullptr ? declared->type : file_.file->buffers[symbol.index].type,
                   rank(root, scope), file_[root].range};
}

std::vector<Reference> ExprCheck::elements_in(ExprRef root, const ExprScope &scope) const {
  std::vector<Reference> elements;
  for (std::uint32_t i = file_[root].first; i <= root.index; ++i) {
    if (is_element({i}, scope)) {
      elements.push_back(reference({i}, scope));
    }
  }
  return elements;
}

bool ExprCheck::check_node(ExprRef ref, const ExprScope &scope) {
  const ast::Expr &expr = file_[ref];
  if (expr.kind != ExprKind::Call && expr.kind != ExprKind::Index) {
    for (const ExprRef operand : expr.operands) {
      if (operand.valid() && !require_scalar(operand, scope)) {
        return false;
      }
    }
  }
  ValueKind &kind = file_.kinds[ref.index];
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
  case ExprKind::Index:
    return check_subscripts(ref, scope);
  case ExprKind::Type:
  case ExprKind::Range:
    return true;
  }
  return false;
}

bool ExprCheck::check_name(ExprRef ref, const ExprScope &scope) {
  const ast::Expr &expr = file_[ref];
  const Symbol symbol = resolve(ref, scope);
  ValueKind &kind = file_.kinds[ref.index];
  kind = ValueKind::Int;
  const bool is_value = symbol.kind != SymbolKind::Module && symbol.kind != SymbolKind::Kernel &&
                        symbol.kind != SymbolKind::Def && symbol.kind != SymbolKind::Graph &&
                        symbol.kind != SymbolKind::Callable && symbol.kind != SymbolKind::Stream &&
                        symbol.kind != SymbolKind::Event;
  if (is_value && is_broken(symbol)) {
    return false;
  }
  switch (symbol.kind) {
  case SymbolKind::None:
    return false;
  case SymbolKind::Const: {
    const auto &value = program_[symbol].const_values[symbol.index];
    kind = value ? value->kind() : ValueKind::Int;
    silent_failures_ += value ? 0 : 1; // its own declaration has the error
    return value.has_value();
  }
  case SymbolKind::LocalConst:
    kind = file_.kinds[file_.file->local_consts[symbol.index].value.index];
    return true;
  case SymbolKind::Loop:
    return true;
  case SymbolKind::Param:
    if (scope.kernel != nullptr) {
      diagnostics_.report(Diag::UndefinedName, expr.range, expr.name,
                          " in the kernel; add it to the kernel's parameters and pass the param");
      return false;
    }
    kind = cgrt::format::kind_of(file_.file->params[symbol.index].type);
    return check_visible(expr, scope, scope.params, "a param");
  case SymbolKind::Buffer:
    file_.names_buffer[ref.index] = true;
    return check_visible(expr, scope, scope.buffers && scope.kernel == nullptr, "a buffer");
  case SymbolKind::KernelParameter:
  case SymbolKind::DefParameter:
    return check_parameter(ref, *parameter(symbol, scope), scope);
  case SymbolKind::TypeParameter: // of a sizeof, or check_call() says that it is no value
    return true;
  case SymbolKind::Callable:
  case SymbolKind::Stream:
  case SymbolKind::Event:
  case SymbolKind::Module:
  case SymbolKind::Kernel:
  case SymbolKind::Def:
  case SymbolKind::Graph:
    report_wrong_kind(ref, symbol, "a scalar");
    return false;
  }
  return false;
}

bool ExprCheck::check_parameter(ExprRef ref, const ast::Parameter &declared,
                                const ExprScope &scope) {
  const ast::Expr &expr = file_[ref];
  if (declared.mode) {
    file_.names_buffer[ref.index] = true;
    return check_visible(expr, scope, scope.buffers, "a buffer");
  }
  if (declared.launch) {
    diagnostics_.report(Diag::WrongKindOfName, expr.range, expr.name, "a graph", "a scalar");
    return false;
  }
  file_.kinds[ref.index] = kind_of_parameter(declared, scope);
  return true;
}

/// A float, unless every type it may have is an integer's.
ValueKind ExprCheck::kind_of_parameter(const ast::Parameter &declared,
                                       const ExprScope &scope) const {
  if (!declared.type_name || scope.kernel == nullptr) {
    return cgrt::format::kind_of(declared.type);
  }
  for (const ast::TypeParameter &type : scope.kernel->type_parameters) {
    if (type.name.text == declared.type_name->text) {
      const bool integers =
          !type.types.empty() && std::none_of(type.types.begin(), type.types.end(),
                                              [](auto it) { return cgrt::format::is_float(it); });
      return integers ? ValueKind::Int : ValueKind::Float;
    }
  }
  return ValueKind::Int; // the declaration has the error
}

bool ExprCheck::check_visible(const ast::Expr &name, const ExprScope &scope, bool visible,
                              std::string_view what) {
  if (!visible) {
    diagnostics_.report(Diag::NotConstant, name.range, name.name, what, scope.user);
  }
  return visible;
}

bool ExprCheck::check_subscripts(ExprRef ref, const ExprScope &scope) {
  const ast::Expr &expr = file_[ref];
  const ExprRef base = expr.operands[0];
  if (!is_reference(base)) {
    report_wrong_kind(base, file_.symbols[base.index], "a buffer");
    return false;
  }
  const std::size_t dimensions = rank(base, scope);
  if (expr.arguments.size() > dimensions) {
    diagnostics_.report(Diag::TooManySubscripts, expr.range,
                        counted(expr.arguments.size(), "subscript"),
                        counted(dimensions, "dimension"));
    return false;
  }
  const auto is_integer = [&](ExprRef part) {
    if (!part.valid() || file_[part].kind == ExprKind::Range) {
      return true;
    }
    if (!require_scalar(part, scope)) {
      return false;
    }
    if (file_.kinds[part.index] == ValueKind::Float) {
      diagnostics_.report(Diag::NeedsInteger, file_[part].range, "a subscript");
      return false;
    }
    return true;
  };
  for (const ExprRef argument : expr.arguments) {
    const ast::Expr &part = file_[argument];
    const bool good = part.kind == ExprKind::Range
                          ? is_integer(part.operands[0]) && is_integer(part.operands[1])
                          : is_integer(argument);
    if (!good) {
      return false;
    }
  }
  file_.kinds[ref.index] = cgrt::format::kind_of(reference(ref, scope).type); // of an element
  return true;
}

bool ExprCheck::check_operator(ExprRef ref, ExprOp op, std::string_view spelling) {
  const ast::Expr &expr = file_[ref];
  std::array<ValueKind, 3> kinds = {ValueKind::Int, ValueKind::Int, ValueKind::Int};
  std::size_t count = 0;
  const auto add = [&](ExprRef operand) {
    if (operand.valid()) {
      kinds[count++] = file_.kinds[operand.index];
    }
  };
  std::for_each(expr.operands.begin(), expr.operands.end(), add);
  std::for_each(expr.arguments.begin(), expr.arguments.end(), add);
  const auto kind = cgrt::format::result_kind(op, kinds[0], kinds[1], kinds[2]);
  if (!kind) {
    diagnostics_.report(Diag::OperatorNeedsIntegers, expr.range,
                        spelling.empty() ? cgrt::format::symbol(op) : spelling);
    return false;
  }
  file_.kinds[ref.index] = *kind;
  return true;
}

bool ExprCheck::check_call(ExprRef ref, const ExprScope &scope) {
  const ast::Expr &expr = file_[ref];
  const Symbol called = expr.qualifier.empty() ? find(expr.name, scope) : Symbol{};
  if (called.kind == SymbolKind::TypeParameter) {
    return check_cast_to_parameter(ref, called, scope);
  }
  const Function *function = expr.qualifier.empty() ? find_function(expr.name) : nullptr;
  if (function == nullptr) {
    diagnostics_.report(Diag::UnknownFunction, expr.range,
                        expr.qualifier.empty()
                            ? std::string(expr.name)
                            : std::string(expr.qualifier) + "." + std::string(expr.name));
    return false;
  }
  if (expr.arguments.size() != function->arguments) {
    diagnostics_.report(Diag::FunctionArgumentCount, expr.range, expr.name,
                        counted(function->arguments, "argument"), expr.arguments.size());
    return false;
  }
  file_.kinds[ref.index] = ValueKind::Int;
  if (function->kind == FunctionKind::Sizeof) {
    return check_sizeof(file_[expr.arguments[0]], expr.arguments[0]);
  }
  const bool wants_buffer = function->kind != FunctionKind::Operator;
  for (const ExprRef argument : expr.arguments) {
    const ast::Expr &given = file_[argument];
    const bool wanted = wants_buffer && argument == expr.arguments[0];
    if (!wanted && !require_scalar(argument, scope)) {
      return false;
    }
    if (wanted && (given.kind != ExprKind::Name || !is_reference(argument))) {
      diagnostics_.report(Diag::WrongKindOfName, given.range, text(argument),
                          given.kind == ExprKind::Index ? "a slice" : "a scalar", "a buffer");
      return false;
    }
  }
  if (function->kind == FunctionKind::Dim) {
    return check_dim_index(expr, expr.arguments[0], scope);
  }
  return wants_buffer || check_operator(ref, function->op, function->name);
}

bool ExprCheck::check_sizeof(const ast::Expr &argument, ExprRef ref) {
  const bool type =
      argument.kind == ExprKind::Type ||
      (argument.kind == ExprKind::Name && file_.symbol(ref).kind == SymbolKind::TypeParameter);
  if (!type) {
    diagnostics_.report(Diag::SizeofNeedsType, argument.range);
  }
  return type;
}

/// `T(e)` in a generic kernel's clauses.
bool ExprCheck::check_cast_to_parameter(ExprRef ref, const Symbol &type, const ExprScope &scope) {
  const ast::Expr &expr = file_[ref];
  if (expr.arguments.size() != 1) {
    diagnostics_.report(Diag::FunctionArgumentCount, expr.range, expr.name, "1 argument",
                        expr.arguments.size());
    return false;
  }
  file_.symbols[ref.index] = type;
  ast::Parameter stand_in;
  stand_in.type_name = scope.kernel->type_parameters[type.index].name;
  file_.kinds[ref.index] = kind_of_parameter(stand_in, scope);
  return require_scalar(expr.arguments[0], scope);
}

bool ExprCheck::check_dim_index(const ast::Expr &call, ExprRef buffer, const ExprScope &scope) {
  const ExprRef index = call.arguments[1];
  const std::size_t dimensions = rank(buffer, scope);
  const auto value = constant_value(index);
  const ast::Expr &given = file_[index];
  if (!value || !value->ok() || value->value.is_float()) {
    diagnostics_.report(Diag::NotConstant, given.range, text(index), "no constant integer", "dim");
    return false;
  }
  if (value->value.as_wide() < 0 || value->value.as_wide() >= static_cast<int>(dimensions)) {
    diagnostics_.report(Diag::NoSuchDimension, given.range, file_[buffer].name,
                        counted(dimensions, "dimension"), value->value.text());
    return false;
  }
  return true;
}

std::optional<Outcome> ExprCheck::constant_value(ExprRef root) const {
  for (std::uint32_t i = file_[root].first; i <= root.index; ++i) {
    if (file_[{i}].kind == ExprKind::Index) {
      return std::nullopt; // of an element, only the device knows
    }
  }
  ExprTable table;
  // Anything but a const gets a stand-in that makes the result unknown.
  const ExprId unknown = table.parameter({0}, ast::ScalarType::I64);
  ExprEnvironment environment;
  environment.scalar = [&](const Symbol &symbol) {
    if (symbol.kind != SymbolKind::Const || !program_[symbol].const_values[symbol.index]) {
      return unknown;
    }
    return table.constant(*program_[symbol].const_values[symbol.index]);
  };
  environment.shape = [&](const Symbol &) { return std::vector<ExprId>(8, unknown); };
  return table.known(lower_expr(file_, root, environment, table));
}

} // namespace cgc
