#include "sema/statement_check.h"

#include "sema/attribute_check.h"
#include "sema/conversion.h"
#include "sema/declaration_check.h"

#include "format/scalar_type.h"

#include <algorithm>

namespace cgc {

using ast::ExprRef;
using ast::Mode;
using ast::ScalarType;

namespace {

/// "kernel 'saxpy'"
std::string named(std::string_view what, const ast::Name &name) {
  return std::string(what) + " '" + std::string(name.text) + "'";
}

} // namespace

ExprScope StatementCheck::expr_scope(std::string_view user, bool constant) const {
  return {nullptr, scope_, !constant, !constant, user};
}

ExprScope StatementCheck::device_scope() const {
  ExprScope scope = expr_scope();
  scope.elements = true;
  return scope;
}

void StatementCheck::check_graph(const ast::Graph &graph) {
  check_attributes(graph.attributes, Attributed::Graph, "a graph", expr_scope(), exprs_,
                   diagnostics_);
  def_ = nullptr;
  check_block(graph.body, nullptr);
}

void StatementCheck::check_head(const ast::Def &def) {
  const auto index = static_cast<std::uint32_t>(def_scopes_.size());
  const std::size_t failures_before = exprs_.failures();
  Scope &parameters = def_scopes_.emplace_back();
  for (std::uint32_t i = 0; i < def.parameters.size(); ++i) {
    const ast::Parameter &parameter = def.parameters[i];
    const Symbol symbol = {SymbolKind::DefParameter, i, file_.module, index};
    declare(parameters, parameter.name, symbol);
    if (parameter.type_name) {
      diagnostics_.report(Diag::UndefinedName, parameter.type_name->range,
                          parameter.type_name->text, "; only kernels are generic");
      program_.broken_declarations.insert(symbol);
    }
  }
  refuse_graphs(def.parameters);
  const ExprScope shapes = {nullptr, &parameters, true, false, "a parameter's shape"};
  for (const ast::Parameter &parameter : def.parameters) {
    check_shape(parameter.shape, parameter.name, shapes, exprs_, diagnostics_);
  }
  if (exprs_.failures() != failures_before) {
    program_.broken_declarations.insert({SymbolKind::Def, index, file_.module});
  }
}

void StatementCheck::check_def(const ast::Def &def) {
  calls_.emplace_back();
  def_ = &def;
  written_.clear();
  for (const ast::Parameter &parameter : def.parameters) {
    written_.push_back(def.names_in_errors.contains(parameter.name.text)); // perhaps
  }
  const Scope &parameters = def_scopes_[calls_.size() - 1];
  scope_ = &parameters;
  check_block(def.body, &parameters);
  for (std::size_t i = 0; i < def.parameters.size(); ++i) {
    const ast::Parameter &parameter = def.parameters[i];
    if (parameter.mode == Mode::Out && !written_[i]) {
      diagnostics_.report(Diag::DefNeverWrites, parameter.name.range, parameter.name.text,
                          def.name.text);
    }
  }
  scope_ = nullptr;
}

void StatementCheck::declare(Scope &scope, const ast::Name &name, const Symbol &symbol) {
  const auto [place, added] = scope.names.emplace(name.text, Scope::Declared{symbol, name.range});
  if (!added) {
    diagnostics_.report(Diag::Redefined, name.range, name.text)
        .notes.push_back({place->second.range, "the first declaration"});
    program_.broken_declarations.insert(place->second.symbol); // whichever is meant
  }
}

void StatementCheck::check_block(const ast::Block &block, const Scope *parent, bool is_body) {
  const Scope *outer = scope_;
  Scope scope;
  scope.parent = parent;
  blocks_.push_back({&block, {}, is_body});
  collect_labels(blocks_.back());
  for (const ast::Statement &statement : block.statements) {
    scope_ = &scope;
    check_statement(statement, scope);
  }
  blocks_.pop_back();
  scope_ = outer;
}

void StatementCheck::collect_labels(OpenBlock &open) {
  for (const ast::Statement &statement : open.block->statements) {
    if (!statement.label) {
      continue;
    }
    const auto [place, added] = open.labels.emplace(statement.label->text, &statement);
    if (!added) {
      diagnostics_.report(Diag::Redefined, statement.label->range, statement.label->text)
          .notes.push_back({place->second->label->range, "the first label of that name"});
    }
  }
}

void StatementCheck::check_statement(const ast::Statement &statement, Scope &scope) {
  const std::size_t failures_before = exprs_.failures();
  check_statement_attributes(statement);
  check_after(statement);
  const bool head_is_good = exprs_.failures() == failures_before;
  std::visit([&](const auto &action) { check_action(action, statement, scope); }, statement.action);
  if (statement.label || !statement.after.empty()) {
    check_makes_node(statement);
  }
  // A block goes on without those of its statements that are broken.
  bool has_block = false;
  ast::for_each_block(statement, [&](const ast::Block &) { has_block = true; });
  if (has_block ? !head_is_good : exprs_.failures() != failures_before) {
    mark_broken(statement);
  }
}

void StatementCheck::mark_broken(const ast::Statement &statement) {
  program_.broken.insert(&statement);
  std::set<std::string_view> names;
  add_names(statement, names);
  if (def_ != nullptr) {
    for (std::size_t i = 0; i < def_->parameters.size(); ++i) {
      // Perhaps the statement is meant to write it.
      written_[i] = written_[i] || names.contains(def_->parameters[i].name.text);
    }
    file_.names_in_def_errors[calls_.size() - 1].insert(names.begin(), names.end());
  }
  file_.names_in_errors.merge(names);
}

void StatementCheck::add_names(const ast::Statement &statement,
                               std::set<std::string_view> &names) const {
  const auto add = [&](ExprRef root) {
    for (std::uint32_t i = file_[root].first; i <= root.index; ++i) {
      if (file_[{i}].kind == ast::ExprKind::Name) {
        names.insert(file_[{i}].name);
      }
    }
  };
  if (const auto *copy = std::get_if<ast::CopyStatement>(&statement.action)) {
    add(copy->destination);
    add(copy->source);
  } else if (const auto *fill = std::get_if<ast::FillStatement>(&statement.action)) {
    add(fill->destination);
  } else if (const auto *launch = std::get_if<ast::LaunchStatement>(&statement.action)) {
    std::for_each(launch->arguments.begin(), launch->arguments.end(), add);
  } else if (const auto *assignment = std::get_if<ast::AssignStatement>(&statement.action)) {
    add(assignment->target);
  }
  ast::for_each_block(statement, [&](const ast::Block &block) {
    for (const ast::Statement &inner : block.statements) {
      add_names(inner, names);
    }
  });
}

void StatementCheck::check_after(const ast::Statement &statement) {
  for (const ast::Name &name : statement.after) {
    const auto block = std::find_if(blocks_.rbegin(), blocks_.rend(), [&](const OpenBlock &open) {
      return open.labels.contains(name.text);
    });
    // From the block of the statement out to that of the label.
    const bool leaves_body =
        std::any_of(blocks_.rbegin(), block, [](const OpenBlock &open) { return open.is_body; });
    if (block != blocks_.rend() && leaves_body) {
      if (file_.file->has_syntax_errors) {
        continue; // a brace may be missing
      }
      diagnostics_.report(Diag::LabelOutsideBody, name.range, name.text)
          .notes.push_back({block->labels.at(name.text)->label->range, "the label"});
      used_labels_.insert(block->labels.at(name.text));
    } else if (block != blocks_.rend()) {
      program_.labels.emplace(&name, LabelTarget{block->labels.at(name.text), block->block});
      used_labels_.insert(block->labels.at(name.text));
    } else if (!file_.file->names_in_errors.contains(name.text)) {
      diagnostics_.report(Diag::NoSuchLabel, name.range, name.text);
    }
  }
}

StatementCheck::AttributedKind
StatementCheck::attributed(const ast::LaunchStatement &launch) const {
  if (launch.child) {
    return {Attributed::Child, "a child graph"};
  }
  const Symbol callee = exprs_.find(file_[launch.callee].name, expr_scope());
  return callee.kind == SymbolKind::Def ? AttributedKind{Attributed::Block, "a call of a def"}
         : callee.kind == SymbolKind::Callable
             ? AttributedKind{Attributed::Call, "a call of a function"}
             : AttributedKind{Attributed::Launch, "a launch"};
}

void StatementCheck::check_statement_attributes(const ast::Statement &statement) {
  if (statement.attributes.empty()) {
    return;
  }
  const AttributedKind kind =
      std::visit([this](const auto &action) { return this->attributed(action); }, statement.action);
  if (kind.what != Attributed::Buffer) { // those are checked with their declaration
    check_attributes(statement.attributes, kind.what, kind.noun, expr_scope(), exprs_,
                     diagnostics_);
  }
}

/// Inside a def: what a statement does to its parameters.
void StatementCheck::note_effect(const Reference &reference, const SourceRange &range, bool reads,
                                 bool writes) {
  if (reference.symbol.kind != SymbolKind::DefParameter) {
    return;
  }
  const ast::Parameter &parameter = def_->parameters[reference.symbol.index];
  if (writes && parameter.mode == Mode::In) {
    diagnostics_.report(Diag::DefWritesInput, range, parameter.name.text, def_->name.text);
  } else if (reads && parameter.mode == Mode::Out && !written_[reference.symbol.index]) {
    diagnostics_.report(Diag::DefReadsOutput, range, parameter.name.text, def_->name.text);
  }
  written_[reference.symbol.index] = written_[reference.symbol.index] || writes;
}

void StatementCheck::check_action(const ast::CopyStatement &copy, const ast::Statement &, Scope &) {
  const auto destination = exprs_.check_reference(copy.destination, expr_scope());
  const auto source = exprs_.check_reference(copy.source, expr_scope());
  if (!destination || !source) {
    return;
  }
  const SourceRange range = join(file_[copy.destination].range, file_[copy.source].range);
  const auto name = [this](ExprRef ref) { return exprs_.text(ref); };
  if (destination->type != source->type) {
    diagnostics_.report(Diag::CopyTypeMismatch, range, name(copy.destination),
                        cgrt::format::spelling(destination->type), name(copy.source),
                        cgrt::format::spelling(source->type));
  } else if (destination->rank != source->rank) {
    diagnostics_.report(Diag::CopyShapeMismatch, range, name(copy.destination), destination->rank,
                        destination->rank == 1 ? "dimension" : "dimensions", name(copy.source),
                        source->rank);
  }
  note_effect(*source, file_[copy.source].range, true, false);
  note_effect(*destination, file_[copy.destination].range, false, true);
}

void StatementCheck::check_action(const ast::FillStatement &fill, const ast::Statement &, Scope &) {
  const auto destination = exprs_.check_reference(fill.destination, expr_scope());
  if (exprs_.check(fill.value, expr_scope()) && destination) {
    check_conversion(fill.value, destination->type,
                     "an element of '" + exprs_.text(fill.destination) + "'", file_, exprs_,
                     diagnostics_);
  }
  if (destination) {
    note_effect(*destination, file_[fill.destination].range, false, true);
  }
}

void StatementCheck::check_action(const ast::LaunchStatement &launch,
                                  const ast::Statement &statement, Scope &) {
  const Symbol callee = exprs_.resolve(launch.callee, expr_scope());
  if (callee.kind == SymbolKind::Kernel) {
    check_kernel_launch(launch, callee);
  } else if (callee.kind == SymbolKind::Def) {
    check_def_call(launch, statement, callee);
  } else if (callee.kind == SymbolKind::Callable) {
    check_call(launch, callee);
  } else if (callee.kind == SymbolKind::Graph) {
    exprs_.report_wrong_kind(launch.callee, callee,
                             "a statement that starts it ('tail', 'detach' or 'sibling' and its "
                             "name), or a kernel, a def or a function");
  } else {
    exprs_.report_wrong_kind(launch.callee, callee, "a kernel, a def or a function");
  }
  if (!statement.label && find_attribute(statement.attributes, "updatable") != nullptr) {
    diagnostics_.report(Diag::UpdatableWithoutLabel, file_[launch.callee].range);
  }
}

bool StatementCheck::check_count(const ast::LaunchStatement &launch, std::string_view what,
                                 const ast::Name &name, std::size_t wanted) {
  if (launch.arguments.size() == wanted) {
    return true;
  }
  diagnostics_
      .report(Diag::ArgumentCount, file_[launch.callee].range, named(what, name),
              counted(wanted, "argument"), launch.arguments.size())
      .notes.push_back({name.range, "the " + std::string(what) + " is declared here"});
  return false;
}

void StatementCheck::check_kernel_launch(const ast::LaunchStatement &launch, const Symbol &callee) {
  const ast::Kernel &kernel = program_[callee].file->kernels[callee.index];
  if (launch.child) {
    diagnostics_.report(Diag::ChildKernel, file_[launch.callee].range, kernel.name.text);
  }
  if (launch.geometry) {
    check_geometry(*launch.geometry);
  }
  if (check_count(launch, "kernel", kernel.name, kernel.parameters.size())) {
    check_arguments(launch, callee, kernel, named("kernel", kernel.name));
  }
}

/// Of a callback or captured function.
void StatementCheck::check_call(const ast::LaunchStatement &launch, const Symbol &callee) {
  const ast::Callable &callable = program_[callee].file->callables[callee.index];
  const std::string_view what = cgrt::format::spelling(callable.kind);
  if (launch.child || launch.geometry) {
    diagnostics_.report(Diag::LaunchOfFunction, file_[launch.callee].range, what,
                        callable.name.text);
  }
  if (check_count(launch, what, callable.name, callable.parameters.size())) {
    check_arguments(launch, callee, callable, named(what, callable.name));
  }
}

void StatementCheck::check_arguments(const ast::LaunchStatement &launch, const Symbol &callee,
                                     const ast::Signature &kernel, const std::string &callee_name) {
  std::vector<std::optional<Reference>> references(launch.arguments.size());
  bool good = true;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const ExprRef argument = launch.arguments[i];
    if (kernel.parameters[i].launch) {
      good = check_launched(argument, *kernel.parameters[i].launch) && good;
      continue;
    }
    if (!kernel.parameters[i].mode) {
      good = exprs_.check(argument, expr_scope()) && good;
      continue;
    }
    references[i] = exprs_.check_reference(argument, expr_scope());
    good = references[i].has_value() && good;
    if (references[i]) {
      const Mode mode = *kernel.parameters[i].mode;
      note_effect(*references[i], file_[argument].range, mode != Mode::Out, mode != Mode::In);
    }
  }
  std::vector<ScalarType> types;
  if (!good || exprs_.is_broken(callee) || !deduce(launch, kernel, references, types)) {
    return;
  }
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const ast::Parameter &parameter = kernel.parameters[i];
    const ScalarType type = parameter_type(kernel, parameter, types);
    if (references[i]) {
      check_element_type(launch.arguments[i], *references[i], parameter, type, callee_name);
    } else if (!parameter.launch) {
      check_conversion(launch.arguments[i], type,
                       "argument '" + std::string(parameter.name.text) + "' of " + callee_name,
                       file_, exprs_, diagnostics_);
    }
  }
  if (!types.empty()) {
    program_.type_arguments.emplace(&launch, std::move(types));
  }
}

