// Blocks of the parse tree to those of the syntax tree.
#pragma once

#include "parse/expr_builder.h"

namespace cgc {

class StatementBuilder {
public:
  StatementBuilder(ast::File &file, ExprBuilder &exprs, Diagnostics &diagnostics)
      : file_(file), exprs_(exprs), diagnostics_(diagnostics) {}

  /// Adds the statement, unless it has a syntax error; its names are noted then.
  void add(ast::Block &block, CGraphParser::StatementContext &tree);

  /// Adds the buffers to the file's and returns which they are.
  ast::BufferStatement buffers(CGraphParser::BufferDeclarationContext &tree,
                               const ast::Attributes &attributes);
  ast::Const constant(CGraphParser::ConstDeclarationContext &tree);
  ast::Attributes attributes(const std::vector<CGraphParser::AttributeContext *> &trees);
  /// Puts the names of what has a syntax error into File::names_in_errors.
  void note_errors(antlr4::tree::ParseTree &tree);

private:
  ast::Block block(CGraphParser::BlockContext &tree);
  ast::Statement statement(CGraphParser::StatementContext &tree);
  void add_action(ast::Statement &statement, CGraphParser::ActionContext &tree);
  ast::LaunchStatement launch(CGraphParser::LaunchStatementContext &tree);
  ast::GeometryOverride geometry(CGraphParser::GeometryContext &tree);
  ast::StartStatement start(CGraphParser::StartStatementContext &tree);
  ast::UpdateStatement update(CGraphParser::UpdateStatementContext &tree);
  ast::ForStatement loop(CGraphParser::ForStatementContext &tree);
  ast::IfStatement branching(CGraphParser::IfStatementContext &tree);
  ast::SwitchStatement choice(CGraphParser::SwitchStatementContext &tree);
  bool add_control(ast::Statement &statement, CGraphParser::ActionContext &tree);
  bool add_order(ast::Statement &statement, CGraphParser::ActionContext &tree);
  ast::HandleStatement handles(CGraphParser::HandleDeclarationContext &tree,
                               const ast::Attributes &attributes);
  void end_head(ast::Statement &statement, antlr4::ParserRuleContext &last);
  void add_after(ast::Statement &statement, CGraphParser::AfterContext *tree);
  void check_arrow(const std::vector<antlr4::tree::ParseTree *> &children);

  ast::File &file_;
  ExprBuilder &exprs_;
  Diagnostics &diagnostics_;
};

/// The word that says how a graph is launched from the device.
ast::LaunchKind launch_kind(const antlr4::Token &token);

} // namespace cgc
