#include "diag/diagnostics.h"

#include <llvm/Support/ConvertUTF.h>
#include <llvm/Support/Unicode.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace cgc {

namespace {

constexpr auto table = std::to_array<DiagInfo>({
#define CGC_DIAGNOSTIC(id, severity, slug, text) {#id, Severity::severity, slug, text},
#include "diag/diagnostics.def"
});

/// A source line made fit for a terminal: tabs as blanks, no control characters, cut around the
/// caret when it is very long.
struct Excerpt {
  std::string text;
  std::size_t caret = 0; ///< columns before the caret
  std::size_t width = 1; ///< columns of the marked range, at least 1
};

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Appends the code point at the front of `rest`; returns its length in bytes and in columns.
std::pair<std::size_t, std::size_t> append_code_point(std::string &out, std::string_view rest,
                                                      std::size_t column) {
  if (rest.front() == '\t') {
    const std::size_t columns = 8 - column % 8;
    out.append(columns, ' ');
    return {1, columns};
  }
  const std::size_t bytes = std::min<std::size_t>(
      llvm::getNumBytesForUTF8(static_cast<llvm::UTF8>(rest.front())), rest.size());
  const int columns = llvm::sys::unicode::columnWidthUTF8({rest.data(), bytes});
  if (columns < 0) {
    out.push_back('?');
    return {bytes, 1};
  }
  out.append(rest, 0, bytes);
  return {bytes, static_cast<std::size_t>(columns)};
}

/// `begin` and `end` are byte offsets in `line`; `end` may lie beyond it.
Excerpt excerpt(std::string_view line, std::size_t begin, std::size_t end) {
  constexpr std::size_t longest = 160;
  constexpr std::string_view cut = "...";
  std::size_t first = 0;
  std::size_t last = line.size();
  if (line.size() > longest) {
    first = begin > longest / 2 ? begin - longest / 2 : 0;
    last = std::min(line.size(), first + longest);
    while (first < begin && is_continuation(line[first])) {
      ++first;
    }
    while (last < line.size() && is_continuation(line[last])) {
      ++last;
    }
  }

  Excerpt result;
  std::size_t column = 0;
  if (first > 0) {
    result.text = cut;
    column = cut.size();
  }
  std::size_t range_end = 0;
  std::size_t at = first;
  for (; at < last;) {
    if (at <= begin) {
      result.caret = column;
    }
    const auto [bytes, columns] = append_code_point(result.text, line.substr(at), column);
    at += bytes;
    column += columns;
    if (at <= end) {
      range_end = column;
    }
  }
  if (at <= begin) {
    result.caret = column;
  }
  result.width = range_end > result.caret ? range_end - result.caret : 1;
  if (last < line.size()) {
    result.text += cut;
  }
  return result;
}

class Printer {
public:
  Printer(llvm::raw_ostream &out, const SourceFiles &files, bool colors)
      : out_(out), files_(files), colors_(colors) {}

  void print(const Diagnostic &diagnostic) {
    const DiagInfo &entry = info(diagnostic.id);
    message(diagnostic.severity, diagnostic.range, diagnostic.message, entry.slug);
    for (const Note &note : diagnostic.notes) {
      message(Severity::Note, note.range, note.message, {});
    }
  }

private:
  using Colors = llvm::raw_ostream::Colors;

  void message(Severity severity, const SourceRange &range, std::string_view text,
               std::string_view slug) {
    color(llvm::raw_ostream::SAVEDCOLOR, true);
    if (range.valid()) {
      const Place place = files_.place(range);
      out_ << files_[range.file].name() << ':' << place.line << ':' << place.column << ": ";
    }
    switch (severity) {
    case Severity::Error:
      color(llvm::raw_ostream::RED, true);
      out_ << "error: ";
      break;
    case Severity::Warning:
      color(llvm::raw_ostream::MAGENTA, true);
      out_ << "warning: ";
      break;
    case Severity::Note:
      color(llvm::raw_ostream::CYAN, true);
      out_ << "note: ";
      break;
    }
    reset();
    out_ << llvm::StringRef(text.data(), text.size());
    if (!slug.empty()) {
      out_ << " [" << llvm::StringRef(slug.data(), slug.size()) << ']';
    }
    out_ << '\n';
    if (range.valid()) {
      source_line(range);
    }
  }

  void source_line(const SourceRange &range) {
    const SourceFile &file = files_[range.file];
    const auto [begin, end] = file.line_bounds(file.line_of(range.begin));
    const Excerpt shown = excerpt(file.text().substr(begin, end - begin), range.begin - begin,
                                  std::max(range.begin, range.end) - begin);
    out_ << shown.text << '\n' << std::string(shown.caret, ' ');
    color(llvm::raw_ostream::GREEN, true);
    out_ << '^' << std::string(shown.width - 1, '~');
    reset();
    out_ << '\n';
  }

  void color(Colors which, bool bold) {
    if (colors_) {
      out_.changeColor(which, bold);
    }
  }
  void reset() {
    if (colors_) {
      out_.resetColor();
    }
  }

  llvm::raw_ostream &out_;
  const SourceFiles &files_;
  bool colors_;
};

} // namespace

const DiagInfo &info(Diag id) {
  return table[static_cast<std::size_t>(id)];
}

std::size_t diagnostic_count() {
  return table.size();
}

Diagnostic &Diagnostics::add(Diag id, SourceRange range, std::string message) {
  Diagnostic diagnostic{id, range, std::move(message), {}, info(id).severity};
  if (diagnostic.severity == Severity::Error) {
    ++reported_errors_;
    // A statement may race with several others.
    if (id != Diag::Race && range.valid() &&
        !error_places_.emplace(range.file.index, range.begin).second) {
      dropped_ = std::move(diagnostic);
      return dropped_;
    }
    ++errors_;
  }
  return diagnostics_.emplace_back(std::move(diagnostic));
}

void Diagnostics::promote_warnings() {
  for (Diagnostic &diagnostic : diagnostics_) {
    if (diagnostic.severity == Severity::Warning) {
      diagnostic.severity = Severity::Error;
      ++errors_;
    }
  }
}

void Diagnostics::print(llvm::raw_ostream &out, const SourceFiles &files, bool colors) const {
  std::vector<const Diagnostic *> ordered;
  ordered.reserve(diagnostics_.size());
  for (const Diagnostic &diagnostic : diagnostics_) {
    ordered.push_back(&diagnostic);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const Diagnostic *a, const Diagnostic *b) {
    return std::tie(a->range.file, a->range.begin) < std::tie(b->range.file, b->range.begin);
  });

  const bool colors_before = out.colors_enabled();
  out.enable_colors(colors);
  Printer printer(out, files, colors);
  std::size_t errors = 0;
  for (const Diagnostic *diagnostic : ordered) {
    if (diagnostic->severity == Severity::Error && ++errors > max_errors) {
      continue;
    }
    printer.print(*diagnostic);
  }
  if (errors > max_errors) {
    out << "too many errors: " << errors - max_errors << " more not shown\n";
  }
  out.enable_colors(colors_before);
}

} // namespace cgc
