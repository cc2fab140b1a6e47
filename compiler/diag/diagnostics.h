// Diagnostics as data. Phases report; only print() writes them.
#pragma once

#include "diag/source.h"

#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cgc {

enum class Severity : std::uint8_t { Error, Warning, Note };

/// One for each entry of diagnostics.def.
enum class Diag : std::uint16_t {
#define CGC_DIAGNOSTIC(id, severity, slug, text) id,
#include "diag/diagnostics.def"
};

struct DiagInfo {
  std::string_view id;
  Severity severity;
  std::string_view slug;
  std::string_view text;
};
const DiagInfo &info(Diag id);
std::size_t diagnostic_count();

struct Note {
  SourceRange range;
  std::string message;
};

struct Diagnostic {
  Diag id;
  SourceRange range;
  std::string message;
  std::vector<Note> notes;
  Severity severity = Severity::Error;
};

/// Collects what the phases report.
class Diagnostics {
public:
  /// `{0}`, `{1}` … in the table's text stand for the arguments. Returns the diagnostic, for notes,
  /// valid until the next report. A second error at the same place is dropped: it would only be a
  /// consequence.
  template <typename... Args> Diagnostic &report(Diag id, SourceRange range, const Args &...args) {
    return add(id, range, llvm::formatv(info(id).text.data(), text_of(args)...).str());
  }

  /// Adds a note to each diagnostic from the `first` on: where the code at fault was called from.
  void add_note_from(std::size_t first, const Note &note) {
    for (std::size_t i = first; i < diagnostics_.size(); ++i) {
      diagnostics_[i].notes.push_back(note);
    }
  }

  /// Makes errors of all warnings so far.
  void promote_warnings();

  std::size_t error_count() const { return errors_; }
  /// Errors, those included that were dropped: it grows with each that is reported.
  std::size_t reported_errors() const { return reported_errors_; }
  bool has_errors() const { return errors_ != 0; }
  const std::vector<Diagnostic> &all() const { return diagnostics_; }

  /// Prints everything in source order, at most `max_errors` errors, then how many were left out.
  void print(llvm::raw_ostream &out, const SourceFiles &files, bool colors) const;

  static constexpr std::size_t max_errors = 50;

private:
  template <typename Arg> static std::string text_of(const Arg &arg) {
    if constexpr (std::is_integral_v<Arg>) {
      return std::to_string(arg);
    } else {
      return std::string(arg);
    }
  }

  Diagnostic &add(Diag id, SourceRange range, std::string message);

  std::vector<Diagnostic> diagnostics_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> error_places_; ///< file and offset
  Diagnostic dropped_{};
  std::size_t errors_ = 0;
  std::size_t reported_errors_ = 0;
};

} // namespace cgc
