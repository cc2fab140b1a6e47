#include "kernels/compiler_log.h"

#include "kernels/cpp_tokens.h"
#include "kernels/kernel_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace cgc {

using cgrt::format::Kernel;
using cgrt::format::KernelId;

namespace {

/// At most this many notes go with one error; overload lists can hold dozens.
constexpr std::size_t max_notes = 4;

enum class Kind : std::uint8_t { Error, Warning, Note };

/// One message of a log: its first line taken apart.
struct Message {
  Kind kind = Kind::Error;
  std::string_view file;    ///< empty: no place
  std::uint32_t line = 0;   ///< 0: none
  std::uint32_t column = 0; ///< in bytes, 0: none
  std::string text;
};

/// A place in one of the program's files.
struct Location {
  FileId file;
  std::optional<KernelId> instance; ///< of a generic kernel whose code it is
};

/// An error to report.
struct Finding {
  bool placed = false;
  std::vector<KernelId> instances; ///< of generic kernels whose code it is
  SourceRange range;
  std::string origin; ///< "file:line: " where that is none of the program's
  std::string text;
  std::vector<Note> notes;
};

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Takes ":12" off the end of `head`.
std::optional<std::uint32_t> take_number(std::string_view &head) {
  const std::size_t colon = head.rfind(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<std::uint32_t> number = parse_number(head.substr(colon + 1));
  if (number) {
    head = head.substr(0, colon);
  }
  return number;
}

/// "file(line)" or "file:line" or "file:line:column"; anything else is no place.
void parse_place(std::string_view head, Message &message) {
  if (!head.empty() && head.back() == ')') {
    const std::size_t open = head.rfind('(');
    if (open != std::string_view::npos) {
      const auto line = parse_number(head.substr(open + 1, head.size() - open - 2));
      if (line) {
        message.file = head.substr(0, open);
        message.line = *line;
        return;
      }
    }
  }
  const std::optional<std::uint32_t> last = take_number(head);
  if (!last) {
    return;
  }
  const std::optional<std::uint32_t> before = take_number(head);
  message.file = head;
  message.line = before.value_or(*last);
  message.column = before ? *last : 0;
}

struct Word {
  std::string_view text;
  Kind kind;
};

constexpr auto words = std::to_array<Word>({
    {"error", Kind::Error},
    {"fatal error", Kind::Error},
    {"catastrophic error", Kind::Error},
    {"internal error", Kind::Error},
    {"internal compiler error", Kind::Error},
    {"warning", Kind::Warning},
    {"note", Kind::Note},
    {"Note", Kind::Note},
});

/// "word: text" or "word #177-D: text".
std::optional<Message> parse_after_place(std::string_view rest) {
  for (const Word &word : words) {
    if (rest.substr(0, word.text.size()) != word.text) {
      continue;
    }
    std::string_view after = rest.substr(word.text.size());
    if (after.substr(0, 2) == " #") {
      after.remove_prefix(std::min(after.find(':'), after.size()));
    }
    if (after.substr(0, 1) == ":") {
      return Message{word.kind, {}, 0, 0, std::string(trim(after.substr(1)))};
    }
  }
  return std::nullopt;
}

/// "ptxas error   : text", "ptxas application ptx input, line 3; fatal   : text".
std::optional<Message> parse_ptxas(std::string_view line) {
  if (line.substr(0, 6) != "ptxas ") {
    return std::nullopt;
  }
  for (const std::string_view word : {"error", "fatal"}) {
    const std::size_t at = line.find(word);
    const std::size_t colon = line.find(':', at);
    if (colon != std::string_view::npos) {
      return Message{Kind::Error, {}, 0, 0, "ptxas: " + std::string(trim(line.substr(colon + 1)))};
    }
  }
  return std::nullopt;
}

/// A message's first line, or nothing for any other line of a log.
std::optional<Message> parse_message(std::string_view line) {
  if (line.empty() || line.front() == ' ' || line.front() == '\t') {
    return std::nullopt;
  }
  if (auto ptxas = parse_ptxas(line)) {
    return ptxas;
  }
  if (auto bare = parse_after_place(line)) {
    return bare;
  }
  for (std::size_t at = line.find(": "); at != std::string_view::npos;
       at = line.find(": ", at + 1)) {
    std::optional<Message> message = parse_after_place(line.substr(at + 2));
    if (!message) {
      continue;
    }
    const std::string_view head = line.substr(0, at);
    parse_place(head, *message);
    if (message->line == 0 && head.find('"') != std::string_view::npos) {
      return std::nullopt; // a source line with such a text in a string
    }
    return message;
  }
  return std::nullopt;
}

class LogReader {
public:
  LogReader(std::string_view log, const CodeUnit &unit) : lines_(split_lines(log)), unit_(unit) {}

  /// The log's errors, those at one place joined.
  std::vector<Finding> findings() {
    Finding *current = nullptr; ///< that notes belong to
    for (at_ = 0; at_ < lines_.size();) {
      const std::optional<Message> message = parse_message(lines_[at_++]);
      if (!message) {
        continue;
      }
      if (message->kind == Kind::Error) {
        current = &add(finding(*message));
      } else if (message->kind == Kind::Warning) {
        current = nullptr;
      } else if (current != nullptr) {
        add_note(*current, finding(*message));
      }
    }
    return std::move(findings_);
  }

private:
  /// An error inside a macro of ours belongs to where it is used.
  static void add_note(Finding &error, Finding note) {
    if (!error.placed && note.placed && note.text.rfind("in expansion of macro", 0) == 0) {
      error.placed = true;
      error.range = note.range;
      error.instances = std::move(note.instances);
      error.origin.clear();
    } else {
      error.notes.push_back({note.range, note.origin + note.text});
    }
  }

  Finding finding(const Message &message) {
    Finding result;
    result.text = message.text;
    std::uint32_t column = message.column;
    std::string_view shown_line;
    if (column == 0) {
      read_details(result.text, column, shown_line);
    }
    if (const std::optional<Location> location = find_file(message.file)) {
      result.placed = true;
      if (location->instance) {
        result.instances.push_back(*location->instance);
      }
      place(result, *location, message.line, column, shown_line);
    } else if (const std::optional<KernelId> kernel = find_kernel(message)) {
      place_at(result, *kernel);
    } else if (message.line != 0) {
      result.origin = std::string(message.file) + ":" + std::to_string(message.line) + ": ";
    }
    return result;
  }

  /// At the kernel's name.
  void place_at(Finding &result, KernelId kernel) const {
    result.placed = true;
    result.range = unit_.source(kernel).name;
    if (unit_.kind == CodeUnit::Kind::Source) {
      const Kernel &declared = unit_.program[kernel];
      result.notes.push_back({SourceRange{}, "it is declared as void " +
                                                 function_address(unit_, kernel).substr(1) + "(" +
                                                 parameter_list(declared) + ")"});
    }
  }

  /// What NVRTC prints below a message: more text, the source line, and a caret.
  void read_details(std::string &text, std::uint32_t &column, std::string_view &shown_line) {
    std::size_t end = at_;
    while (end < lines_.size() && !lines_[end].empty() && !parse_message(lines_[end])) {
      if (trim(lines_[end]) == "^" && end > at_ && lines_[end].substr(0, 2) == "  ") {
        shown_line = lines_[end - 1].substr(std::min<std::size_t>(2, lines_[end - 1].size()));
        column = static_cast<std::uint32_t>(lines_[end].find('^')) - 2 + 1;
        for (; at_ + 1 < end; ++at_) {
          text.append("; ").append(trim(lines_[at_]));
        }
        at_ = end + 1;
        return;
      }
      ++end;
    }
  }

  std::optional<Location> find_file(std::string_view name) const {
    const SourceFiles &files = unit_.all.files;
    for (std::uint32_t index = 0; !name.empty() && index < files.size(); ++index) {
      const std::string &file = files[FileId{index}].name();
      if (line_name(file) == name) {
        return Location{{index}, std::nullopt};
      }
      for (const KernelId kernel : unit_.kernels) {
        if (unit_.names_instances && line_name(file, unit_.program[kernel]) == name) {
          return Location{{index}, kernel};
        }
      }
    }
    return std::nullopt;
  }

  /// The kernel that a message without a place names: ptxas gives the symbol in quotes, and NVRTC's
  /// list of wanted symbols the expression for it.
  std::optional<KernelId> find_kernel(const Message &message) const {
    for (const KernelId kernel : unit_.kernels) {
      const std::string function =
          unit_.kind == CodeUnit::Kind::Source ? function_address(unit_, kernel) : "";
      if (message.file == "__nv_name_map" && !function.empty() &&
          message.text.find(function) != std::string::npos) {
        return kernel;
      }
      if (message.text.substr(0, 6) == "ptxas:" &&
          message.text.find("'" + unit_.program[kernel].symbol + "'") != std::string::npos) {
        return kernel;
      }
    }
    return std::nullopt;
  }

  void place(Finding &result, const Location &location, std::uint32_t number, std::uint32_t column,
             std::string_view shown_line) const {
    SourceRange line = unit_.all.files.line(location.file, number);
    const std::string_view text = unit_.all.files.text(line);
    const bool exact = exact_column(text, column, shown_line);
    const std::uint32_t begin = exact ? line.begin + column - 1 : line.begin;
    const std::optional<KernelId> kernel = kernel_named_in(line, location);
    if (kernel && !(exact && in_body(*kernel, location.file, begin))) {
      place_at(result, *kernel); // what is generated around the body
    } else if (exact) {
      std::uint32_t end = begin + 1;
      while (end < line.end && is_word_char(text[begin - line.begin]) &&
             is_word_char(text[end - line.begin])) {
        ++end;
      }
      result.range = {location.file, begin, end};
    } else {
      const std::size_t blanks = std::min(text.find_first_not_of(" \t"), text.size());
      line.begin += static_cast<std::uint32_t>(blanks);
      result.range = line;
    }
  }

  bool in_body(KernelId kernel, FileId file, std::uint32_t offset) const {
    const KernelSource &source = unit_.source(kernel);
    const SourceRange &body =
        unit_.kind == CodeUnit::Kind::Host ? source.host->range : source.body.range;
    return body.file == file && offset >= body.begin;
  }

  /// Compilers count columns in bytes, characters or cells: trust one only where these agree, and,
  /// where the log shows the line, only if it is the file's.
  static bool exact_column(std::string_view text, std::uint32_t column,
                           std::string_view shown_line) {
    if (column == 0 || column > text.size()) {
      return false;
    }
    const std::string_view before = text.substr(0, column - 1);
    const bool ascii = std::none_of(before.begin(), before.end(),
                                    [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    if (shown_line.empty()) {
      return ascii && before.find('\t') == std::string_view::npos;
    }
    constexpr std::size_t compared = 4;
    return ascii && column <= shown_line.size() &&
           shown_line.substr(column - 1, compared) == text.substr(column - 1, compared);
  }

  std::optional<KernelId> kernel_named_in(const SourceRange &line, const Location &location) const {
    for (const KernelId kernel : unit_.kernels) {
      const SourceRange &name = unit_.source(kernel).name;
      const bool other_instance = location.instance && location.instance != kernel;
      if (!other_instance && name.file == line.file && name.begin >= line.begin &&
          name.begin <= line.end) {
        return kernel;
      }
    }
    return std::nullopt;
  }

  /// A further error at one place becomes a note of the first: it is often only a consequence.
  Finding &add(Finding found) {
    const auto same = std::find_if(findings_.begin(), findings_.end(), [&](const Finding &other) {
      return other.placed == found.placed && other.range.file == found.range.file &&
             other.range.begin == found.range.begin;
    });
    if (same == findings_.end()) {
      return findings_.emplace_back(std::move(found));
    }
    for (const KernelId instance : found.instances) {
      if (std::find(same->instances.begin(), same->instances.end(), instance) ==
          same->instances.end()) {
        same->instances.push_back(instance);
      }
    }
    if (same->text != found.text) {
      same->notes.push_back({SourceRange{}, found.origin + found.text});
    }
    return *same;
  }

  std::vector<std::string_view> lines_;
  std::size_t at_ = 0;
  const CodeUnit &unit_;
  std::vector<Finding> findings_;
};

/// Moves errors without a place to where the first one with a place is, else to the first kernel.
void give_places(std::vector<Finding> &findings, SourceRange fallback) {
  const auto first_placed = std::find_if(findings.begin(), findings.end(),
                                         [](const Finding &finding) { return finding.placed; });
  if (first_placed == findings.end()) {
    for (Finding &finding : findings) {
      finding.range = fallback;
    }
    return;
  }
  for (Finding &finding : findings) {
    if (!finding.placed) {
      first_placed->notes.push_back({SourceRange{}, finding.origin + finding.text});
    }
  }
  findings.erase(std::remove_if(findings.begin(), findings.end(),
                                [](const Finding &finding) { return !finding.placed; }),
                 findings.end());
}

std::string first_words(std::string_view log) {
  for (const std::string_view line : split_lines(log)) {
    if (!trim(line).empty()) {
      return std::string(trim(line));
    }
  }
  return "it failed and said nothing";
}

/// What goes with an error: its notes, the first few of them, and what is said of all errors.
std::vector<Note> notes_of(Finding finding, const CodeUnit &unit, std::string_view hint) {
  std::vector<Note> notes = std::move(finding.notes);
  const std::size_t left_out = notes.size() > max_notes ? notes.size() - max_notes : 0;
  notes.resize(notes.size() - left_out);
  if (left_out != 0) {
    notes.push_back({SourceRange{}, std::to_string(left_out) + " more notes"});
  }
  std::string instances;
  for (const KernelId instance : finding.instances) {
    instances += (instances.empty() ? "in kernel " : ", ") + unit.program[instance].name;
  }
  if (!instances.empty()) {
    notes.push_back({SourceRange{}, instances});
  }
  if (!hint.empty()) {
    notes.push_back({SourceRange{}, std::string(hint)});
  }
  return notes;
}

} // namespace

void report_compiler_log(std::string_view log, std::string_view compiler, const CodeUnit &unit,
                         Diagnostics &diagnostics, std::string_view hint) {
  const SourceRange fallback = unit.source(unit.kernels.front()).name;
  std::vector<Finding> findings = LogReader(log, unit).findings();
  give_places(findings, fallback);
  if (findings.empty()) {
    findings.emplace_back();
    findings.back().range = fallback;
    findings.back().text = first_words(log);
  }
  for (Finding &finding : findings) {
    Diagnostic &diagnostic = diagnostics.report(Diag::KernelCompileFailed, finding.range, compiler,
                                                finding.origin + finding.text);
    diagnostic.notes = notes_of(std::move(finding), unit, hint);
  }
}

} // namespace cgc
