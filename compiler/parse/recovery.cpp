#include "parse/recovery.h"

namespace cgc {

namespace {

std::size_t next(antlr4::Parser &parser, std::size_t distance = 1) {
  return parser.getInputStream()->LA(static_cast<ssize_t>(distance));
}

/// Words that begin a statement wherever they stand, but for the `if` of an `else if`.
bool begins_control(std::size_t token) {
  return token == CGraphParser::DO || token == CGraphParser::IF || token == CGraphParser::REPEAT ||
         token == CGraphParser::SWITCH;
}

/// Words that go on with a statement behind one of its blocks.
bool goes_on(std::size_t token) {
  return token == CGraphParser::ELSE || token == CGraphParser::CASE ||
         token == CGraphParser::DEFAULT;
}

bool begins_statement(std::size_t token) {
  switch (token) {
  case CGraphParser::AT:
  case CGraphParser::CHILD:
  case CGraphParser::CONST:
  case CGraphParser::COPY:
  case CGraphParser::DEVICE:
  case CGraphParser::EVENT:
  case CGraphParser::FILL:
  case CGraphParser::FOR:
  case CGraphParser::HOST:
  case CGraphParser::ON:
  case CGraphParser::RECORD:
  case CGraphParser::STREAM:
  case CGraphParser::SYNC:
  case CGraphParser::WAIT:
  case CGraphParser::WHILE:
    return true;
  default:
    return begins_control(token);
  }
}

/// In the middle of a line a word may be there by mistake.
bool begins_line(antlr4::Parser &parser) {
  antlr4::TokenStream &tokens = *parser.getTokenStream();
  return tokens.LT(-1) == nullptr || tokens.LT(-1)->getLine() < tokens.LT(1)->getLine();
}

bool begins_declaration(antlr4::Parser &parser) {
  switch (next(parser)) {
  case CGraphParser::CUDA: // or a kernel's body
  case CGraphParser::HOST:
    return next(parser, 2) != CGraphParser::RAW_BODY && begins_line(parser);
  case CGraphParser::AT:
  case CGraphParser::CONST:
  case CGraphParser::DEVICE:
    return begins_line(parser);
  default:
    return ends_every_block(next(parser));
  }
}

/// Reads on until as many blocks are open as before the statement: those of its own heads, such as
/// the '{' of a 'switch', have no reader any more.
void close_braces(antlr4::Parser &parser, std::size_t statement_begin) {
  antlr4::TokenStream &tokens = *parser.getTokenStream();
  std::size_t open = 0;
  for (std::size_t i = statement_begin; i < tokens.index(); ++i) {
    const std::size_t token = tokens.get(i)->getType();
    open += token == CGraphParser::OPEN_BRACE ? 1 : 0;
    open -= token == CGraphParser::CLOSE_BRACE && open != 0 ? 1 : 0;
  }
  while (open != 0 && !ends_every_block(next(parser))) {
    const std::size_t token = next(parser);
    parser.consume();
    open += token == CGraphParser::OPEN_BRACE ? 1 : 0;
    open -= token == CGraphParser::CLOSE_BRACE ? 1 : 0;
  }
}

/// From '{' to the matching '}', both included.
void skip_braces(antlr4::Parser &parser) {
  std::size_t open = 0;
  while (next(parser) != antlr4::Token::EOF) {
    const std::size_t token = next(parser);
    parser.consume();
    open += token == CGraphParser::OPEN_BRACE ? 1 : 0;
    if (token == CGraphParser::CLOSE_BRACE && --open == 0) {
      return;
    }
  }
}

const antlr4::RecognitionException *as_recognition(const std::exception_ptr &error) {
  try {
    if (error) {
      std::rethrow_exception(error);
    }
  } catch (const antlr4::RecognitionException &recognition) {
    return &recognition; // lives as long as `error`
  }
  return nullptr;
}

} // namespace

bool ends_every_block(std::size_t token) {
  switch (token) {
  case antlr4::Token::EOF:
  case CGraphParser::CALLBACK:
  case CGraphParser::CAPTURED:
  case CGraphParser::DEF:
  case CGraphParser::GRAPH:
  case CGraphParser::IMPORT:
  case CGraphParser::KERNEL:
  case CGraphParser::PARAM:
    return true;
  default:
    return false;
  }
}

antlr4::misc::IntervalSet expected_tokens(antlr4::Parser &parser, const std::exception_ptr &error) {
  const auto *none = dynamic_cast<const antlr4::NoViableAltException *>(as_recognition(error));
  if (none == nullptr || none->getDeadEndConfigs() == nullptr) {
    return parser.getExpectedTokens();
  }
  // The parser looked ahead for an alternative, and still stands at the first token of all.
  antlr4::misc::IntervalSet tokens;
  for (const auto &config : none->getDeadEndConfigs()->configs) {
    for (const auto &transition : config->state->transitions) {
      if (!transition->isEpsilon()) {
        tokens.addAll(transition->label());
      }
    }
  }
  return tokens;
}

bool is_behind_unfinished_line(antlr4::Parser &parser, const antlr4::Token &token,
                               const antlr4::misc::IntervalSet &expected) {
  if (token.getTokenIndex() == 0) {
    return false;
  }
  const antlr4::Token &before = *parser.getTokenStream()->get(token.getTokenIndex() - 1);
  switch (before.getType()) {
  case CGraphParser::SEMICOLON:
  case CGraphParser::CLOSE_BRACE:
  case CGraphParser::OPEN_BRACE:
  case CGraphParser::RAW_BODY:
    return false; // nothing was begun there
  default:
    break;
  }
  const auto wants = [&](std::size_t type) { return expected.contains(type); };
  const bool ends = wants(CGraphParser::SEMICOLON) || wants(CGraphParser::CLOSE_PARENTHESIS) ||
                    wants(CGraphParser::CLOSE_BRACKET) || wants(CGraphParser::OPEN_BRACE) ||
                    begins_statement(token.getType()) || ends_every_block(token.getType()) ||
                    token.getType() == CGraphParser::CLOSE_BRACE;
  return ends && token.getType() != antlr4::Token::EOF && before.getLine() < token.getLine();
}

void Recovery::recover(antlr4::Parser *parser, std::exception_ptr error) {
  const std::size_t rule = parser->getContext()->getRuleIndex();
  if (rule != CGraphParser::RuleStatement && rule != CGraphParser::RuleDeclaration) {
    std::rethrow_exception(error);
  }
  const antlr4::Token &offending = *as_recognition(error)->getOffendingToken();
  while (parser->getInputStream()->index() < offending.getTokenIndex()) {
    parser->consume();
  }
  const antlr4::misc::IntervalSet expected = expected_tokens(*parser, error);
  // Without its '{', what stands in a block goes on around it.
  lost_ = lost_ || rule == CGraphParser::RuleDeclaration ||
          expected.contains(std::size_t{CGraphParser::OPEN_BRACE});
  const bool begun = parser->getContext()->getStart()->getTokenIndex() < offending.getTokenIndex();
  if (rule == CGraphParser::RuleDeclaration) {
    if (!begun || !begins_declaration(*parser)) {
      skip_declaration(*parser);
    }
  } else {
    close_braces(*parser, parser->getContext()->getStart()->getTokenIndex());
    if (!begun || !is_behind_unfinished_line(*parser, offending, expected)) {
      skip_statement(*parser);
    }
  }
  endErrorCondition(parser);
}

void Recovery::reportError(antlr4::Parser *parser, const antlr4::RecognitionException &error) {
  // What is wrong before explains why blocks are open at the declaration's end, or closed too
  // early.
  const std::size_t token = error.getOffendingToken()->getType();
  const bool follows = ends_every_block(token) || goes_on(token) || token == CGraphParser::AFTER;
  if (!had_error_ || !follows) {
    DefaultErrorStrategy::reportError(parser, error);
  }
  had_error_ = true;
}

antlr4::Token *Recovery::recoverInline(antlr4::Parser *parser) {
  throw antlr4::InputMismatchException(parser);
}

void Recovery::sync(antlr4::Parser *parser) {
  switch (parser->getContext()->getRuleIndex()) {
  case CGraphParser::RuleBlock:
    sync_block(*parser);
    break;
  case CGraphParser::RuleFile:
    sync_file(*parser);
    break;
  default: {
    const auto &atn = parser->getATN();
    const antlr4::misc::IntervalSet &wanted = atn.nextTokens(atn.states[parser->getState()]);
    const bool may_end = wanted.contains(antlr4::Token::EPSILON);
    if (!may_end && !wanted.contains(next(*parser))) {
      throw antlr4::InputMismatchException(parser); // here all that may stand in its place is known
    }
  }
  }
}

void Recovery::sync_block(antlr4::Parser &parser) {
  const auto &atn = parser.getATN();
  const antlr4::misc::IntervalSet &wanted = atn.nextTokens(atn.states[parser.getState()]);
  while (!wanted.contains(next(parser)) && !ends_every_block(next(parser))) {
    if (had_error_ && goes_on(next(parser))) {
      skip_head(parser); // whose statement has been left
      continue;
    }
    reportError(&parser, antlr4::InputMismatchException(&parser));
    skip_statement(parser);
    endErrorCondition(&parser);
  }
}

void Recovery::sync_file(antlr4::Parser &parser) {
  const auto &atn = parser.getATN();
  const antlr4::misc::IntervalSet &wanted = atn.nextTokens(atn.states[parser.getState()]);
  while (!wanted.contains(next(parser)) && next(parser) != antlr4::Token::EOF) {
    if (!lost_) {
      reportError(&parser, antlr4::InputMismatchException(&parser));
    }
    lost_ = true;
    skip_declaration(parser);
    endErrorCondition(&parser);
  }
  lost_ = lost_ && !ends_every_block(next(parser));
  had_error_ = false;
}

/// Over `else`, `case …:` or `default:`, to the block or the `if` behind it.
void Recovery::skip_head(antlr4::Parser &parser) {
  const bool has_labels = next(parser) != CGraphParser::ELSE;
  parser.consume();
  while (has_labels && next(parser) != CGraphParser::OPEN_BRACE &&
         next(parser) != CGraphParser::CLOSE_BRACE && !ends_every_block(next(parser))) {
    parser.consume();
  }
}

/// Behind the next ';', or to what begins or ends a statement.
void Recovery::skip_statement(antlr4::Parser &parser) {
  while (!begins_control(next(parser)) &&
         !(begins_statement(next(parser)) && begins_line(parser)) &&
         !ends_every_block(next(parser)) && next(parser) != CGraphParser::OPEN_BRACE &&
         next(parser) != CGraphParser::CLOSE_BRACE) {
    const std::size_t token = next(parser);
    parser.consume();
    if (token == CGraphParser::SEMICOLON) {
      return;
    }
  }
}

/// Behind the next ';' or body, or to the next declaration; at least over one token.
void Recovery::skip_declaration(antlr4::Parser &parser) {
  do {
    const std::size_t token = next(parser);
    if (token == antlr4::Token::EOF) {
      return;
    }
    if (token == CGraphParser::OPEN_BRACE) {
      skip_braces(parser);
    } else {
      parser.consume();
    }
    const bool more =
        next(parser) == CGraphParser::HOST && next(parser, 2) == CGraphParser::RAW_BODY;
    const bool body = token == CGraphParser::RAW_BODY || token == CGraphParser::OPEN_BRACE;
    if (token == CGraphParser::SEMICOLON || (body && !more)) {
      return;
    }
  } while (!begins_declaration(parser));
}

} // namespace cgc
