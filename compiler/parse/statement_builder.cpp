#include "parse/statement_builder.h"

#include "parse/broken_tree.h"
#include "parse/string_literal.h"

namespace cgc {

void StatementBuilder::note_errors(antlr4::tree::ParseTree &tree) {
  for_each_identifier(tree, [this](const antlr4::Token &token) {
    file_.names_in_errors.insert(exprs_.text(exprs_.range(token)));
  });
}

ast::Block StatementBuilder::block(CGraphParser::BlockContext &tree) {
  ast::Block result;
  result.statements.reserve(tree.children.size());
  for (antlr4::tree::ParseTree *child : tree.children) {
    if (auto *part = dynamic_cast<CGraphParser::StatementContext *>(child)) {
      add(result, *part);
    }
  }
  return result;
}

void StatementBuilder::add(ast::Block &block, CGraphParser::StatementContext &tree) {
  if (is_broken(tree)) {
    note_errors(tree);
  } else {
    block.statements.push_back(statement(tree));
  }
}

ast::Statement StatementBuilder::statement(CGraphParser::StatementContext &tree) {
  ast::Statement result;
  result.range = exprs_.range(tree);
  result.attributes = attributes(tree.attribute());
  if (tree.name() != nullptr) {
    result.label = exprs_.name(*tree.name());
  }
  if (!tree.attribute().empty() || tree.name() != nullptr) {
    result.range = join(exprs_.range(*tree.action()), result.range);
  }
  add_action(result, *tree.action());
  return result;
}

void StatementBuilder::add_action(ast::Statement &statement, CGraphParser::ActionContext &tree) {
  if (auto *copy = tree.copyStatement()) {
    check_arrow(copy->children);
    statement.action = ast::CopyStatement{exprs_.reference(*copy->reference(0)),
                                          exprs_.reference(*copy->reference(1))};
    add_after(statement, copy->after());
  } else if (auto *fill = tree.fillStatement()) {
    check_arrow(fill->children);
    const ast::ExprRef destination = exprs_.reference(*fill->reference());
    statement.action = ast::FillStatement{destination, exprs_.build(*fill->expression())};
    add_after(statement, fill->after());
  } else if (auto *called = tree.launchStatement()) {
    statement.action = launch(*called);
    add_after(statement, called->after());
  } else if (auto *repeated = tree.forStatement()) {
    statement.range.end = exprs_.range(*repeated->expression().back()).end;
    statement.action = loop(*repeated);
    add_after(statement, repeated->after());
  } else if (auto *assigned = tree.assignStatement()) {
    const ast::ExprRef target = exprs_.reference(*assigned->reference());
    statement.action = ast::AssignStatement{target, exprs_.build(*assigned->expression())};
    add_after(statement, assigned->after());
  } else if (add_control(statement, tree) || add_order(statement, tree)) {
    return;
  } else if (auto *scope = tree.scopeStatement()) {
    statement.range.end = statement.range.begin + 1;
    statement.action = ast::ScopeStatement{block(*scope->block())};
    add_after(statement, scope->after());
  } else if (auto *declared = tree.bufferDeclaration()) {
    statement.action = buffers(*declared, statement.attributes);
  } else {
    statement.action = ast::ConstStatement{static_cast<std::uint32_t>(file_.local_consts.size())};
    file_.local_consts.push_back(constant(*tree.constDeclaration()));
  }
}

/// Streams, events, `sync` and launches from the device; false if the action is none of these.
bool StatementBuilder::add_order(ast::Statement &statement, CGraphParser::ActionContext &tree) {
  if (auto *barrier = tree.syncStatement()) {
    statement.action = ast::SyncStatement{};
    add_after(statement, barrier->after());
  } else if (auto *declared = tree.handleDeclaration()) {
    statement.action = handles(*declared, statement.attributes);
  } else if (auto *placed = tree.onStatement()) {
    end_head(statement, *placed->reference());
    const ast::ExprRef stream = exprs_.reference(*placed->reference());
    statement.action = ast::OnStatement{stream, block(*placed->block())};
    add_after(statement, placed->after());
  } else if (auto *recorded = tree.recordStatement()) {
    statement.action = ast::RecordStatement{exprs_.reference(*recorded->reference())};
    add_after(statement, recorded->after());
  } else if (auto *awaited = tree.waitStatement()) {
    statement.action = ast::WaitStatement{exprs_.reference(*awaited->reference())};
    add_after(statement, awaited->after());
  } else if (auto *started = tree.startStatement()) {
    statement.action = start(*started);
    add_after(statement, started->after());
  } else if (auto *updated = tree.updateStatement()) {
    statement.action = update(*updated);
    add_after(statement, updated->after());
  } else {
    return false;
  }
  return true;
}

ast::HandleStatement StatementBuilder::handles(CGraphParser::HandleDeclarationContext &tree,
                                               const ast::Attributes &attributes) {
  const bool is_event = tree.kind->getType() == CGraphParser::EVENT;
  std::vector<ast::Handle> &all = is_event ? file_.events : file_.streams;
  const ast::HandleStatement result = {is_event, static_cast<std::uint32_t>(all.size()),
                                       static_cast<std::uint32_t>(tree.handle().size())};
  for (CGraphParser::HandleContext *one : tree.handle()) {
    const ast::ExprRef count =
        one->expression() == nullptr ? ast::ExprRef{} : exprs_.build(*one->expression());
    all.push_back({exprs_.name(*one->name()), count, attributes});
  }
  return result;
}

/// The statement's range is its head: what comes before its first block.
void StatementBuilder::end_head(ast::Statement &statement, antlr4::ParserRuleContext &last) {
  statement.range.end = exprs_.range(last).end;
}

/// Control flow on the device; false if the action is none.
bool StatementBuilder::add_control(ast::Statement &statement, CGraphParser::ActionContext &tree) {
  const auto limit = [this](CGraphParser::LimitContext *given) {
    return given == nullptr ? ast::ExprRef{} : exprs_.build(*given->expression());
  };
  if (auto *branches = tree.ifStatement()) {
    end_head(statement, *branches->condition(0));
    statement.action = branching(*branches);
    add_after(statement, branches->after());
  } else if (auto *loop = tree.whileStatement()) {
    end_head(statement, loop->limit() != nullptr
                            ? static_cast<antlr4::ParserRuleContext &>(*loop->limit())
                            : *loop->condition());
    const ast::ExprRef condition = exprs_.build(*loop->condition()->expression());
    const ast::ExprRef most = limit(loop->limit());
    statement.action = ast::LoopStatement{false, condition, most, block(*loop->block())};
    add_after(statement, loop->after());
  } else if (auto *until = tree.doStatement()) {
    statement.range.end = statement.range.begin + 2;
    ast::Block body = block(*until->block());
    const ast::ExprRef condition = exprs_.build(*until->condition()->expression());
    statement.action = ast::LoopStatement{true, condition, limit(until->limit()), std::move(body)};
    add_after(statement, until->after());
  } else if (auto *repeated = tree.repeatStatement()) {
    end_head(statement, *repeated->condition());
    const ast::ExprRef count = exprs_.build(*repeated->condition()->expression());
    statement.action = ast::RepeatStatement{count, block(*repeated->block())};
    add_after(statement, repeated->after());
  } else if (auto *cases = tree.switchStatement()) {
    end_head(statement, *cases->condition());
    statement.action = choice(*cases);
    add_after(statement, cases->after());
  } else {
    return false;
  }
  return true;
}

ast::IfStatement StatementBuilder::branching(CGraphParser::IfStatementContext &tree) {
  ast::IfStatement result;
  const auto conditions = tree.condition();
  const auto blocks = tree.block();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const ast::ExprRef condition =
        i < conditions.size() ? exprs_.build(*conditions[i]->expression()) : ast::ExprRef{};
    result.branches.push_back({condition, block(*blocks[i])});
  }
  return result;
}

