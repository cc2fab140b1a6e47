#include "sema/sema.h"

#include "sema/cpp_word.h"
#include "sema/expr_check.h"

#include "format/scalar_type.h"

namespace cgc {

using cgrt::format::ValueKind;

namespace {

constexpr std::size_t max_dimensions = 8;

class Sema {
public:
  Sema(const ast::File &file, const Defines &defines, Diagnostics &diagnostics)
      : file_(file), defines_(defines), diagnostics_(diagnostics), exprs_(checked_, diagnostics) {
    checked_.file = &file;
    checked_.symbols.resize(file.exprs.size());
    checked_.kinds.resize(file.exprs.size(), ValueKind::Int);
  }

  CheckedFile run() {
    declare_all();
    check_consts();
    check_params();
    check_buffers();
    checked_.geometry.resize(file_.kernels.size());
    for (std::size_t i = 0; i < file_.kernels.size(); ++i) {
      check_kernel(file_.kernels[i], checked_.geometry[i]);
    }
    if (file_.graphs.empty() && !file_.has_syntax_errors) {
      diagnostics_.report(Diag::NoGraph, {file_.id, 0, 0});
    }
    checked_.can_lower = !diagnostics_.has_errors();
    for (const ast::Graph &graph : file_.graphs) {
      for (const ast::Statement &statement : graph.statements) {
        check_statement(statement);
      }
    }
    return std::move(checked_);
  }

private:
  void declare(const ast::Name &name, SymbolKind kind, std::size_t index) {
    const auto [place, added] =
        checked_.names.emplace(name.text, Symbol{kind, static_cast<std::uint32_t>(index)});
    if (added) {
      declarations_.emplace(name.text, name.range);
    } else {
      diagnostics_.report(Diag::Redefined, name.range, name.text)
          .notes.push_back({declarations_.at(name.text), "the first declaration"});
    }
  }

  template <typename Things> void declare_each(const Things &things, SymbolKind kind) {
    for (std::size_t i = 0; i < things.size(); ++i) {
      declare(things[i].name, kind, i);
    }
  }

  void declare_all() {
    declare_each(file_.consts, SymbolKind::Const);
    declare_each(file_.params, SymbolKind::Param);
    declare_each(file_.buffers, SymbolKind::Buffer);
    declare_each(file_.kernels, SymbolKind::Kernel);
    declare_each(file_.graphs, SymbolKind::Graph);
  }

  /// The value of a constant expression that has been checked; a fault is reported.
  std::optional<ast::Value> evaluate(ast::ExprRef root) {
    const auto outcome = constant_value(checked_, root);
    if (outcome && !outcome->ok()) {
      diagnostics_.report(Diag::EvaluationFault, file_[root].range, "this expression has no value",
                          cgrt::format::text(outcome->fault));
      return std::nullopt;
    }
    return outcome ? std::optional(outcome->value) : std::nullopt;
  }

  void check_consts() {
    const ExprScope scope = {nullptr, false, false, "a const"};
    for (const ast::Const &declaration : file_.consts) {
      check_seen_by_bodies(declaration.name);
      // In order, so that a const can use those above it only.
      checked_.const_values.resize(file_.consts.size());
      const std::size_t index = static_cast<std::size_t>(&declaration - file_.consts.data());
      if (check_uses(declaration.value, index) && exprs_.check(declaration.value, scope)) {
        checked_.const_values[index] = evaluate(declaration.value);
      }
      const auto define = defines_.find(std::string(declaration.name.text));
      if (define != defines_.end()) {
        checked_.const_values[index] = define->second;
      }
    }
  }

  void check_seen_by_bodies(const ast::Name &name) {
    if (is_cpp_word(name.text)) {
      diagnostics_.report(Diag::CppWord, name.range, name.text);
    }
  }

  /// A const that stands further down has no value yet.
  bool check_uses(ast::ExprRef root, std::size_t index) {
    for (std::uint32_t i = file_[root].first; i <= root.index; ++i) {
      const ast::Expr &expr = file_[{i}];
      const auto found =
          expr.kind == ast::ExprKind::Name ? checked_.names.find(expr.name) : checked_.names.end();
      if (found != checked_.names.end() && found->second.kind == SymbolKind::Const &&
          found->second.index >= index) {
        diagnostics_.report(Diag::UndefinedName, expr.range, expr.name,
                            " yet; a const uses those above it");
        return false;
      }
    }
    return true;
  }

