// Takes IR text apart, token by token: what every line of it is made of.
#pragma once

#include "diag/diagnostics.h"
#include "ir/ir_tokens.h"

#include "format/scalar_type.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cgc {

/// After the first error, which is the only one reported, every token is the end of the text and
/// every product is an empty one.
class IrParser {
public:
  IrParser(std::string_view text, FileId file, Diagnostics &diagnostics)
      : lexer_(text, file), diagnostics_(diagnostics), token_(lexer_.next()) {}

  bool failed() const { return failed_; }
  bool at_end() const { return token_.kind == IrTokenKind::End; }
  const IrToken &token() const { return token_; }

  bool at_word(std::string_view word) const { return token_.is(IrTokenKind::Word, word); }
  bool at_symbol(std::string_view symbol) const { return token_.is(IrTokenKind::Symbol, symbol); }
  bool accept_word(std::string_view word) { return at_word(word) && advance(); }
  bool accept_symbol(std::string_view symbol) { return at_symbol(symbol) && advance(); }
  /// A word that stands before a name, and is not the name itself, which a `:` follows.
  bool accept_attribute(std::string_view word);

  void expect_word(std::string_view word);
  void expect_symbol(std::string_view symbol);
  void expect_line_end();

  std::string name();       ///< a word or a string, not empty
  std::string identifier(); ///< a word that C++ takes
  std::string string();
  cgrt::ScalarType type();

  /// What follows `%` or `#`, or a number that stands for itself.
  std::uint32_t index(IrTokenKind kind, std::string_view what) {
    return number<std::uint32_t>(kind, what);
  }

  template <typename Number> Number number(IrTokenKind kind, std::string_view what) {
    Number value{};
    const char *const end = token_.text.data() + token_.text.size();
    if (token_.kind == kind) {
      const auto parsed = std::from_chars(token_.text.data(), end, value);
      if (parsed.ec == std::errc() && parsed.ptr == end) {
        advance();
        return value;
      }
    }
    fail(what);
    return {};
  }

  /// "expected {what}", at the token.
  void fail(std::string_view what) { fail(Diag::IrExpected, token_.range, what); }

  template <typename Arg> void fail(Diag id, const SourceRange &range, const Arg &arg) {
    if (!failed_) {
      diagnostics_.report(id, range, arg);
    }
    failed_ = true;
    token_ = IrToken{IrTokenKind::End, {}, token_.range};
  }

  /// Goes on to the next token; always true.
  bool advance() {
    if (!failed_) {
      token_ = lexer_.next();
    }
    return true;
  }

private:
  IrLexer lexer_;
  Diagnostics &diagnostics_;
  IrToken token_;
  bool failed_ = false;
};

} // namespace cgc