void StatementCheck::check_element_type(ExprRef argument, const Reference &given,
                                        const ast::Parameter &parameter, ScalarType type,
                                        const std::string &callee) {
  if (given.type != type) {
    diagnostics_.report(Diag::ElementTypeMismatch, file_[argument].range, parameter.name.text,
                        callee, cgrt::format::spelling(type), exprs_.text(argument),
                        cgrt::format::spelling(given.type));
  }
}

void StatementCheck::check_geometry(const ast::GeometryOverride &geometry) {
  const auto check_extents = [this](const std::vector<ExprRef> &extents, const std::string &name) {
    if (extents.size() > 3) {
      diagnostics_.report(Diag::ClauseArity, file_[extents[3]].range, name, "1 to 3 values",
                          extents.size());
    }
    for (const ExprRef extent : extents) {
      exprs_.check_integer(extent, expr_scope(), name);
    }
  };
  check_extents(geometry.grid, "grid");
  check_extents(geometry.block, "block");
  if (geometry.shared.valid()) {
    exprs_.check_integer(geometry.shared, expr_scope(), "shared");
  }
}

/// The type that a scalar argument has by itself: a param's, a cast's or a def parameter's.
std::optional<ScalarType> StatementCheck::type_of_scalar(ExprRef argument) const {
  const ast::Expr &expr = file_[argument];
  if (expr.kind == ast::ExprKind::Cast) {
    return expr.type;
  }
  const Symbol &symbol = file_.symbol(argument);
  if (expr.kind == ast::ExprKind::Name && symbol.kind == SymbolKind::Param) {
    return file_.file->params[symbol.index].type;
  }
  if (expr.kind == ast::ExprKind::Name && symbol.kind == SymbolKind::DefParameter) {
    return file_.file->defs[symbol.owner].parameters[symbol.index].type;
  }
  return std::nullopt;
}

