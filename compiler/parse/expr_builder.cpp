#include "parse/expr_builder.h"

#include "parse/number.h"
#include "parse/token_source.h"

#include <algorithm>
#include <limits>

namespace cgc {

using ast::Expr;
using ast::ExprKind;
using ast::ExprOp;
using ast::ExprRef;

namespace {

struct BinaryOperator {
  std::string_view text;
  ExprOp op;
  int precedence; ///< higher binds tighter
};

constexpr BinaryOperator binary_operators[] = {
    {"||", ExprOp::Or, 1},    {"&&", ExprOp::And, 2},   {"|", ExprOp::BitOr, 3},
    {"^", ExprOp::BitXor, 4}, {"&", ExprOp::BitAnd, 5}, {"==", ExprOp::Eq, 6},
    {"!=", ExprOp::Ne, 6},    {"<", ExprOp::Lt, 7},     {"<=", ExprOp::Le, 7},
    {">", ExprOp::Gt, 7},     {">=", ExprOp::Ge, 7},    {"<<", ExprOp::Shl, 8},
    {">>", ExprOp::Shr, 8},   {"+", ExprOp::Add, 9},    {"-", ExprOp::Sub, 9},
    {"*", ExprOp::Mul, 10},   {"/", ExprOp::Div, 10},   {"%", ExprOp::Rem, 10},
};

const BinaryOperator &binary_operator(std::string_view text) {
  return *std::find_if(std::begin(binary_operators), std::end(binary_operators),
                       [&](const BinaryOperator &entry) { return entry.text == text; });
}

/// A child whose kind the grammar fixes.
template <typename T> T &part(const antlr4::ParserRuleContext &tree, std::size_t index) {
  return static_cast<T &>(*tree.children[index]);
}

ExprOp prefix_operator(char c) {
  return c == '-' ? ExprOp::Neg : c == '!' ? ExprOp::Not : ExprOp::BitNot;
}

} // namespace

SourceRange ExprBuilder::range(const antlr4::Token &token) const {
  return {file_.id, static_cast<std::uint32_t>(token.getStartIndex()),
          static_cast<std::uint32_t>(token.getStopIndex() + 1)};
}

SourceRange ExprBuilder::range(const antlr4::ParserRuleContext &tree) const {
  return join(range(*tree.start), range(*tree.stop));
}

std::string_view ExprBuilder::text(const SourceRange &range) const {
  return source_.text().substr(range.begin, range.end - range.begin);
}

ast::Name ExprBuilder::name(CGraphParser::NameContext &tree) const {
  const SourceRange where = range(tree);
  return {text(where), where};
}

ast::Name ExprBuilder::word(CGraphParser::WordContext &tree) const {
  const SourceRange where = range(tree);
  return {text(where), where};
}

cgrt::ScalarType ExprBuilder::scalar_type(CGraphParser::ScalarTypeContext &tree) const {
  return cgrt::format::parse_scalar_type(text(range(tree))).value();
}

ExprRef ExprBuilder::add(Expr expr) {
  const ExprRef self{static_cast<std::uint32_t>(file_.exprs.size())};
  expr.first = self.index;
  // The first operand that there is begins the subtree; arguments stand behind operands.
  const auto begin_at = [&](ExprRef part) {
    expr.first = part.valid() ? std::min(expr.first, file_[part].first) : expr.first;
  };
  std::for_each(expr.operands.begin(), expr.operands.end(), begin_at);
  if (!expr.arguments.empty()) {
    begin_at(expr.arguments[0]);
  }
  file_.exprs.push_back(std::move(expr));
  return self;
}

ExprRef ExprBuilder::combine(ExprOp op, ExprRef left, ExprRef right) {
  Expr expr;
  expr.kind = ExprKind::Binary;
  expr.op = op;
  expr.range = join(file_[left].range, file_[right].range);
  expr.operands = {left, right, {}};
  return add(std::move(expr));
}

/// `a ? b : c ? d : e`, flat in the tree, nests to the right.
ExprRef ExprBuilder::build(CGraphParser::ExpressionContext &tree) {
  if (tree.children.size() == 1) {
    return chain(part<CGraphParser::ChainContext>(tree, 0));
  }
  std::vector<ExprRef> parts; // with the children `chain ? expression : chain ? …`
  for (std::size_t i = 0; i < tree.children.size(); i += 2) {
    parts.push_back(i % 4 == 2 ? build(part<CGraphParser::ExpressionContext>(tree, i))
                               : chain(part<CGraphParser::ChainContext>(tree, i)));
  }
  ExprRef result = parts.back();
  for (std::size_t i = parts.size() - 1; i >= 2; i -= 2) {
    Expr expr;
    expr.kind = ExprKind::Select;
    expr.range = join(file_[parts[i - 2]].range, file_[result].range);
    expr.operands = {parts[i - 2], parts[i - 1], result};
    result = add(std::move(expr));
  }
  return result;
}

/// Precedence by two stacks; all binary operators are left-associative.
ExprRef ExprBuilder::chain(CGraphParser::ChainContext &tree) {
  const ExprRef first = operand(part<CGraphParser::OperandContext>(tree, 0));
  if (tree.children.size() == 1) {
    return first;
  }
  std::vector<ExprRef> operands = {first};
  std::vector<BinaryOperator> pending;
  const auto reduce = [&] {
    const ExprRef right = operands.back();
    operands.pop_back();
    operands.back() = combine(pending.back().op, operands.back(), right);
    pending.pop_back();
  };
  for (std::size_t i = 1; i < tree.children.size(); i += 2) {
    const antlr4::Token &token = *part<antlr4::tree::TerminalNode>(tree, i).getSymbol();
    const BinaryOperator &next = binary_operator(text(range(token)));
    while (!pending.empty() && pending.back().precedence >= next.precedence) {
      reduce();
    }
    pending.push_back(next);
    operands.push_back(operand(part<CGraphParser::OperandContext>(tree, i + 1)));
  }
  while (!pending.empty()) {
    reduce();
  }
  return operands.back();
}

ExprRef ExprBuilder::operand(CGraphParser::OperandContext &tree) {
  ExprRef result = atom(tree);
  std::size_t prefixes = tree.prefix.size();
  if (prefixes == 0) {
    return result;
  }
  // The least i64 has no positive counterpart: its sign is part of the number.
  Expr &number = file_.exprs[result.index];
  if (number.kind == ExprKind::Literal && number.value == ast::Value::of(std::uint64_t{1} << 63) &&
      text(range(*tree.prefix[prefixes - 1])) == "-") {
    number.value = ast::Value::of(std::numeric_limits<std::int64_t>::min());
    --prefixes;
  }
  for (std::size_t i = prefixes; i-- > 0;) {
    const SourceRange where = range(*tree.prefix[i]);
    Expr expr;
    expr.kind = ExprKind::Unary;
    expr.op = prefix_operator(text(where)[0]);
    expr.range = join(where, file_[result].range);
    expr.operands = {result, {}, {}};
    result = add(std::move(expr));
  }
  return result;
}

/// The operand without the operators in front of it.
ExprRef ExprBuilder::atom(CGraphParser::OperandContext &tree) {
  if (tree.literal != nullptr) {
    return literal(*tree.literal);
  }
  if (tree.scalarType() != nullptr) {
    CGraphParser::ScalarTypeContext &type = *tree.scalarType();
    Expr expr;
    expr.kind = ExprKind::Cast;
    expr.type = scalar_type(type);
    expr.range = join(range(type), range(*tree.stop));
    expr.operands = {build(*tree.expression()), {}, {}};
    return add(std::move(expr));
  }
  if (tree.qualifiedName() == nullptr) {
    return build(*tree.expression());
  }
  if (tree.children.size() == tree.prefix.size() + 1) {
    return qualified_name(*tree.qualifiedName());
  }
  return tree.subscript().empty()
             ? call(tree)
             : subscripts(qualified_name(*tree.qualifiedName()), tree.subscript());
}

ExprRef ExprBuilder::qualified_name(CGraphParser::QualifiedNameContext &tree) {
  Expr expr;
  expr.kind = ExprKind::Name;
  expr.range = range(tree);
  expr.name = name(*tree.name()).text;
  if (tree.word() != nullptr) {
    expr.qualifier = expr.name;
    expr.name = word(*tree.word()).text;
  }
  return add(std::move(expr));
}

ExprRef ExprBuilder::reference(CGraphParser::ReferenceContext &tree) {
  Expr expr;
  expr.kind = ExprKind::Name;
  expr.range = range(*tree.name());
  expr.name = text(expr.range);
  return subscripts(add(std::move(expr)), tree.subscript());
}

ExprRef ExprBuilder::subscripts(ExprRef base,
                                const std::vector<CGraphParser::SubscriptContext *> &trees) {
  if (trees.size() > max_nesting) { // each is taken of what the others leave
    diagnostics_.report(Diag::NestingTooDeep, range(*trees[max_nesting]), max_nesting);
    return base;
  }
  for (CGraphParser::SubscriptContext *tree : trees) {
    Expr expr;
    expr.kind = ExprKind::Index;
    expr.range = join(file_[base].range, range(*tree));
    expr.operands = {base, {}, {}};
    for (CGraphParser::SliceContext *part : tree->slice()) {
      expr.arguments.push_back(slice(*part));
    }
    base = add(std::move(expr));
  }
  return base;
}

ExprRef ExprBuilder::slice(CGraphParser::SliceContext &tree) {
  const auto bounds = tree.expression();
  if (tree.children.size() == 1 && bounds.size() == 1) {
    return build(*bounds[0]);
  }
  Expr expr;
  expr.kind = ExprKind::Range;
  expr.range = range(tree);
  for (antlr4::tree::ParseTree *child : tree.children) {
    auto *bound = dynamic_cast<CGraphParser::ExpressionContext *>(child);
    if (bound != nullptr) {
      expr.operands[child == tree.children.front() ? 0 : 1] = build(*bound);
    }
  }
  return add(std::move(expr));
}

std::vector<ExprRef>
ExprBuilder::build_all(const std::vector<CGraphParser::ExpressionContext *> &trees) {
  std::vector<ExprRef> refs;
  refs.reserve(trees.size());
  for (CGraphParser::ExpressionContext *tree : trees) {
    refs.push_back(build(*tree));
  }
  return refs;
}

ExprRef ExprBuilder::call(CGraphParser::OperandContext &tree) {
  Expr expr;
  expr.kind = ExprKind::Call;
  expr.range = join(range(*tree.qualifiedName()), range(*tree.stop));
  CGraphParser::QualifiedNameContext &function = *tree.qualifiedName();
  expr.name = name(*function.name()).text;
  if (function.word() != nullptr) {
    expr.qualifier = expr.name;
    expr.name = word(*function.word()).text;
  }
  for (CGraphParser::CallArgumentContext *argument : tree.callArgument()) {
    if (argument->expression() != nullptr) {
      expr.arguments.push_back(build(*argument->expression()));
    } else {
      Expr type;
      type.kind = ExprKind::Type;
      type.type = scalar_type(*argument->scalarType());
      type.range = range(*argument);
      expr.arguments.push_back(add(std::move(type)));
    }
  }
  return add(std::move(expr));
}

ExprRef ExprBuilder::literal(const antlr4::Token &token) {
  Expr expr;
  expr.range = range(token);
  switch (token.getType()) {
  case CGraphParser::TRUE:
  case CGraphParser::FALSE:
    expr.value = ast::Value::of(token.getType() == CGraphParser::TRUE);
    break;
  case CGraphParser::INFINITE:
    expr.value = ast::Value::of(std::numeric_limits<double>::infinity());
    break;
  case CGraphParser::NOT_A_NUMBER:
    expr.value = ast::Value::of(std::numeric_limits<double>::quiet_NaN());
    break;
  default: {
    const auto value = parse_number(text(expr.range));
    if (!value) {
      diagnostics_.report(Diag::LiteralTooLarge, expr.range);
    }
    expr.value = value.value_or(ast::Value{});
    break;
  }
  }
  return add(std::move(expr));
}

} // namespace cgc
