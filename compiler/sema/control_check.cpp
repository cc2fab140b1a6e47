// Branches, loops and device assignments.
#include "sema/conversion.h"
#include "sema/statement_check.h"

namespace cgc {

using ast::ExprRef;

bool StatementCheck::check_device_expr(ExprRef root) {
  if (!exprs_.check(root, device_scope())) {
    return false;
  }
  for (const Reference &element : exprs_.elements_in(root, device_scope())) {
    note_effect(element, element.range, true, false);
  }
  return true;
}

void StatementCheck::check_action(const ast::AssignStatement &assignment, const ast::Statement &,
                                  Scope &) {
  const bool value = check_device_expr(assignment.value);
  const auto target = exprs_.check_reference(assignment.target, device_scope());
  if (!target) {
    return;
  }
  if (target->rank != 0) {
    diagnostics_.report(Diag::NeedsElement, target->range, exprs_.text(assignment.target),
                        counted(target->rank, "dimension"));
    return;
  }
  for (const Reference &element : exprs_.elements_in(assignment.target, device_scope())) {
    if (element.range.begin != target->range.begin || element.range.end != target->range.end) {
      note_effect(element, element.range, true, false); // an index
    }
  }
  note_effect(*target, target->range, false, true);
  // What the device computes converts as in C; what the host does must fit.
  if (value && exprs_.elements_in(assignment.value, device_scope()).empty()) {
    check_conversion(assignment.value, target->type,
                     "an element of '" + exprs_.text(assignment.target) + "'", file_, exprs_,
                     diagnostics_);
  }
}

void StatementCheck::check_action(const ast::IfStatement &branching,
                                  const ast::Statement &statement, Scope &scope) {
  for (const ast::IfStatement::Branch &branch : branching.branches) {
    if (branch.condition.valid() && !check_device_expr(branch.condition)) {
      mark_broken(statement);
    }
    check_block(branch.body, &scope, true);
  }
}

void StatementCheck::check_action(const ast::LoopStatement &loop, const ast::Statement &statement,
                                  Scope &scope) {
  if (loop.body_first) {
    check_block(loop.body, &scope, true);
  }
  const bool condition = check_device_expr(loop.condition);
  const bool limit = !loop.limit.valid() || exprs_.check_integer(loop.limit, expr_scope(), "'max'");
  if (!condition || !limit) {
    mark_broken(statement);
  }
  if (!loop.body_first) {
    check_block(loop.body, &scope, true);
  }
}

void StatementCheck::check_action(const ast::RepeatStatement &loop, const ast::Statement &statement,
                                  Scope &scope) {
  if (!exprs_.check_integer(loop.count, expr_scope(), "the count of 'repeat'")) {
    mark_broken(statement);
  }
  check_block(loop.body, &scope, true);
}

void StatementCheck::check_action(const ast::SwitchStatement &choice,
                                  const ast::Statement &statement, Scope &scope) {
  const std::size_t failures_before = exprs_.failures();
  if (check_device_expr(choice.value) &&
      file_.kinds[choice.value.index] == cgrt::format::ValueKind::Float) {
    diagnostics_.report(Diag::NeedsInteger, file_[choice.value].range, "the value of 'switch'");
  }
  check_labels(choice);
  if (exprs_.failures() != failures_before) {
    mark_broken(statement);
  }
  for (const ast::SwitchStatement::Case &one : choice.cases) {
    check_block(one.body, &scope, true);
  }
}

/// That none stands twice is known once they have values.
void StatementCheck::check_labels(const ast::SwitchStatement &choice) {
  const ast::SwitchStatement::Case *otherwise = nullptr;
  for (const ast::SwitchStatement::Case &one : choice.cases) {
    for (const ExprRef label : one.labels) {
      exprs_.check_integer(label, expr_scope("a case label", true), "a case label");
    }
    if (one.labels.empty() && otherwise != nullptr) {
      diagnostics_.report(Diag::RepeatedDefault, one.range)
          .notes.push_back({otherwise->range, "the first one"});
    }
    otherwise = one.labels.empty() ? &one : otherwise;
  }
}

} // namespace cgc
