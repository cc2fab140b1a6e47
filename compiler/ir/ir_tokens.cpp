#include "ir/ir_tokens.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/ConvertUTF.h>

#include <algorithm>

namespace cgc {

namespace {

bool is_word_start(char c) {
  return llvm::isAlpha(c) || c == '_';
}

bool is_word_char(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.';
}

/// Bytes of the word that `text` begins with. It may have type arguments, `<f32, f64>`, anywhere
/// behind its first character.
std::size_t word_length(std::string_view text) {
  if (text.empty() || !is_word_start(text.front())) {
    return 0;
  }
  std::size_t at = 1;
  while (at < text.size()) {
    if (is_word_char(text[at])) {
      ++at;
      continue;
    }
    const auto *const end =
        std::find_if_not(text.begin() + at + (text[at] == '<' ? 1 : 0), text.end(),
                         [](char c) { return is_word_char(c) || c == ',' || c == ' '; });
    if (text[at] != '<' || end == text.end() || *end != '>') {
      break;
    }
    at = static_cast<std::size_t>(end - text.begin()) + 1;
  }
  return at;
}

bool is_utf8(std::string_view text) {
  const auto *at = reinterpret_cast<const llvm::UTF8 *>(text.data());
  return llvm::isLegalUTF8String(&at, at + text.size()) != 0;
}

std::string hex_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', 'x', llvm::hexdigit(byte >> 4, true), llvm::hexdigit(byte & 15U, true)};
}

} // namespace

IrToken IrLexer::token(IrTokenKind kind, std::size_t begin, std::size_t dropped) const {
  return {kind,
          text_.substr(begin + dropped, at_ - begin - dropped),
          {file_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)}};
}

/// Whether a line ended.
bool IrLexer::skip_blanks() {
  bool line_ended = false;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ';') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\n' || c == ' ' || c == '\t') {
      line_ended = line_ended || c == '\n';
      ++at_;
    } else {
      break;
    }
  }
  return line_ended;
}

/// Stops behind the closing quote, or before the end of a line that has none.
bool IrLexer::take_string() {
  ++at_;
  while (at_ < text_.size() && text_[at_] != '\n') {
    const char c = text_[at_++];
    if (c == '"') {
      return true;
    }
    if (c == '\\' && at_ < text_.size() && text_[at_] != '\n') {
      ++at_;
    }
  }
  return false;
}

IrToken IrLexer::next() {
  const std::size_t line_end = at_;
  if (skip_blanks() && line_end != 0) {
    return {IrTokenKind::EndOfLine,
            "",
            {file_, static_cast<std::uint32_t>(line_end), static_cast<std::uint32_t>(line_end)}};
  }
  const std::size_t begin = at_;
  if (at_ == text_.size()) {
    return token(IrTokenKind::End, begin);
  }
  const char c = text_[at_];
  if (const std::size_t length = word_length(text_.substr(at_)); length != 0) {
    at_ += length;
    return token(IrTokenKind::Word, begin);
  }
  if (c == '"') {
    const bool closed = take_string();
    return token(closed ? IrTokenKind::String : IrTokenKind::Stray, begin);
  }
  ++at_;
  const auto take_while = [&](auto &&belongs) {
    while (at_ < text_.size() && belongs(text_[at_])) {
      ++at_;
    }
  };
  if (llvm::isDigit(c) || c == '-') {
    take_while([&](char d) {
      const char before = text_[at_ - 1];
      return is_word_char(d) || ((d == '+' || d == '-') && (before == 'e' || before == 'E'));
    });
    return token(IrTokenKind::Number, begin);
  }
  if (c == '%' || c == '#' || c == '?' || c == '!' || c == '^') {
    take_while(llvm::isDigit);
    return token(c == '%'   ? IrTokenKind::Expression
                 : c == '#' ? IrTokenKind::Node
                 : c == '?' ? IrTokenKind::Condition
                 : c == '!' ? IrTokenKind::Launch
                            : IrTokenKind::Updatable,
                 begin, 1);
  }
  if ((c == '=' || c == '<') && text_.substr(at_, 1) == "=") {
    ++at_;
    return token(IrTokenKind::Symbol, begin);
  }
  const bool known = std::string_view("=:,()[]{}@+").find(c) != std::string_view::npos;
  return token(known ? IrTokenKind::Symbol : IrTokenKind::Stray, begin);
}

std::string ir_name(std::string_view name) {
  const bool is_word = !name.empty() && word_length(name) == name.size();
  return is_word ? std::string(name) : ir_string(name);
}

std::string ir_string(std::string_view text) {
  const bool utf8 = is_utf8(text);
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F || (c < 0 && !utf8)) {
      result += hex_escape(c);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::optional<std::string> ir_string_value(std::string_view literal) {
  const std::string_view text = literal.substr(1, literal.size() - 2);
  std::string value;
  value.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\0') {
      return std::nullopt;
    }
    if (text[at] != '\\') {
      value += text[at];
      continue;
    }
    const std::string_view escape = text.substr(++at, 3);
    if (escape.starts_with('"') || escape.starts_with('\\')) {
      value += escape[0];
    } else if (escape.starts_with('n')) {
      value += '\n';
    } else if (escape.starts_with('t')) {
      value += '\t';
    } else if (std::uint8_t byte = 0;
               escape.size() == 3 && escape[0] == 'x' &&
               !llvm::StringRef(escape.data() + 1, 2).getAsInteger(16, byte) && byte != 0) {
      value += static_cast<char>(byte);
      at += 2;
    } else {
      return std::nullopt;
    }
  }
  return value;
}

} // namespace cgc
