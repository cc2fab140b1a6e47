#include "diag/diagnostics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using cgc::Diag;
using cgc::Diagnostics;
using cgc::FileId;
using cgc::Severity;
using cgc::SourceFiles;
using cgc::SourceRange;

/// Any error of the table: these tests are about places, not about what is said.
constexpr Diag any_error = Diag::KernelCompileFailed;

class Printed {
public:
  explicit Printed(std::string_view text) : file_(files_.add("f.cgraph", text)) {}

  Diagnostics diagnostics;

  SourceRange range(std::uint32_t begin, std::uint32_t end) const { return {file_, begin, end}; }
  SourceFiles &files() { return files_; }
  std::string text(bool colors = false) const {
    std::string out;
    llvm::raw_string_ostream stream(out);
    diagnostics.print(stream, files_, colors);
    return stream.str();
  }

private:
  SourceFiles files_;
  FileId file_;
};

TEST(Diagnostics, PrintsPlaceMessageSlugLineAndRange) {
  Printed printed("one\n  two three\n");
  printed.diagnostics.report(any_error, printed.range(10, 15), "g++", "no such thing");
  EXPECT_EQ(printed.text(), "f.cgraph:2:7: error: g++: no such thing [kernel-compile]\n"
                            "  two three\n"
                            "      ^~~~~\n");
  EXPECT_EQ(printed.diagnostics.error_count(), 1U);
}

TEST(Diagnostics, PrintsNotesWithTheirOwnPlaces) {
  Printed printed("one\ntwo\n");
  cgc::Diagnostic &diagnostic =
      printed.diagnostics.report(any_error, printed.range(4, 7), "g++", "second");
  diagnostic.notes.push_back({printed.range(0, 3), "first is here"});
  diagnostic.notes.push_back({SourceRange{}, "and this is nowhere"});
  EXPECT_EQ(printed.text(), "f.cgraph:2:1: error: g++: second [kernel-compile]\ntwo\n^~~\n"
                            "f.cgraph:1:1: note: first is here\none\n^~~\n"
                            "note: and this is nowhere\n");
}

TEST(Diagnostics, PrintsInSourceOrder) {
  Printed printed("a b c\n");
  printed.diagnostics.report(any_error, printed.range(4, 5), "x", "third");
  printed.diagnostics.report(any_error, SourceRange{}, "x", "no place");
  printed.diagnostics.report(any_error, printed.range(0, 1), "x", "first");
  const std::string text = printed.text();
  EXPECT_LT(text.find("first"), text.find("third"));
  EXPECT_LT(text.find("third"), text.find("\nerror: x: no place [kernel-compile]\n"));
}

TEST(Diagnostics, DropsASecondErrorAtOnePlace) {
  Printed printed("a b\n");
  printed.diagnostics.report(any_error, printed.range(0, 1), "x", "cause");
  printed.diagnostics.report(any_error, printed.range(0, 3), "x", "consequence")
      .notes.push_back({SourceRange{}, "goes with it"});
  printed.diagnostics.report(any_error, printed.range(2, 3), "x", "another");
  EXPECT_EQ(printed.diagnostics.error_count(), 2U);
  EXPECT_EQ(printed.text().find("consequence"), std::string::npos);
  EXPECT_EQ(printed.text().find("goes with it"), std::string::npos);
  EXPECT_NE(printed.text().find("another"), std::string::npos);
}

TEST(Diagnostics, StopsAfterTheMostErrorsAndSaysSo) {
  Printed printed(std::string(200, 'x'));
  for (std::uint32_t at = 0; at < Diagnostics::max_errors + 7; ++at) {
    printed.diagnostics.report(any_error, printed.range(at, at + 1), "x",
                               "number " + std::to_string(at) + ".");
  }
  const std::string text = printed.text();
  EXPECT_NE(text.find("number 49."), std::string::npos);
  EXPECT_EQ(text.find("number 50."), std::string::npos);
  EXPECT_NE(text.find("\ntoo many errors: 7 more not shown\n"), std::string::npos);
}

