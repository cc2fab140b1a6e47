#include "kernels/cpp_tokens.h"

#include <algorithm>
#include <cctype>

namespace cgc {

namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<CppToken> run() {
    std::vector<CppToken> tokens;
    bool line_start = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        line_start = line_start || c == '\n';
        ++at_;
      } else if (starts_with("//")) {
        skip_line();
      } else if (starts_with("/*")) {
        skip_past("*/", 2);
      } else {
        CppToken token{at_, at_, false, line_start && c == '#'};
        take(token);
        token.end = at_;
        tokens.push_back(token);
        line_start = false;
      }
    }
    return tokens;
  }

private:
  bool starts_with(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  /// To the end of the line, but on where a backslash joins the next one.
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_, text_.size());
  }

  void skip_past(std::string_view end, std::size_t from) {
    const std::size_t found = text_.find(end, at_ + from);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  void take(CppToken &token) {
    const char c = text_[at_];
    if (token.is_directive) {
      skip_line();
    } else if (is_digit(c)) {
      take_number();
    } else if (is_word_char(c)) {
      while (at_ < text_.size() && is_word_char(text_[at_])) {
        ++at_;
      }
      token.is_word = true;
      take_prefixed_literal(token);
    } else if (c == '"' || c == '\'') {
      take_quoted(c);
    } else {
      ++at_;
    }
  }

  /// A digit separator is no character literal.
  void take_number() {
    while (at_ < text_.size() &&
           (is_word_char(text_[at_]) || text_[at_] == '.' ||
            (text_[at_] == '\'' && at_ + 1 < text_.size() && is_word_char(text_[at_ + 1])))) {
      ++at_;
    }
  }

  /// `R"x(…)x"`, `u8"…"`: the word was a literal's prefix.
  void take_prefixed_literal(CppToken &token) {
    if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) {
      return;
    }
    const std::string_view prefix = text_.substr(token.begin, at_ - token.begin);
    token.is_word = false;
    if (prefix.back() != 'R' || text_[at_] != '"') {
      take_quoted(text_[at_]);
      return;
    }
    const std::size_t open = std::min(text_.find('(', at_), text_.size());
    const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    skip_past(end, 1);
  }

  void take_quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The name behind `# define`, or nothing.
std::string_view macro_defined_by(std::string_view directive) {
  const auto next_word = [&directive] {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    const auto *begin = std::find_if_not(directive.begin(), directive.end(), is_blank);
    const auto *end = std::find_if_not(begin, directive.end(), is_word_char);
    const std::string_view found(begin, static_cast<std::size_t>(end - begin));
    directive.remove_prefix(static_cast<std::size_t>(end - directive.begin()));
    return found;
  };
  directive.remove_prefix(1); // the #
  return next_word() == "define" ? next_word() : std::string_view{};
}

} // namespace

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::vector<CppToken> cpp_tokens(std::string_view text) {
  return Lexer(text).run();
}

std::vector<std::string> defined_macros(std::string_view text) {
  std::vector<std::string> names;
  for (const CppToken &token : cpp_tokens(text)) {
    const std::string_view name = token.is_directive ? macro_defined_by(text_of(token, text)) : "";
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
      names.emplace_back(name);
    }
  }
  return names;
}

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  for (std::size_t at = text.find(word, from); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_char(text[at - 1])) &&
        (end == text.size() || !is_word_char(text[end]))) {
      return at;
    }
  }
  return std::string_view::npos;
}

} // namespace cgc
