// The tokens of C++ text, as far as cgc looks into kernels.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cgc {

/// Bytes [begin, end) of a text. Comments are no tokens; numbers and literals are one each,
/// everything else that is no word is one token a character.
struct CppToken {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_word = false;      ///< identifier or keyword
  bool is_directive = false; ///< a preprocessor line, joined lines included
};

std::vector<CppToken> cpp_tokens(std::string_view text);

inline std::string_view text_of(const CppToken &token, std::string_view text) {
  return text.substr(token.begin, token.end - token.begin);
}

/// Letters, digits and `_`.
bool is_word_char(char c);

/// The macros that a text defines, each once, in order of their first definition.
std::vector<std::string> defined_macros(std::string_view text);

/// Where `word` stands as a whole word at `from` or later, in a comment or literal too; else npos.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0);

} // namespace cgc
