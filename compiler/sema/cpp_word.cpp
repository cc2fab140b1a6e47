#include "sema/cpp_word.h"

#include <algorithm>
#include <array>

namespace cgc {

bool is_cpp_word(std::string_view name) {
  static constexpr auto words = std::to_array<std::string_view>({
      "EOF",       "NULL",          "alignas",      "alignof",      "and",
      "and_eq",    "asm",           "auto",         "bitand",       "bitor",
      "blockDim",  "blockIdx",      "bool",         "break",        "case",
      "catch",     "char",          "char16_t",     "char32_t",     "char8_t",
      "class",     "co_await",      "co_return",    "co_yield",     "compl",
      "concept",   "const",         "const_cast",   "consteval",    "constexpr",
      "constinit", "continue",      "decltype",     "default",      "delete",
      "do",        "double",        "dynamic_cast", "else",         "enum",
      "errno",     "explicit",      "export",       "extern",       "false",
      "float",     "for",           "friend",       "goto",         "gridDim",
      "if",        "inline",        "int",          "linux",        "long",
      "mutable",   "namespace",     "new",          "noexcept",     "not",
      "not_eq",    "nullptr",       "operator",     "or",           "or_eq",
      "private",   "protected",     "public",       "register",     "reinterpret_cast",
      "requires",  "return",        "short",        "signed",       "sizeof",
      "static",    "static_assert", "static_cast",  "struct",       "switch",
      "template",  "this",          "threadIdx",    "thread_local", "throw",
      "true",      "try",           "typedef",      "typeid",       "typename",
      "union",     "unix",          "unsigned",     "using",        "virtual",
      "void",      "volatile",      "warpSize",     "wchar_t",      "while",
      "xor",       "xor_eq",
  });
  static_assert(std::ranges::is_sorted(words));
  return std::ranges::binary_search(words, name);
}

} // namespace cgc
