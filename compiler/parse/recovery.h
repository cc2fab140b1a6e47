// How the parser goes on after a syntax error: one mistake is one error, and what stands behind it
// is read.
#pragma once

#include "CGraphParser.h"

namespace cgc {

/// Whether the word can only begin a declaration of a file, so that a block before it has no end.
bool ends_every_block(std::size_t token);

/// Whether the line in front of the token is what lacks something; `expected` may stand there.
bool is_behind_unfinished_line(antlr4::Parser &parser, const antlr4::Token &token,
                               const antlr4::misc::IntervalSet &expected);

/// What may stand at the offending token of an error.
antlr4::misc::IntervalSet expected_tokens(antlr4::Parser &parser, const std::exception_ptr &error);

/// Nothing is guessed inside a statement or declaration: an error leaves it, and reading goes on at
/// the next one.
class Recovery : public antlr4::DefaultErrorStrategy {
public:
  void recover(antlr4::Parser *parser, std::exception_ptr error) override;
  antlr4::Token *recoverInline(antlr4::Parser *parser) override;
  void sync(antlr4::Parser *parser) override;
  void reportError(antlr4::Parser *parser, const antlr4::RecognitionException &error) override;

private:
  void sync_block(antlr4::Parser &parser);
  void sync_file(antlr4::Parser &parser);
  static void skip_head(antlr4::Parser &parser);
  static void skip_statement(antlr4::Parser &parser);
  static void skip_declaration(antlr4::Parser &parser);

  bool had_error_ = false; ///< in the declaration that is being read
  bool lost_ = false;      ///< what stands at file scope may belong into a block
};

} // namespace cgc