/// What the type parameters stand for: buffers decide, then scalars that have a type.
bool StatementCheck::deduce(const ast::LaunchStatement &launch, const ast::Signature &kernel,
                            std::vector<std::optional<Reference>> &references,
                            std::vector<ScalarType> &types) {
  for (const ast::TypeParameter &wanted : kernel.type_parameters) {
    std::optional<ScalarType> type;
    SourceRange from = file_[launch.callee].range;
    for (const bool buffers : {true, false}) {
      for (std::size_t i = 0; i < launch.arguments.size() && !type; ++i) {
        const ast::Parameter &parameter = kernel.parameters[i];
        if (!parameter.type_name || parameter.type_name->text != wanted.name.text ||
            parameter.mode.has_value() != buffers) {
          continue;
        }
        type = references[i] ? references[i]->type : type_of_scalar(launch.arguments[i]);
        from = type ? file_[launch.arguments[i]].range : from;
      }
    }
    if (!type) {
      diagnostics_.report(Diag::CannotDeduce, from, wanted.name.text, kernel.name.text);
      return false;
    }
    const auto &allowed = wanted.types;
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), *type) == allowed.end()) {
      std::string list;
      for (const ScalarType each : allowed) {
        list += (list.empty() ? "" : ", ") + std::string(cgrt::format::spelling(each));
      }
      diagnostics_
          .report(Diag::TypeNotAllowed, from, wanted.name.text, kernel.name.text,
                  cgrt::format::spelling(*type), list)
          .notes.push_back({wanted.name.range, "the type parameter is declared here"});
      return false;
    }
    types.push_back(*type);
  }
  return true;
}

