// The token stream the parser reads: the generated lexer's, with the raw bodies cut out.
#pragma once

#include "diag/diagnostics.h"

#include "CGraphLexer.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace cgc {

/// Bracketed nesting deeper than this is an error.
inline constexpr std::size_t max_nesting = 256;

/// With more errors than these no more of a file is read.
inline constexpr std::size_t enough_errors = 4 * Diagnostics::max_errors;

/// Reads bytes as if each were a character, so that token positions are byte offsets.
class TokenSource : public CGraphLexer {
public:
  TokenSource(antlr4::CharStream *input, const SourceFiles &files, FileId file,
              Diagnostics &diagnostics);

  std::unique_ptr<antlr4::Token> nextToken() override;

  /// Whether an error made the tokens end before the file does.
  bool stopped() const { return stopped_; }
  /// Whether something there has been reported and left out; `before` is null at the begin.
  bool dropped_between(const antlr4::Token *before, const antlr4::Token &after) const;

private:
  std::unique_ptr<antlr4::Token> raw_body(std::unique_ptr<antlr4::Token> brace);
  std::unique_ptr<antlr4::Token> end_of_file();
  bool report_unusable(const antlr4::Token &lexed);
  bool track_nesting(const antlr4::Token &lexed);
  SourceRange range(const antlr4::Token &lexed) const;

  const SourceFile &source_;
  FileId file_;
  Diagnostics &diagnostics_;
  bool body_follows_ = false;
  bool stopped_ = false;
  std::set<std::size_t> dropped_; ///< offsets of what has been reported and left out
  std::string open_;              ///< the brackets that are open
};

/// Offset just behind the brace that closes the one at `open`, or nothing. Braces in strings,
/// character literals, comments and raw strings do not count.
std::optional<std::size_t> matching_brace(std::string_view text, std::size_t open);

} // namespace cgc
