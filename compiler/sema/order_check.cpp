// Streams and events.
#include "sema/statement_check.h"

#include <algorithm>

namespace cgc {

void StatementCheck::check_action(const ast::HandleStatement &declared, const ast::Statement &,
                                  Scope &scope) {
  const auto &all = declared.is_event ? file_.file->events : file_.file->streams;
  const SymbolKind kind = declared.is_event ? SymbolKind::Event : SymbolKind::Stream;
  for (std::uint32_t i = declared.first; i < declared.first + declared.count; ++i) {
    const ast::Handle &handle = all[i];
    const Symbol symbol = {kind, i, file_.module};
    const std::string user = "the size of '" + std::string(handle.name.text) + "'";
    if (handle.count.valid() && !exprs_.check_integer(handle.count, expr_scope(user, true), user)) {
      program_.broken_declarations.insert(symbol);
    }
    declare(scope, handle.name, symbol);
  }
  const ast::Handle &first = all[declared.first];
  const ast::Attribute *external = find_attribute(first.attributes, "external");
  if (external != nullptr && find_attribute(first.attributes, "timing") != nullptr) {
    diagnostics_.report(Diag::TimingAndExternal, external->range, first.name.text);
  }
}

/// The name of a stream or event, or an element of an array of them.
void StatementCheck::check_handle(ast::ExprRef root, SymbolKind wanted) {
  const ast::Expr &expr = file_[root];
  const bool indexed = expr.kind == ast::ExprKind::Index;
  const ast::ExprRef name = indexed ? expr.operands[0] : root;
  const std::string_view noun = ExprCheck::describe(wanted);
  if (file_[name].kind != ast::ExprKind::Name) {
    diagnostics_.report(Diag::OneIndex, expr.range, file_[{expr.first}].name);
    return;
  }
  const Symbol symbol = exprs_.resolve(name, expr_scope());
  if (symbol.kind != wanted) {
    exprs_.report_wrong_kind(name, symbol, noun);
    return;
  }
  const auto &all = wanted == SymbolKind::Event ? file_.file->events : file_.file->streams;
  const bool is_array = all[symbol.index].count.valid();
  if (is_array && !indexed) {
    diagnostics_.report(Diag::NeedsHandleIndex, expr.range, file_[name].name);
  } else if (!is_array && indexed) {
    diagnostics_.report(Diag::NoHandleArray, expr.range, file_[name].name,
                        noun.substr(noun.find(' ') + 1));
  } else if (indexed) {
    const bool is_one =
        expr.arguments.size() == 1 && file_[expr.arguments[0]].kind != ast::ExprKind::Range;
    if (!is_one) {
      diagnostics_.report(Diag::OneIndex, expr.range, file_[name].name);
    } else {
      exprs_.check_integer(expr.arguments[0], expr_scope("an index of a stream or event", true),
                           "an index of '" + std::string(file_[name].name) + "'");
    }
  }
}

void StatementCheck::check_action(const ast::OnStatement &placed, const ast::Statement &statement,
                                  Scope &scope) {
  const std::size_t failures_before = exprs_.failures();
  check_handle(placed.stream, SymbolKind::Stream);
  if (exprs_.failures() != failures_before) {
    mark_broken(statement);
  }
  check_block(placed.body, &scope);
}

void StatementCheck::check_action(const ast::RecordStatement &recorded, const ast::Statement &,
                                  Scope &) {
  check_handle(recorded.event, SymbolKind::Event);
}

void StatementCheck::check_action(const ast::WaitStatement &awaited, const ast::Statement &,
                                  Scope &) {
  check_handle(awaited.event, SymbolKind::Event);
}

/// Whether the record or wait is a node, and not only edges; true where the event is not known.
bool StatementCheck::makes_event_node(ast::ExprRef event, bool is_wait) const {
  const ast::Expr &expr = file_[event];
  const ast::ExprRef name = expr.kind == ast::ExprKind::Index ? expr.operands[0] : event;
  const Symbol &symbol = file_.symbol(name);
  if (file_[name].kind != ast::ExprKind::Name || symbol.kind != SymbolKind::Event) {
    return true;
  }
  const ast::Attributes &attributes = file_.file->events[symbol.index].attributes;
  return find_attribute(attributes, "external") != nullptr ||
         (!is_wait && find_attribute(attributes, "timing") != nullptr);
}

/// What the statement is if it surely makes no node; else nothing.
std::string_view StatementCheck::nodeless(const ast::Statement &statement) const {
  if (const auto *recorded = std::get_if<ast::RecordStatement>(&statement.action)) {
    return makes_event_node(recorded->event, false) ? "" : "a record of a plain event";
  }
  if (const auto *awaited = std::get_if<ast::WaitStatement>(&statement.action)) {
    return makes_event_node(awaited->event, true) ? "" : "a wait for a plain event";
  }
  if (std::holds_alternative<ast::SyncStatement>(statement.action)) {
    return "a sync";
  }
  if (std::holds_alternative<ast::HandleStatement>(statement.action) ||
      std::holds_alternative<ast::BufferStatement>(statement.action) ||
      std::holds_alternative<ast::ConstStatement>(statement.action)) {
    return "a declaration";
  }
  const bool is_block = std::holds_alternative<ast::OnStatement>(statement.action) ||
                        std::holds_alternative<ast::ScopeStatement>(statement.action) ||
                        std::holds_alternative<ast::ForStatement>(statement.action);
  bool makes_none = is_block;
  ast::for_each_block(statement, [&](const ast::Block &block) {
    makes_none = makes_none && std::all_of(block.statements.begin(), block.statements.end(),
                                           [this](const ast::Statement &inner) {
                                             return !nodeless(inner).empty();
                                           });
  });
  return makes_none ? "a block without nodes" : "";
}

/// An edge to or from it would silently be none.
void StatementCheck::check_makes_node(const ast::Statement &statement) {
  const std::string_view what = nodeless(statement);
  if (what.empty() || file_.file->has_syntax_errors) {
    return; // or a statement of the block is missing
  }
  if (statement.label) {
    diagnostics_.report(Diag::LabelWithoutNode, statement.label->range, statement.label->text,
                        what);
  }
  if (!statement.after.empty()) {
    diagnostics_.report(Diag::AfterWithoutNode, statement.after.front().range, what);
  }
}

} // namespace cgc
