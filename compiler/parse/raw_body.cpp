#include "parse/token_source.h"

#include <cctype>

namespace cgc {

namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Walks over C++ text from one interesting place to the next.
class BodyScanner {
public:
  BodyScanner(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::optional<std::size_t> closing_brace() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '{') {
        ++depth;
      } else if (c == '}' && --depth == 0) {
        return at_ + 1;
      }
      skip_one();
    }
    return std::nullopt;
  }

private:
  bool starts_with(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  /// Moves behind the character, or the literal, comment or word that starts here.
  void skip_one() {
    const char c = text_[at_];
    if (starts_with("//")) {
      skip_line_comment();
    } else if (starts_with("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else if (c == '"' || c == '\'') {
      skip_quoted(c);
    } else if (is_word(c)) {
      skip_word();
    } else {
      ++at_;
    }
  }

  void skip_line_comment() {
    // A backslash before the line's end continues the comment.
    do {
      at_ = std::min(text_.find('\n', at_ + 1), text_.size());
    } while (at_ < text_.size() && text_[at_ - 1] == '\\');
  }

  void skip_quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  /// An identifier, a number with its digit separators, or the prefix of a raw string.
  void skip_word() {
    const std::size_t begin = at_;
    const bool number = std::isdigit(static_cast<unsigned char>(text_[begin])) != 0;
    while (at_ < text_.size() &&
           (is_word(text_[at_]) ||
            (number && text_[at_] == '\'' && at_ + 1 < text_.size() && is_word(text_[at_ + 1])))) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    const bool raw = word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
    if (raw && at_ < text_.size() && text_[at_] == '"') {
      skip_raw_string();
    }
  }

  void skip_raw_string() {
    const std::size_t parenthesis = text_.find('(', at_);
    if (parenthesis == std::string_view::npos) {
      at_ = text_.size();
      return;
    }
    const std::string end = ")" + std::string(text_.substr(at_ + 1, parenthesis - at_ - 1)) + "\"";
    const std::size_t found = text_.find(end, parenthesis);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  std::string_view text_;
  std::size_t at_;
};

} // namespace

std::optional<std::size_t> matching_brace(std::string_view text, std::size_t open) {
  return BodyScanner(text, open).closing_brace();
}

} // namespace cgc