void StatementCheck::check_def_call(const ast::LaunchStatement &launch,
                                    const ast::Statement &statement, const Symbol &callee) {
  const ast::Def &def = program_[callee].file->defs[callee.index];
  if (def_ != nullptr && callee.module == file_.module) {
    calls_.back().push_back({callee, file_[launch.callee].range, &statement});
  }
  if (launch.geometry) {
    diagnostics_.report(Diag::GeometryOfDef, launch.geometry->range, def.name.text);
  }
  if (!check_count(launch, "def", def.name, def.parameters.size())) {
    return;
  }
  const std::string callee_name = named("def", def.name);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const ExprRef argument = launch.arguments[i];
    const ast::Parameter &parameter = def.parameters[i];
    if (!parameter.mode) {
      if (exprs_.check(argument, expr_scope()) && !exprs_.is_broken(callee)) {
        check_conversion(argument, parameter.type,
                         "argument '" + std::string(parameter.name.text) + "' of " + callee_name,
                         file_, exprs_, diagnostics_);
      }
      continue;
    }
    const auto given = exprs_.check_reference(argument, expr_scope());
    if (!given || exprs_.is_broken(callee)) {
      continue;
    }
    check_element_type(argument, *given, parameter, parameter.type, callee_name);
    if (std::max<std::size_t>(given->rank, 1) != parameter.shape.size()) {
      diagnostics_.report(Diag::RankMismatch, file_[argument].range, parameter.name.text,
                          callee_name, counted(parameter.shape.size(), "dimension"),
                          exprs_.text(argument), counted(given->rank, "dimension"));
    }
    note_effect(*given, file_[argument].range, *parameter.mode != Mode::Out,
                *parameter.mode != Mode::In);
  }
}