  /// A scalar of `type` takes a value of this kind; constant values are checked exactly.
  void check_conversion(ast::ExprRef root, ast::ScalarType type, const std::string &what) {
    const bool to_float = cgrt::format::is_float(type);
    if (checked_.kinds[root.index] == ValueKind::Float && !to_float) {
      diagnostics_.report(Diag::FloatToInteger, file_[root].range, what,
                          cgrt::format::spelling(type));
      return;
    }
    const auto value = evaluate(root);
    if (value && cgrt::format::to_scalar_bits(*value, type).fault != cgrt::format::Fault::None) {
      diagnostics_.report(Diag::ValueOutOfRange, file_[root].range, what, value->text(),
                          cgrt::format::spelling(type));
    }
  }

  void check_params() {
    const ExprScope scope = {nullptr, false, false, "the default of a param"};
    for (const ast::Param &param : file_.params) {
      if (param.default_value.valid() && exprs_.check(param.default_value, scope)) {
        check_conversion(param.default_value, param.type,
                         "param '" + std::string(param.name.text) + "'");
      }
    }
  }

  void check_shape(const std::vector<ast::ExprRef> &shape, const ast::Name &name,
                   const ExprScope &scope) {
    if (shape.size() > max_dimensions) {
      diagnostics_.report(Diag::TooManyDimensions, name.range, shape.size());
    }
    for (const ast::ExprRef extent : shape) {
      // Buffers declared together share one shape.
      if (checked_shapes_.insert(extent.index).second) {
        exprs_.check_integer(extent, scope, "an extent of '" + std::string(name.text) + "'");
      }
    }
  }

  void check_buffers() {
    for (const ast::Buffer &buffer : file_.buffers) {
      check_shape(buffer.shape, buffer.name, {nullptr, true, false, "a buffer's shape"});
    }
  }

  void check_kernel(const ast::Kernel &kernel, CheckedFile::KernelGeometry &geometry) {
    std::unordered_map<std::string_view, SourceRange> seen;
    const ExprScope shapes = {&kernel, false, false, "a kernel parameter's shape"};
    const ExprScope clauses = {&kernel, false, true, "a kernel's clause"};
    for (const ast::KernelParameter &parameter : kernel.parameters) {
      check_seen_by_bodies(parameter.name);
      const auto [place, added] = seen.emplace(parameter.name.text, parameter.name.range);
      if (!added) {
        diagnostics_.report(Diag::Redefined, parameter.name.range, parameter.name.text)
            .notes.push_back({place->second, "the first declaration"});
      }
      check_shape(parameter.shape, parameter.name, shapes);
    }
    for (const ast::KernelClause &clause : kernel.clauses) {
      check_clause(clause, clauses, geometry);
    }
    if (geometry.grid == nullptr) {
      diagnostics_.report(Diag::MissingGeometry, kernel.name.range, kernel.name.text, "grid");
    }
    if (geometry.block == nullptr) {
      diagnostics_.report(Diag::MissingGeometry, kernel.name.range, kernel.name.text, "block");
    }
  }

  void check_clause(const ast::KernelClause &clause, const ExprScope &scope,
                    CheckedFile::KernelGeometry &geometry) {
    const ast::KernelClause *&slot = clause.kind == ast::ClauseKind::Grid    ? geometry.grid
                                     : clause.kind == ast::ClauseKind::Block ? geometry.block
                                                                             : geometry.shared;
    const std::string name(ast::spelling(clause.kind));
    if (slot != nullptr) {
      diagnostics_.report(Diag::RepeatedClause, clause.range, name);
      return;
    }
    slot = &clause;
    const std::size_t most = clause.kind == ast::ClauseKind::Shared ? 1 : 3;
    if (clause.values.size() > most) {
      diagnostics_.report(Diag::ClauseArity, clause.range, name,
                          most == 1 ? "1 value" : "1 to 3 values", clause.values.size());
    }
    for (const ast::ExprRef value : clause.values) {
      exprs_.check_integer(value, scope, name);
    }
  }

  /// The buffer a statement names, or nothing after reporting.
  const ast::Buffer *buffer(const ast::Name &name) {
    const Symbol symbol = exprs_.resolve(name.text, {});
    if (symbol.kind == SymbolKind::Buffer) {
      return &file_.buffers[symbol.index];
    }
    report_wrong_name(name.text, name.range, symbol, "a buffer");
    return nullptr;
  }

  void report_wrong_name(std::string_view name, const SourceRange &range, const Symbol &symbol,
                         std::string_view wanted) {
    if (symbol.kind != SymbolKind::None) {
      diagnostics_.report(Diag::WrongKindOfName, range, name, ExprCheck::describe(symbol.kind),
                          wanted);
    } else if (!file_.poisoned.contains(name)) {
      diagnostics_.report(Diag::UndefinedName, range, name, "");
    }
  }

