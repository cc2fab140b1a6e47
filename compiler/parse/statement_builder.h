// Blocks of the parse tree to those of the syntax tree.
#pragma once

#include "parse/expr_builder.h"

namespace cgc {

class StatementBuilder {
public:
  StatementBuilder(ast::File &file, ExprBuilder &exprs, Diagnostics &diagnostics)
      : file_(file), exprs_(exprs), diagnostics_(diagnostics) {}

  /// Adds the statement, unless it has a syntax error; names that it declares are poisoned then.
  void add(ast::Block &block, CGraphParser::StatementContext &tree);

  /// Adds the buffers to the file's and returns which they are.
  ast::BufferStatement buffers(CGraphParser::BufferDeclarationContext &tree,
                               const ast::Attributes &attributes);
  ast::Const constant(CGraphParser::ConstDeclarationContext &tree);
  ast::Attributes attributes(const std::vector<CGraphParser::AttributeContext *> &trees);
  /// Uses of the names that a declaration with a syntax error declares will not be reported.
  void poison(antlr4::ParserRuleContext &declaration);

private:
  ast::Block block(CGraphParser::BlockContext &tree);
  void add_identifiers(antlr4::tree::ParseTree &tree, std::set<std::string_view> &names) const;
  ast::Statement statement(CGraphParser::StatementContext &tree);
  void add_action(ast::Statement &statement, CGraphParser::ActionContext &tree);
  ast::LaunchStatement launch(CGraphParser::LaunchStatementContext &tree);
  ast::GeometryOverride geometry(CGraphParser::GeometryContext &tree);
  ast::ForStatement loop(CGraphParser::ForStatementContext &tree);
  void add_after(ast::Statement &statement, CGraphParser::AfterContext *tree);
  void check_arrow(const std::vector<antlr4::tree::ParseTree *> &children);

  ast::File &file_;
  ExprBuilder &exprs_;
  Diagnostics &diagnostics_;
};

} // namespace cgc