TEST(Diagnostics, CutsAVeryLongLineAroundTheCaret) {
  std::string line(100'000, 'x');
  line.replace(50'000, 4, "here");
  Printed printed(line);
  printed.diagnostics.report(any_error, printed.range(50'000, 50'004), "x", "y");
  std::istringstream lines(printed.text());
  std::string header;
  std::string shown;
  std::string carets;
  std::getline(lines, header);
  std::getline(lines, shown);
  std::getline(lines, carets);
  EXPECT_EQ(header, "f.cgraph:1:50001: error: x: y [kernel-compile]");
  EXPECT_LT(shown.size(), 200U);
  EXPECT_EQ(shown.substr(0, 4), "...x");
  EXPECT_EQ(shown.substr(shown.size() - 4), "x...");
  EXPECT_EQ(shown.substr(carets.find('^'), 4), "here");
  EXPECT_EQ(carets.substr(carets.find('^')), "^~~~");
}

TEST(Diagnostics, AlignsBehindTabsAndWideCharacters) {
  Printed tab("a\tb");
  tab.diagnostics.report(any_error, tab.range(2, 3), "x", "y");
  EXPECT_NE(tab.text().find("\na       b\n        ^\n"), std::string::npos) << tab.text();

  Printed wide("\xE4\xB8\xAD\xC3\xA9 b"); // two columns, one column, blank
  wide.diagnostics.report(any_error, wide.range(6, 7), "x", "y");
  EXPECT_NE(wide.text().find(" b\n    ^\n"), std::string::npos) << wide.text();
}

TEST(Diagnostics, SendsNoControlCharactersToTheTerminal) {
  Printed printed("a\x1B[31mb");
  printed.diagnostics.report(any_error, printed.range(0, 1), "x", "y");
  EXPECT_EQ(printed.text().find('\x1B'), std::string::npos);
  EXPECT_NE(printed.text(true).find('\x1B'), std::string::npos);
}

TEST(Diagnostics, MarksTheEndOfTheText) {
  Printed printed("ab");
  printed.diagnostics.report(any_error, printed.range(2, 2), "x", "y");
  EXPECT_NE(printed.text().find("f.cgraph:1:3: "), std::string::npos);
  EXPECT_NE(printed.text().find("\nab\n  ^\n"), std::string::npos) << printed.text();
}

TEST(Diagnostics, MarksOnlyTheFirstLineOfALongRange) {
  Printed printed("ab\ncd\n");
  printed.diagnostics.report(any_error, printed.range(1, 5), "x", "y");
  EXPECT_NE(printed.text().find("\nab\n ^\n"), std::string::npos) << printed.text();
}

// Every diagnostic is provoked by a test: a CHECK line of a lit test has all the fixed words of its
// text and its slug, or a unit test asks for its id.

std::string contents_of(const std::filesystem::path &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What stands between the arguments and braces of a text; FileCheck does not take braces as such.
std::vector<std::string> fixed_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at, 2) == "{{") {
      ++at;
      end_word();
    } else if (text[at] == '{') {
      at = std::min(text.find('}', at), text.size());
      end_word();
    } else if (text[at] == '}') {
      end_word();
    } else {
      word.push_back(text[at]);
    }
  }
  end_word();
  return words;
}

bool provokes(const std::string &check_line, const cgc::DiagInfo &entry) {
  std::size_t at = check_line.find(entry.severity == Severity::Error ? "error: " : "warning: ");
  if (at == std::string::npos) {
    return false;
  }
  for (const std::string &words : fixed_words(entry.text)) {
    at = check_line.find(words, at);
    if (at == std::string::npos) {
      return false;
    }
    at += words.size();
  }
  // FileCheck wants `[[` escaped, so the bracket may be written in a regular expression.
  return check_line.find(entry.slug, at) != std::string::npos;
}

TEST(DiagnosticsTable, EveryEntryIsProvokedByATest) {
  const std::filesystem::path tests = std::filesystem::path(CGRAPH_SOURCE_DIR) / "tests";
  if (!std::filesystem::exists(tests / "lit")) {
    GTEST_SKIP() << "the sources of the tests are not here";
  }
  std::vector<std::string> check_lines;
  for (const auto &file : std::filesystem::recursive_directory_iterator(tests / "lit")) {
    std::istringstream lines(file.is_regular_file() ? contents_of(file.path()) : "");
    for (std::string line; std::getline(lines, line);) {
      if (line.find("CHECK") != std::string::npos) {
        check_lines.push_back(line);
      }
    }
  }
  std::string unit_tests;
  for (const auto &file : std::filesystem::directory_iterator(tests / "unit")) {
    if (file.path().filename() != "diagnostics_test.cpp") {
      unit_tests += contents_of(file.path());
    }
  }
  for (std::size_t index = 0; index < cgc::diagnostic_count(); ++index) {
    const cgc::DiagInfo &entry = cgc::info(static_cast<Diag>(index));
    const bool by_lit = std::any_of(check_lines.begin(), check_lines.end(),
                                    [&](const std::string &line) { return provokes(line, entry); });
    const bool by_unit = unit_tests.find("Diag::" + std::string(entry.id)) != std::string::npos;
    EXPECT_TRUE(by_lit || by_unit)
        << "no test provokes " << entry.id << ": \"" << entry.text << "\" [" << entry.slug << "]";
  }
}

} // namespace
