#include "parse/string_literal.h"

namespace cgc {

std::string string_value(std::string_view text, const SourceRange &range,
                         Diagnostics &diagnostics) {
  std::string value;
  for (std::size_t at = 1; at + 1 < text.size(); ++at) {
    if (text[at] != '\\') {
      value += text[at];
      continue;
    }
    ++at;
    switch (text[at]) {
    case '"':
    case '\\':
      value += text[at];
      break;
    case 'n':
      value += '\n';
      break;
    case 't':
      value += '\t';
      break;
    default: {
      const auto begin = range.begin + static_cast<std::uint32_t>(at) - 1;
      diagnostics.report(Diag::BadEscape, {range.file, begin, begin + 2});
    }
    }
  }
  return value;
}

} // namespace cgc
