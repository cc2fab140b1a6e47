// The statements of graphs and defs.
#pragma once

#include "sema/attribute_check.h"
#include "sema/expr_check.h"

#include <vector>

namespace cgc {

class StatementCheck {
public:
  StatementCheck(CheckedProgram &program, CheckedFile &file, ExprCheck &exprs,
                 Diagnostics &diagnostics)
      : program_(program), file_(file), exprs_(exprs), diagnostics_(diagnostics) {}

  void check_graph(const ast::Graph &graph);
  /// The parameters; before any statement that may call it.
  void check_head(const ast::Def &def);
  /// Also that the body does to the parameters what their modes say.
  void check_def(const ast::Def &def);

  /// Leaves the statement out of lowering.
  void mark_broken(const ast::Statement &statement);

  /// The defs of this file that each of its defs calls, and where.
  struct Call {
    Symbol callee;
    SourceRange range;
    const ast::Statement *statement;
  };
  const std::vector<std::vector<Call>> &calls() const { return calls_; }
  /// The statements whose labels an `after` names.
  const std::unordered_set<const ast::Statement *> &used_labels() const { return used_labels_; }

private:
  /// A block that is being checked, and where its labels stand.
  struct OpenBlock {
    const ast::Block *block;
    std::unordered_map<std::string_view, const ast::Statement *> labels;
    bool is_body = false; ///< a graph of its own on the device
  };

  void check_block(const ast::Block &block, const Scope *parent, bool is_body = false);
  void collect_labels(OpenBlock &open);
  void check_statement(const ast::Statement &statement, Scope &scope);
  void check_after(const ast::Statement &statement);

  /// What attributes before a statement are about, and a name for it.
  struct AttributedKind {
    Attributed what;
    std::string_view noun;
  };
  AttributedKind attributed(const ast::LaunchStatement &launch) const;
  static AttributedKind attributed(const ast::CopyStatement &) {
    return {Attributed::Memory, "a copy"};
  }
  static AttributedKind attributed(const ast::FillStatement &) {
    return {Attributed::Memory, "a fill"};
  }
  static AttributedKind attributed(const ast::AssignStatement &) {
    return {Attributed::Other, "a device assignment"};
  }
  static AttributedKind attributed(const ast::ForStatement &) {
    return {Attributed::Block, "a block"};
  }
  static AttributedKind attributed(const ast::IfStatement &) {
    return {Attributed::Block, "a branch"};
  }
  static AttributedKind attributed(const ast::LoopStatement &) {
    return {Attributed::Block, "a loop"};
  }
  static AttributedKind attributed(const ast::RepeatStatement &) {
    return {Attributed::Block, "a loop"};
  }
  static AttributedKind attributed(const ast::SwitchStatement &) {
    return {Attributed::Block, "a switch"};
  }
  static AttributedKind attributed(const ast::ScopeStatement &) {
    return {Attributed::Block, "a block"};
  }
  static AttributedKind attributed(const ast::BufferStatement &) {
    return {Attributed::Buffer, "a buffer"};
  }
  static AttributedKind attributed(const ast::SyncStatement &) {
    return {Attributed::Other, "a sync"};
  }
  static AttributedKind attributed(const ast::HandleStatement &declared) {
    return declared.is_event ? AttributedKind{Attributed::Event, "an event"}
                             : AttributedKind{Attributed::Stream, "a stream"};
  }
  static AttributedKind attributed(const ast::OnStatement &) {
    return {Attributed::Block, "a block"};
  }
  static AttributedKind attributed(const ast::RecordStatement &) {
    return {Attributed::EventNode, "a record"};
  }
  static AttributedKind attributed(const ast::WaitStatement &) {
    return {Attributed::EventNode, "a wait"};
  }
  static AttributedKind attributed(const ast::StartStatement &) {
    return {Attributed::Start, "a launch from the device"};
  }
  static AttributedKind attributed(const ast::UpdateStatement &) {
    return {Attributed::Other, "a change of a launch"};
  }
  static AttributedKind attributed(const ast::ConstStatement &) {
    return {Attributed::Other, "a const"};
  }
  void check_statement_attributes(const ast::Statement &statement);
  void declare(Scope &scope, const ast::Name &name, const Symbol &symbol);

