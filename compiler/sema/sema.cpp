#include "sema/sema.h"

#include "sema/attribute_check.h"
#include "sema/conversion.h"
#include "sema/declaration_check.h"
#include "sema/statement_check.h"
#include "sema/unused.h"

#include "format/scalar_type.h"

#include <algorithm>

namespace cgc {

using cgrt::format::ValueKind;

namespace {

/// One file of the program; those it imports are done.
class FileSema {
public:
  FileSema(CheckedProgram &program, std::uint32_t module, const SourceFiles &files,
           Diagnostics &diagnostics)
      : program_(program), checked_(program.files[module]), file_(*checked_.file),
        is_main_(module + 1 == program.files.size()), diagnostics_(diagnostics),
        exprs_(program, checked_, files, diagnostics),
        statements_(program, checked_, exprs_, diagnostics) {}

  void check_declarations(const Defines &defines) {
    declare_all();
    if (!is_main_) {
      refuse_in_import();
    }
    check_consts(defines);
    check_params();
    check_buffers();
    check_kernels();
    check_callables();
    for (const ast::Def &def : file_.defs) {
      statements_.check_head(def);
    }
    if (is_main_ && file_.graphs.empty() && !file_.has_syntax_errors) {
      diagnostics_.report(Diag::NoGraph, {file_.id, 0, 0});
    }
  }

  void check_statements() {
    for (const ast::Def &def : file_.defs) {
      statements_.check_def(def);
    }
    refuse_recursion();
    for (const ast::Graph &graph : file_.graphs) {
      statements_.check_graph(graph);
    }
  }

  void warn_unused(const SourceFiles &files) {
    report_unused(checked_, exprs_.used(), statements_.used_labels(), files, diagnostics_);
  }

private:
  enum class State : std::uint8_t { New, Open, Done };

  /// Reports defs that call themselves, directly or through others. Imports have no cycles, so they
  /// do so within their file.
  void refuse_recursion() {
    std::vector<State> states(file_.defs.size(), State::New);
    for (std::size_t def = 0; def < file_.defs.size(); ++def) {
      follow_calls(def, states);
    }
  }

  /// The calls that close a circle are errors, and without them there is none.
  void follow_calls(std::size_t def, std::vector<State> &states) {
    if (states[def] != State::New) {
      return;
    }
    states[def] = State::Open;
    for (const StatementCheck::Call &call : statements_.calls()[def]) {
      path_.push_back(&call);
      if (states[call.callee.index] == State::Open) {
        report_recursion(call.callee.index);
        statements_.mark_broken(*call.statement);
      } else if (path_.size() > max_call_depth) {
        diagnostics_.report(Diag::CallsTooDeep, call.range, max_call_depth);
        statements_.mark_broken(*call.statement);
      } else {
        follow_calls(call.callee.index, states);
      }
      path_.pop_back();
    }
    states[def] = State::Done;
  }

  void report_recursion(std::size_t def) {
    const StatementCheck::Call &last = *path_.back();
    std::string way(file_.defs[def].name.text);
    const auto again =
        std::find_if(path_.begin(), path_.end() - 1,
                     [def](const StatementCheck::Call *call) { return call->callee.index == def; });
    const auto first = again == path_.end() - 1 ? path_.begin() : again + 1;
    for (auto call = first; call != path_.end(); ++call) {
      way += " → " + std::string(file_.defs[(*call)->callee.index].name.text);
    }
    diagnostics_.report(Diag::Recursion, last.range, way);
  }

  void declare(const ast::Name &name, SymbolKind kind, std::size_t index) {
    const auto [place, added] = checked_.names.emplace(
        name.text, Symbol{kind, static_cast<std::uint32_t>(index), checked_.module});
    if (added) {
      declarations_.emplace(name.text, name.range);
    } else {
      diagnostics_.report(Diag::Redefined, name.range, name.text)
          .notes.push_back({declarations_.at(name.text), "the first declaration"});
      program_.broken_declarations.insert(checked_.names.at(name.text)); // whichever is meant
    }
  }

  template <typename Things> void declare_each(const Things &things, SymbolKind kind) {
    for (std::size_t i = 0; i < things.size(); ++i) {
      declare(things[i].name, kind, i);
    }
  }

  void declare_all() {
    declare_each(file_.imports, SymbolKind::Module);
    declare_each(file_.consts, SymbolKind::Const);
    declare_each(file_.params, SymbolKind::Param);
    for (const std::uint32_t buffer : file_.file_buffers) {
      declare(file_.buffers[buffer].name, SymbolKind::Buffer, buffer);
    }
    declare_each(file_.kernels, SymbolKind::Kernel);
    declare_each(file_.callables, SymbolKind::Callable);
    declare_each(file_.defs, SymbolKind::Def);
    declare_each(file_.graphs, SymbolKind::Graph);
    for (const ast::Graph &graph : file_.graphs) {
      if (graph.name.text == ast::self_name) {
        diagnostics_.report(Diag::GraphNamedSelf, graph.name.range);
      }
    }
  }

  void refuse_in_import() {
    const auto refuse = [this](const ast::Name &name, std::string_view what) {
      diagnostics_.report(Diag::NotImportable, name.range, name.text, what);
      program_.broken_declarations.insert(checked_.names.at(name.text));
    };
    for (const ast::Param &param : file_.params) {
      refuse(param.name, "a param");
    }
    for (const std::uint32_t buffer : file_.file_buffers) {
      refuse(file_.buffers[buffer].name, "a buffer");
    }
    for (const ast::Graph &graph : file_.graphs) {
      refuse(graph.name, "a graph");
    }
  }