void StatementCheck::check_action(const ast::ForStatement &loop, const ast::Statement &statement,
                                  Scope &) {
  const ExprScope bounds = expr_scope("a bound of 'for'", true);
  const bool begin = exprs_.check_integer(loop.begin, bounds, "a bound of 'for'");
  const bool end = exprs_.check_integer(loop.end, bounds, "a bound of 'for'");
  if (!begin || !end) {
    mark_broken(statement);
  }
  Scope scope;
  scope.parent = scope_;
  declare(scope, file_.file->loops[loop.variable], {SymbolKind::Loop, loop.variable, file_.module});
  check_block(loop.body, &scope);
}

void StatementCheck::check_action(const ast::ScopeStatement &inner, const ast::Statement &,
                                  Scope &scope) {
  check_block(inner.body, &scope);
}

void StatementCheck::check_action(const ast::BufferStatement &declared, const ast::Statement &,
                                  Scope &scope) {
  const std::size_t failures_before = exprs_.failures();
  check_buffer(file_.file->buffers[declared.first],
               {nullptr, scope_, true, true, "a buffer's shape"}, exprs_, diagnostics_);
  const bool good = exprs_.failures() == failures_before;
  for (std::uint32_t i = declared.first; i < declared.first + declared.count; ++i) {
    const ast::Buffer &buffer = file_.file->buffers[i];
    if (buffer.access != ast::CallerAccess::Private) {
      diagnostics_.report(Diag::LocalBufferAccess, buffer.name.range, buffer.name.text);
    }
    const Symbol symbol = {SymbolKind::Buffer, i, file_.module};
    declare(scope, buffer.name, symbol);
    if (!good) {
      program_.broken_declarations.insert(symbol);
    }
  }
}

void StatementCheck::check_action(const ast::ConstStatement &declared, const ast::Statement &,
                                  Scope &scope) {
  const ast::Const &constant = file_.file->local_consts[declared.index];
  const Symbol symbol = {SymbolKind::LocalConst, declared.index, file_.module};
  if (!exprs_.check(constant.value, expr_scope("a const", true))) {
    program_.broken_declarations.insert(symbol);
  }
  declare(scope, constant.name, symbol);
}

} // namespace cgc