  void check_action(const ast::CopyStatement &copy, const ast::Statement &, Scope &);
  void check_action(const ast::FillStatement &fill, const ast::Statement &, Scope &);
  void check_action(const ast::LaunchStatement &launch, const ast::Statement &, Scope &);
  void check_action(const ast::AssignStatement &assignment, const ast::Statement &, Scope &);
  void check_action(const ast::ForStatement &loop, const ast::Statement &, Scope &);
  void check_action(const ast::IfStatement &branching, const ast::Statement &, Scope &scope);
  void check_action(const ast::LoopStatement &loop, const ast::Statement &, Scope &scope);
  void check_action(const ast::RepeatStatement &loop, const ast::Statement &, Scope &scope);
  void check_action(const ast::SwitchStatement &choice, const ast::Statement &, Scope &scope);
  void check_labels(const ast::SwitchStatement &choice);
  /// A device expression; inside a def, what it reads of the parameters is noted.
  bool check_device_expr(ast::ExprRef root);
  void check_action(const ast::SyncStatement &, const ast::Statement &, Scope &) {}
  void check_action(const ast::HandleStatement &declared, const ast::Statement &, Scope &scope);
  void check_action(const ast::OnStatement &placed, const ast::Statement &statement, Scope &scope);
  void check_action(const ast::RecordStatement &recorded, const ast::Statement &, Scope &);
  void check_action(const ast::WaitStatement &awaited, const ast::Statement &, Scope &);
  void check_action(const ast::StartStatement &start, const ast::Statement &, Scope &);
  void check_action(const ast::UpdateStatement &update, const ast::Statement &, Scope &);
  void find_updatable(const ast::Name &label);
  bool check_launched(ast::ExprRef target, ast::LaunchKind kind);
  void refuse_graphs(const std::vector<ast::Parameter> &parameters);
  void check_handle(ast::ExprRef root, SymbolKind wanted);
  void check_makes_node(const ast::Statement &statement);
  std::string_view nodeless(const ast::Statement &statement) const;
  bool makes_event_node(ast::ExprRef event, bool is_wait) const;
  void check_action(const ast::ScopeStatement &inner, const ast::Statement &, Scope &);
  void check_action(const ast::BufferStatement &declared, const ast::Statement &, Scope &scope);
  void check_action(const ast::ConstStatement &declared, const ast::Statement &, Scope &scope);

  /// What the statement reads, writes and calls, its blocks included.
  void add_names(const ast::Statement &statement, std::set<std::string_view> &names) const;

  void check_kernel_launch(const ast::LaunchStatement &launch, const Symbol &callee);
  void check_call(const ast::LaunchStatement &launch, const Symbol &callee);
  void check_arguments(const ast::LaunchStatement &launch, const Symbol &callee,
                       const ast::Signature &signature, const std::string &callee_name);
  void check_geometry(const ast::GeometryOverride &geometry);
  void check_def_call(const ast::LaunchStatement &launch, const ast::Statement &statement,
                      const Symbol &callee);
  bool check_count(const ast::LaunchStatement &launch, std::string_view what, const ast::Name &name,
                   std::size_t wanted);
  bool deduce(const ast::LaunchStatement &launch, const ast::Signature &kernel,
              std::vector<std::optional<Reference>> &references,
              std::vector<ast::ScalarType> &types);
  std::optional<ast::ScalarType> type_of_scalar(ast::ExprRef argument) const;
  void check_element_type(ast::ExprRef argument, const Reference &given,
                          const ast::Parameter &parameter, ast::ScalarType type,
                          const std::string &callee);
  void note_effect(const Reference &reference, const SourceRange &range, bool reads, bool writes);

  ExprScope device_scope() const;
  ExprScope expr_scope(std::string_view user = {}, bool constant = false) const;

  CheckedProgram &program_;
  CheckedFile &file_;
  ExprCheck &exprs_;
  Diagnostics &diagnostics_;
  const Scope *scope_ = nullptr; ///< of the statement being checked
  std::vector<OpenBlock> blocks_;
  const ast::Def *def_ = nullptr; ///< the one being checked
  std::vector<bool> written_;     ///< its parameters that the statements so far write
  // Parallel to File::defs:
  std::vector<Scope> def_scopes_; ///< the parameters
  std::vector<std::vector<Call>> calls_;
  std::unordered_set<const ast::Statement *> used_labels_;
};

} // namespace cgc
