// The words of IR text.
#pragma once

#include "diag/source.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cgc {

enum class IrTokenKind : std::uint8_t {
  End,
  EndOfLine,  ///< one for any number of empty lines and comments (`;` to the line's end)
  Word,       ///< `copy`, and names: `x`, `main.t.2`, `blas1.axpy<f32, f64>`
  String,     ///< `"…"`
  Number,     ///< `12`, `-1.5e-07`, `0x7ff8000000000000`
  Expression, ///< `%12`
  Node,       ///< `#12`
  Condition,  ///< `?12`
  Launch,     ///< `!12`
  Updatable,  ///< `^12`
  Symbol,     ///< `= == <= : , ( ) [ ] { } @ +`
  Stray,      ///< anything else, and a string without end
};

struct IrToken {
  IrTokenKind kind = IrTokenKind::End;
  std::string_view text; ///< without `%`, `#`, `?`, `!` and `^`; a string with its quotes
  SourceRange range;

  bool is(IrTokenKind wanted, std::string_view wanted_text) const {
    return kind == wanted && text == wanted_text;
  }
};

/// Takes tokens off a file one by one. Copies go on by themselves, which looks ahead.
class IrLexer {
public:
  IrLexer(std::string_view text, FileId file) : text_(text), file_(file) {}

  IrToken next();

private:
  IrToken token(IrTokenKind kind, std::size_t begin, std::size_t dropped = 0) const;
  bool skip_blanks();
  bool take_string();

  std::string_view text_;
  FileId file_;
  std::size_t at_ = 0;
};

/// A name as it stands in IR text: in quotes if it is no word.
std::string ir_name(std::string_view name);

/// Any text in quotes: `"`, `\`, control characters and what is not UTF-8 as escapes.
std::string ir_string(std::string_view text);

/// What a literal with its quotes means; nothing if it has an escape that there is not, or a NUL,
/// which has none.
std::optional<std::string> ir_string_value(std::string_view literal);

} // namespace cgc