  void check_consts(const Defines &defines) {
    const ExprScope scope = {nullptr, nullptr, false, false, "a const"};
    checked_.const_values.resize(file_.consts.size());
    for (const ast::Const &declaration : file_.consts) {
      check_seen_by_bodies(declaration.name, diagnostics_);
      // In order, so that a const can use those above it only.
      const std::size_t index = static_cast<std::size_t>(&declaration - file_.consts.data());
      if (check_uses(declaration.value, index) && exprs_.check(declaration.value, scope)) {
        checked_.const_values[index] = evaluate(declaration.value, checked_, exprs_, diagnostics_);
      }
      const auto define = defines.find(std::string(declaration.name.text));
      if (is_main_ && define != defines.end()) {
        checked_.const_values[index] = define->second;
      }
    }
  }

  /// A const that stands further down has no value yet.
  bool check_uses(ast::ExprRef root, std::size_t index) {
    for (std::uint32_t i = file_[root].first; i <= root.index; ++i) {
      const ast::Expr &expr = file_[{i}];
      const bool plain = expr.kind == ast::ExprKind::Name && expr.qualifier.empty();
      const auto found = plain ? checked_.names.find(expr.name) : checked_.names.end();
      if (found != checked_.names.end() && found->second.kind == SymbolKind::Const &&
          found->second.index >= index) {
        diagnostics_.report(Diag::UndefinedName, expr.range, expr.name,
                            " yet; a const uses those above it");
        return false;
      }
    }
    return true;
  }

  void check_params() {
    const ExprScope scope = {nullptr, nullptr, false, false, "the default of a param"};
    for (std::uint32_t i = 0; i < file_.params.size(); ++i) {
      const ast::Param &param = file_.params[i];
      const std::size_t failures_before = exprs_.failures();
      if (param.default_value.valid() && exprs_.check(param.default_value, scope)) {
        check_conversion(param.default_value, param.type,
                         "param '" + std::string(param.name.text) + "'", checked_, exprs_,
                         diagnostics_);
      }
      if (exprs_.failures() != failures_before) {
        checked_.bad_defaults.insert(i);
      }
    }
  }

  void check_kernels() {
    for (std::uint32_t i = 0; i < file_.kernels.size(); ++i) {
      check_declaration({SymbolKind::Kernel, i, checked_.module}, [&] {
        checked_.kernels.push_back(check_kernel(file_.kernels[i], exprs_, diagnostics_));
      });
      if (file_.kernels[i].body.missing) {
        program_.broken_declarations.insert({SymbolKind::Kernel, i, checked_.module});
      }
    }
  }

  void check_callables() {
    for (std::uint32_t i = 0; i < file_.callables.size(); ++i) {
      check_declaration({SymbolKind::Callable, i, checked_.module},
                        [&] { check_callable(file_.callables[i], exprs_, diagnostics_); });
    }
  }

  /// Statements that use a declaration which `check` finds wrong will not be lowered.
  template <typename Check> void check_declaration(const Symbol &symbol, Check check) {
    const std::size_t failures_before = exprs_.failures();
    check();
    if (exprs_.failures() != failures_before) {
      program_.broken_declarations.insert(symbol);
    }
  }

  void check_buffers() {
    Symbol first; // of those declared together, which share a shape
    for (const std::uint32_t index : file_.file_buffers) {
      const ast::Buffer &buffer = file_.buffers[index];
      const Symbol symbol = {SymbolKind::Buffer, index, checked_.module};
      const bool shared = first.kind != SymbolKind::None &&
                          file_.buffers[first.index].shape.front() == buffer.shape.front();
      if (!shared) {
        first = symbol;
        check_declaration(symbol, [&] {
          check_buffer(buffer, {nullptr, nullptr, true, false, "a buffer's shape"}, exprs_,
                       diagnostics_);
        });
      } else if (exprs_.is_broken(first)) {
        program_.broken_declarations.insert(symbol);
      }
    }
  }

  CheckedProgram &program_;
  CheckedFile &checked_;
  const ast::File &file_;
  bool is_main_;
  Diagnostics &diagnostics_;
  ExprCheck exprs_;
  StatementCheck statements_;
  std::unordered_map<std::string_view, SourceRange> declarations_;
  std::vector<const StatementCheck::Call *> path_; ///< of calls, outermost first
};

} // namespace

CheckedProgram check(const ModuleTrees &trees, const SourceFiles &files, const Defines &defines,
                     Diagnostics &diagnostics) {
  CheckedProgram program;
  program.files.resize(trees.size());
  for (std::uint32_t module = 0; module < trees.size(); ++module) {
    CheckedFile &checked = program.files[module];
    checked.file = trees[module].get();
    checked.module = module;
    checked.names_in_errors = checked.file->names_in_errors;
    for (const ast::Def &def : checked.file->defs) {
      checked.names_in_def_errors.push_back(def.names_in_errors);
    }
    checked.symbols.resize(checked.file->exprs.size());
    checked.kinds.resize(checked.file->exprs.size(), ValueKind::Int);
    checked.names_buffer.resize(checked.file->exprs.size(), false);
  }
  std::vector<std::unique_ptr<FileSema>> semas;
  for (std::uint32_t module = 0; module < trees.size(); ++module) {
    semas.push_back(std::make_unique<FileSema>(program, module, files, diagnostics));
    semas.back()->check_declarations(defines);
  }
  for (const auto &sema : semas) {
    sema->check_statements();
  }
  if (!diagnostics.has_errors()) {
    semas.back()->warn_unused(files);
  }
  return program;
}

} // namespace cgc
