#include "parse/token_source.h"

#include "CGraphParser.h"

namespace cgc {

TokenSource::TokenSource(antlr4::CharStream *input, const SourceFiles &files, FileId file,
                         Diagnostics &diagnostics)
    : CGraphLexer(input), source_(files[file]), file_(file), diagnostics_(diagnostics) {
  removeErrorListeners(); // STRAY takes every character, so the lexer has no errors of its own
}

SourceRange TokenSource::range(const antlr4::Token &lexed) const {
  return {file_, static_cast<std::uint32_t>(lexed.getStartIndex()),
          static_cast<std::uint32_t>(lexed.getStopIndex() + 1)};
}

std::unique_ptr<antlr4::Token> TokenSource::nextToken() {
  while (!stopped_) {
    if (diagnostics_.error_count() > enough_errors) {
      stopped_ = true; // recovering from each costs time, and nobody reads them
      break;
    }
    auto next = CGraphLexer::nextToken();
    if (next->getType() == antlr4::Token::EOF) {
      return next;
    }
    if (report_unusable(*next)) {
      dropped_.insert(next->getStartIndex());
      continue;
    }
    const bool opens_body = body_follows_ && source_.text()[next->getStartIndex()] == '{';
    body_follows_ = next->getType() == CUDA || next->getType() == HOST;
    if (opens_body) {
      return raw_body(std::move(next));
    }
    if (track_nesting(*next)) {
      return next;
    }
  }
  return end_of_file();
}

bool TokenSource::dropped_between(const antlr4::Token *before, const antlr4::Token &after) const {
  const auto first = dropped_.lower_bound(before == nullptr ? 0 : before->getStopIndex());
  return first != dropped_.end() && *first < after.getStartIndex();
}

std::unique_ptr<antlr4::Token> TokenSource::end_of_file() {
  _input->seek(_input->size());
  return CGraphLexer::nextToken();
}

/// The brace's token, made to reach to the matching one.
std::unique_ptr<antlr4::Token> TokenSource::raw_body(std::unique_ptr<antlr4::Token> brace) {
  const auto end = matching_brace(source_.text(), brace->getStartIndex());
  if (!end) {
    diagnostics_.report(Diag::UnterminatedBody, range(*brace));
    stopped_ = true;
    return end_of_file();
  }
  auto &body = dynamic_cast<antlr4::CommonToken &>(*brace);
  body.setType(CGraphParser::RAW_BODY);
  body.setStopIndex(*end - 1);
  _input->seek(*end);
  return brace;
}

bool TokenSource::report_unusable(const antlr4::Token &lexed) {
  switch (lexed.getType()) {
  case STRAY: {
    const unsigned char c = static_cast<unsigned char>(source_.text()[lexed.getStartIndex()]);
    if (c < 0x80) {
      diagnostics_.report(Diag::StrayCharacter, range(lexed), std::string(1, static_cast<char>(c)));
    } else if ((c & 0xC0U) != 0x80U) { // once for a character of several bytes
      diagnostics_.report(Diag::NonAsciiCharacter, range(lexed));
    }
    return true;
  }
  case UNTERMINATED_STRING:
    diagnostics_.report(Diag::UnterminatedString, range(lexed));
    return true;
  case UNTERMINATED_COMMENT: {
    SourceRange opening = range(lexed);
    opening.end = opening.begin + 2;
    diagnostics_.report(Diag::UnterminatedComment, opening);
    return true;
  }
  default:
    return false;
  }
}

/// False: the file nests too deeply to be parsed any further.
bool TokenSource::track_nesting(const antlr4::Token &lexed) {
  if (lexed.getStartIndex() != lexed.getStopIndex()) {
    return true;
  }
  const auto close_conditionals = [this] {
    while (!open_.empty() && open_.back() == '?') {
      open_.pop_back();
    }
  };
  const char c = source_.text()[lexed.getStartIndex()];
  switch (c) {
  case '(':
  case '[':
  case '{':
  case '?': // its middle operand is bracketed by `?` and `:`
    open_ += c;
    break;
  case ')':
  case ']':
  case '}':
    close_conditionals();
    if (!open_.empty()) {
      open_.pop_back();
    }
    break;
  case ';':
    close_conditionals();
    break;
  case ':':
    if (!open_.empty() && open_.back() == '?') {
      open_.pop_back();
    }
    break;
  default:
    break;
  }
  if (open_.size() <= max_nesting) {
    return true;
  }
  diagnostics_.report(Diag::NestingTooDeep, range(lexed), max_nesting);
  stopped_ = true;
  return false;
}

} // namespace cgc
