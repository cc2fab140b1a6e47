#include "ir/ir_parser.h"

namespace cgc {

using cgrt::ScalarType;

bool IrParser::accept_attribute(std::string_view word) {
  IrLexer ahead = lexer_;
  return at_word(word) && !ahead.next().is(IrTokenKind::Symbol, ":") && advance();
}

void IrParser::expect_word(std::string_view word) {
  if (!accept_word(word)) {
    fail("'" + std::string(word) + "'");
  }
}

void IrParser::expect_symbol(std::string_view symbol) {
  if (!accept_symbol(symbol)) {
    fail("'" + std::string(symbol) + "'");
  }
}

void IrParser::expect_line_end() {
  if (token_.kind == IrTokenKind::EndOfLine) {
    advance();
  } else if (!at_end()) {
    fail("the line's end");
  }
}

std::string IrParser::name() {
  std::string result;
  if (token_.kind == IrTokenKind::String) {
    const SourceRange range = token_.range;
    result = string();
    if (result.empty()) {
      fail(Diag::IrExpected, range, "a name");
    }
  } else if (token_.kind == IrTokenKind::Word) {
    result = token_.text;
    advance();
  } else {
    fail("a name");
  }
  return result;
}

std::string IrParser::identifier() {
  const bool is_identifier =
      token_.kind == IrTokenKind::Word && token_.text.find_first_of(".<") == std::string_view::npos;
  if (!is_identifier) {
    fail("an identifier");
    return {};
  }
  return name();
}

std::string IrParser::string() {
  if (token_.kind != IrTokenKind::String) {
    fail("a string in '\"', on one line");
    return {};
  }
  const std::optional<std::string> value = ir_string_value(token_.text);
  if (!value) {
    fail("no NUL and no escapes but \\\" \\\\ \\n \\t and \\x01 to \\xff");
    return {};
  }
  advance();
  return *value;
}

ScalarType IrParser::type() {
  const auto type = cgrt::format::parse_scalar_type(token_.text);
  if (token_.kind != IrTokenKind::Word || !type) {
    fail("a type such as f32");
    return ScalarType::I32;
  }
  advance();
  return *type;
}

} // namespace cgc
