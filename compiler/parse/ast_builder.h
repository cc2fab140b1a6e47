// Parse tree to syntax tree, while the parser is at work.
#pragma once

#include "ast/ast.h"
#include "diag/diagnostics.h"
#include "parse/expr_builder.h"
#include "parse/statement_builder.h"

#include "CGraphParser.h"

namespace cgc {

/// Listens to the parser and takes each declaration, and each statement of a graph or def, when it
/// has been parsed; its part of the parse tree is freed then, so that trees of large files are
/// never there as a whole. Leaves out what has a syntax error in it, and notes the names there.
class AstBuilder : public antlr4::tree::ParseTreeListener {
public:
  AstBuilder(CGraphParser &parser, const SourceFiles &files, FileId id, Diagnostics &diagnostics);

  /// The tree of what has been parsed; call once.
  ast::File take() { return std::move(file_); }

  void enterEveryRule(antlr4::ParserRuleContext *rule) override;
  void exitEveryRule(antlr4::ParserRuleContext *rule) override;
  void visitTerminal(antlr4::tree::TerminalNode * /*node*/) override {}
  void visitErrorNode(antlr4::tree::ErrorNode *node) override;

private:
  /// A rule whose part of the tree is freed on its own, and the tree's owner around it.
  struct OpenRule {
    antlr4::ParserRuleContext *rule;
    antlr4::tree::ParseTreeTracker outer;
  };

  void add_declaration(CGraphParser::DeclarationContext &tree);
  void add_broken(CGraphParser::DeclarationContext &tree);
  void add_import(CGraphParser::ImportDeclarationContext &tree);
  void add_param(CGraphParser::ParamDeclarationContext &tree);
  void add_kernel(CGraphParser::KernelDeclarationContext &tree, const ast::Attributes &attributes);
  std::vector<ast::Parameter> parameters(CGraphParser::ParametersContext &tree);
  SourceRange body_range(const antlr4::Token &body) const;
  ast::KernelBody body(CGraphParser::KernelBodyContext &tree);

  CGraphParser &parser_;
  ast::File file_;
  Diagnostics &diagnostics_;
  ExprBuilder exprs_;
  StatementBuilder statements_;
  std::vector<OpenRule> open_;               ///< a declaration, and a statement in it
  ast::Block block_;                         ///< the statements of the open declaration
  std::set<std::string_view> names_outside_; ///< names_in_errors of the declarations before it
};

} // namespace cgc