ast::SwitchStatement StatementBuilder::choice(CGraphParser::SwitchStatementContext &tree) {
  ast::SwitchStatement result;
  result.value = exprs_.build(*tree.condition()->expression());
  for (CGraphParser::SwitchCaseContext *one : tree.switchCase()) {
    const auto labels = exprs_.build_all(one->expression());
    SourceRange range = exprs_.range(*one);
    range.end = labels.empty() ? range.begin + 7 // "default"
                               : exprs_.range(*one->expression().back()).end;
    result.cases.push_back({labels, range, block(*one->block())});
  }
  return result;
}

void StatementBuilder::add_after(ast::Statement &statement, CGraphParser::AfterContext *tree) {
  if (tree != nullptr) {
    for (CGraphParser::NameContext *name : tree->name()) {
      statement.after.push_back(exprs_.name(*name));
    }
  }
}

ast::LaunchStatement StatementBuilder::launch(CGraphParser::LaunchStatementContext &tree) {
  ast::LaunchStatement result;
  result.callee = exprs_.qualified_name(*tree.qualifiedName());
  result.child = tree.CHILD() != nullptr;
  if (tree.geometry() != nullptr) {
    result.geometry = geometry(*tree.geometry());
  }
  result.arguments = exprs_.build_all(tree.expression());
  return result;
}

ast::StartStatement StatementBuilder::start(CGraphParser::StartStatementContext &tree) {
  ast::StartStatement result;
  result.kind = launch_kind(*tree.kind);
  result.target = exprs_.qualified_name(*tree.qualifiedName());
  if (tree.condition() != nullptr) {
    result.condition = exprs_.build(*tree.condition()->expression());
  }
  return result;
}

