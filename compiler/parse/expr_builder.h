// Expressions of the parse tree, put into the pool with precedence applied.
#pragma once

#include "ast/ast.h"
#include "diag/diagnostics.h"

#include "CGraphParser.h"

namespace cgc {

class ExprBuilder {
public:
  ExprBuilder(ast::File &file, const SourceFile &source, Diagnostics &diagnostics)
      : file_(file), source_(source), diagnostics_(diagnostics) {}

  ast::ExprRef build(CGraphParser::ExpressionContext &tree);
  std::vector<ast::ExprRef> build_all(const std::vector<CGraphParser::ExpressionContext *> &trees);
  /// A buffer or a slice of one.
  ast::ExprRef reference(CGraphParser::ReferenceContext &tree);
  /// As a Name.
  ast::ExprRef qualified_name(CGraphParser::QualifiedNameContext &tree);

  ast::Name name(CGraphParser::NameContext &tree) const;
  ast::Name word(CGraphParser::WordContext &tree) const;
  cgrt::ScalarType scalar_type(CGraphParser::ScalarTypeContext &tree) const;
  SourceRange range(const antlr4::ParserRuleContext &tree) const;
  SourceRange range(const antlr4::Token &token) const;
  std::string_view text(const SourceRange &range) const;

private:
  ast::ExprRef chain(CGraphParser::ChainContext &tree);
  ast::ExprRef operand(CGraphParser::OperandContext &tree);
  ast::ExprRef atom(CGraphParser::OperandContext &tree);
  ast::ExprRef literal(const antlr4::Token &token);
  ast::ExprRef call(CGraphParser::OperandContext &tree);
  ast::ExprRef subscripts(ast::ExprRef base,
                          const std::vector<CGraphParser::SubscriptContext *> &trees);
  ast::ExprRef slice(CGraphParser::SliceContext &tree);
  ast::ExprRef add(ast::Expr expr);
  ast::ExprRef combine(ast::ExprOp op, ast::ExprRef left, ast::ExprRef right);

  ast::File &file_;
  const SourceFile &source_;
  Diagnostics &diagnostics_;
};

} // namespace cgc
