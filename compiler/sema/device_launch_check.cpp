// What kernels launch: statements, and arguments of kernels.
#include "sema/statement_check.h"

#include <algorithm>
#include <string>

namespace cgc {

/// A graph that is for device launch, or `self`.
bool StatementCheck::check_launched(ast::ExprRef target, ast::LaunchKind kind) {
  const ast::Expr &name = file_[target];
  if (name.kind != ast::ExprKind::Name) {
    diagnostics_.report(Diag::WrongKindOfName, name.range, exprs_.text(target), "a value",
                        "a graph");
    return false;
  }
  if (name.name == ast::self_name && name.qualifier.empty()) {
    if (kind != ast::LaunchKind::Tail) {
      diagnostics_.report(Diag::SelfAtOnce, name.range, cgrt::format::spelling(kind));
    }
    return kind == ast::LaunchKind::Tail;
  }
  const Symbol symbol = exprs_.resolve(target, expr_scope());
  if (symbol.kind != SymbolKind::Graph) {
    exprs_.report_wrong_kind(target, symbol, "a graph");
    return false;
  }
  const ast::Graph &graph = program_[symbol].file->graphs[symbol.index];
  if (find_attribute(graph.attributes, "device_launch") == nullptr) {
    diagnostics_.report(Diag::TargetNotForDevice, name.range, graph.name.text)
        .notes.push_back({graph.name.range, "the graph is declared here"});
    return false;
  }
  return true;
}

void StatementCheck::check_action(const ast::StartStatement &start, const ast::Statement &,
                                  Scope &) {
  check_launched(start.target, start.kind);
  if (start.condition.valid()) {
    check_device_expr(start.condition);
  }
}

/// The launch of a kernel that a label in this block or around it stands before; edges do not cross
/// the border of a body, but changes do.
void StatementCheck::find_updatable(const ast::Name &label) {
  const auto block = std::find_if(blocks_.rbegin(), blocks_.rend(), [&](const OpenBlock &open) {
    return open.labels.contains(label.text);
  });
  if (block == blocks_.rend()) {
    if (!file_.file->names_in_errors.contains(label.text)) {
      diagnostics_.report(Diag::NoSuchLabel, label.range, label.text);
    }
    return;
  }
  const ast::Statement &statement = *block->labels.at(label.text);
  used_labels_.insert(&statement);
  if (!std::holds_alternative<ast::LaunchStatement>(statement.action) ||
      find_attribute(statement.attributes, "updatable") == nullptr) {
    diagnostics_.report(Diag::NotUpdatable, label.range, label.text)
        .notes.push_back({statement.label->range, "the label"});
    return;
  }
  program_.labels.emplace(&label, LabelTarget{&statement, block->block});
}

void StatementCheck::check_action(const ast::UpdateStatement &update, const ast::Statement &,
                                  Scope &) {
  const bool is_grid = update.what.text == "grid";
  const bool is_argument = update.what.text == "arg";
  if ((!is_grid && !is_argument && update.what.text != "enable") ||
      update.parameter.has_value() != is_argument || (!is_grid && update.values.size() != 1)) {
    diagnostics_.report(Diag::UnknownChange, update.what.range, update.what.text);
    return;
  }
  if (update.values.size() > 3) {
    diagnostics_.report(Diag::ClauseArity, file_[update.values[3]].range, "grid", "1 to 3 values",
                        update.values.size());
  }
  for (const ast::ExprRef value : update.values) {
    if (is_grid) {
      exprs_.check_integer(value, device_scope(), "grid");
    } else {
      check_device_expr(value);
    }
  }
  find_updatable(update.label);
}

/// Only kernels can be given graphs.
void StatementCheck::refuse_graphs(const std::vector<ast::Parameter> &parameters) {
  for (const ast::Parameter &parameter : parameters) {
    if (parameter.launch) {
      diagnostics_.report(Diag::GraphParameter, parameter.name.range, parameter.name.text);
    }
  }
}

} // namespace cgc