  void check_statement(const ast::Statement &statement) {
    const std::size_t errors_before = diagnostics_.error_count();
    std::visit([&](const auto &action) { check_action(action); }, statement.action);
    if (diagnostics_.error_count() != errors_before) {
      checked_.broken.insert(&statement);
    }
  }

  void check_action(const ast::CopyStatement &copy) {
    const ast::Buffer *destination = buffer(copy.destination);
    const ast::Buffer *source = buffer(copy.source);
    if (destination == nullptr || source == nullptr) {
      return;
    }
    if (destination == source) {
      diagnostics_.report(Diag::CopyOntoItself, join(copy.destination.range, copy.source.range),
                          copy.source.text);
    } else if (destination->type != source->type) {
      diagnostics_.report(Diag::CopyTypeMismatch, join(copy.destination.range, copy.source.range),
                          copy.destination.text, cgrt::format::spelling(destination->type),
                          copy.source.text, cgrt::format::spelling(source->type));
    }
  }

  void check_action(const ast::FillStatement &fill) {
    const ast::Buffer *destination = buffer(fill.destination);
    if (exprs_.check(fill.value, {}) && destination != nullptr) {
      check_conversion(fill.value, destination->type,
                       "an element of '" + std::string(fill.destination.text) + "'");
    }
  }

  void check_action(const ast::LaunchStatement &launch) {
    const Symbol symbol = exprs_.resolve(launch.kernel.text, {});
    if (symbol.kind != SymbolKind::Kernel) {
      report_wrong_name(launch.kernel.text, launch.kernel.range, symbol, "a kernel");
      return;
    }
    const ast::Kernel &kernel = file_.kernels[symbol.index];
    if (launch.arguments.size() != kernel.parameters.size()) {
      diagnostics_
          .report(Diag::ArgumentCount, launch.kernel.range, kernel.name.text,
                  counted(kernel.parameters.size(), "argument"), launch.arguments.size())
          .notes.push_back({kernel.name.range, "the kernel is declared here"});
      return;
    }
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      check_argument(launch.arguments[i], kernel.parameters[i], kernel);
    }
  }

  void check_argument(ast::ExprRef argument, const ast::KernelParameter &parameter,
                      const ast::Kernel &kernel) {
    if (parameter.mode) {
      check_buffer_argument(argument, parameter, kernel);
    } else if (exprs_.check(argument, {})) {
      check_conversion(argument, parameter.type,
                       "argument '" + std::string(parameter.name.text) + "' of kernel '" +
                           std::string(kernel.name.text) + "'");
    }
  }

  void check_buffer_argument(ast::ExprRef argument, const ast::KernelParameter &parameter,
                             const ast::Kernel &kernel) {
    const ast::Expr &given = file_[argument];
    if (given.kind != ast::ExprKind::Name) {
      diagnostics_.report(Diag::ScalarForBuffer, given.range, parameter.name.text, kernel.name.text,
                          cgrt::format::spelling(parameter.type));
      return;
    }
    const Symbol symbol = exprs_.resolve(given.name, {});
    checked_.symbols[argument.index] = symbol;
    if (symbol.kind == SymbolKind::Const || symbol.kind == SymbolKind::Param) {
      diagnostics_.report(Diag::ScalarForBuffer, given.range, parameter.name.text, kernel.name.text,
                          cgrt::format::spelling(parameter.type));
      return;
    }
    if (symbol.kind != SymbolKind::Buffer) {
      report_wrong_name(given.name, given.range, symbol, "a buffer");
      return;
    }
    const ast::Buffer &buffer = file_.buffers[symbol.index];
    if (buffer.space == ast::MemorySpace::Host) {
      diagnostics_.report(Diag::HostBufferInLaunch, given.range, given.name);
    } else if (buffer.type != parameter.type) {
      diagnostics_.report(Diag::ElementTypeMismatch, given.range, parameter.name.text,
                          kernel.name.text, cgrt::format::spelling(parameter.type), given.name,
                          cgrt::format::spelling(buffer.type));
    }
  }

  const ast::File &file_;
  const Defines &defines_;
  Diagnostics &diagnostics_;
  CheckedFile checked_;
  ExprCheck exprs_;
  std::unordered_map<std::string_view, SourceRange> declarations_;
  std::set<std::uint32_t> checked_shapes_;
};

} // namespace

CheckedFile check(const ast::File &file, const Defines &defines, Diagnostics &diagnostics) {
  return Sema(file, defines, diagnostics).run();
}

} // namespace cgc