ast::UpdateStatement StatementBuilder::update(CGraphParser::UpdateStatementContext &tree) {
  ast::UpdateStatement result;
  const SourceRange what = exprs_.range(*tree.what);
  result.what = {exprs_.text(what), what};
  result.label = exprs_.name(*tree.name(0));
  if (tree.name().size() > 1) {
    result.parameter = exprs_.name(*tree.name(1));
  }
  result.values = exprs_.build_all(tree.extents()->expression());
  return result;
}

ast::LaunchKind launch_kind(const antlr4::Token &token) {
  return token.getType() == CGraphParser::TAIL     ? ast::LaunchKind::Tail
         : token.getType() == CGraphParser::DETACH ? ast::LaunchKind::Detach
                                                   : ast::LaunchKind::Sibling;
}

ast::GeometryOverride StatementBuilder::geometry(CGraphParser::GeometryContext &tree) {
  ast::GeometryOverride result;
  result.range = exprs_.range(tree);
  result.grid = exprs_.build_all(tree.extents(0)->expression());
  result.block = exprs_.build_all(tree.extents(1)->expression());
  if (tree.expression() != nullptr) {
    result.shared = exprs_.build(*tree.expression());
  }
  return result;
}

ast::ForStatement StatementBuilder::loop(CGraphParser::ForStatementContext &tree) {
  ast::ForStatement result;
  result.variable = static_cast<std::uint32_t>(file_.loops.size());
  file_.loops.push_back(exprs_.name(*tree.name()));
  result.begin = exprs_.build(*tree.expression(0));
  result.end = exprs_.build(*tree.expression(1));
  result.body = block(*tree.block());
  return result;
}

ast::BufferStatement StatementBuilder::buffers(CGraphParser::BufferDeclarationContext &tree,
                                               const ast::Attributes &attributes) {
  ast::Buffer buffer;
  buffer.attributes = attributes;
  buffer.type = exprs_.scalar_type(*tree.scalarType());
  buffer.space = tree.space->getType() == CGraphParser::HOST ? ast::MemorySpace::Host
                                                             : ast::MemorySpace::Device;
  if (tree.access != nullptr) {
    buffer.access = tree.access->getType() == CGraphParser::IN    ? ast::CallerAccess::In
                    : tree.access->getType() == CGraphParser::OUT ? ast::CallerAccess::Out
                                                                  : ast::CallerAccess::InOut;
  }
  buffer.shape = exprs_.build_all(tree.shape()->expression());
  const ast::BufferStatement result = {static_cast<std::uint32_t>(file_.buffers.size()),
                                       static_cast<std::uint32_t>(tree.name().size())};
  for (CGraphParser::NameContext *name : tree.name()) {
    buffer.name = exprs_.name(*name);
    file_.buffers.push_back(buffer);
  }
  return result;
}

ast::Const StatementBuilder::constant(CGraphParser::ConstDeclarationContext &tree) {
  return {exprs_.name(*tree.name()), exprs_.build(*tree.expression())};
}

ast::Attributes
StatementBuilder::attributes(const std::vector<CGraphParser::AttributeContext *> &trees) {
  ast::Attributes result;
  for (CGraphParser::AttributeContext *tree : trees) {
    ast::Attribute attribute;
    attribute.range = exprs_.range(*tree);
    attribute.name = exprs_.word(*tree->word());
    for (CGraphParser::AttributeArgumentContext *argument : tree->attributeArgument()) {
      if (argument->expression() != nullptr) {
        attribute.arguments.push_back(exprs_.build(*argument->expression()));
      } else {
        const SourceRange range = exprs_.range(*argument);
        attribute.text = string_value(exprs_.text(range), range, diagnostics_);
      }
    }
    result.push_back(std::move(attribute));
  }
  return result;
}

/// `<-` is two tokens, but one word to the reader.
void StatementBuilder::check_arrow(const std::vector<antlr4::tree::ParseTree *> &children) {
  for (std::size_t i = 0; i + 1 < children.size(); ++i) {
    auto *less = dynamic_cast<antlr4::tree::TerminalNode *>(children[i]);
    auto *minus = dynamic_cast<antlr4::tree::TerminalNode *>(children[i + 1]);
    if (less == nullptr || minus == nullptr) {
      continue;
    }
    const SourceRange arrow =
        join(exprs_.range(*less->getSymbol()), exprs_.range(*minus->getSymbol()));
    if (arrow.end - arrow.begin != 2) {
      diagnostics_.report(Diag::SplitArrow, arrow);
    }
    return;
  }
}

} // namespace cgc
