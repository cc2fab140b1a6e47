#include "parse/parser.h"

#include "parse/ast_builder.h"
#include "parse/recovery.h"
#include "parse/token_source.h"

#include "CGraphParser.h"

namespace cgc {

namespace {

/// The file's bytes, each as the character of that number: token positions are then byte offsets.
std::string bytes_as_characters(std::string_view text) {
  std::string utf8;
  utf8.reserve(text.size() + text.size() / 8);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      utf8 += c;
    } else {
      utf8 += static_cast<char>(0xC0U | (byte >> 6));
      utf8 += static_cast<char>(0x80U | (byte & 0x3FU));
    }
  }
  return utf8;
}

/// Turns the parser's complaints into diagnostics.
class SyntaxErrors : public antlr4::BaseErrorListener {
public:
  SyntaxErrors(const SourceFiles &files, FileId file, const TokenSource &tokens,
               Diagnostics &diagnostics)
      : files_(files), file_(file), tokens_(tokens), diagnostics_(diagnostics) {}

  void syntaxError(antlr4::Recognizer *recognizer, antlr4::Token *offending, std::size_t /*line*/,
                   std::size_t /*column*/, const std::string & /*message*/,
                   std::exception_ptr error) override {
    const bool at_end = offending->getType() == antlr4::Token::EOF;
    if (at_end && tokens_.stopped()) {
      return; // what made the tokens stop has been reported
    }
    auto &parser = dynamic_cast<antlr4::Parser &>(*recognizer);
    const std::size_t index = offending->getTokenIndex();
    const antlr4::Token *before = index == 0 ? nullptr : parser.getTokenStream()->get(index - 1);
    if (tokens_.dropped_between(before, *offending)) {
      return; // that may be what is missing here
    }
    const auto size = static_cast<std::uint32_t>(files_[file_].text().size());
    SourceRange range = {file_, size, size};
    std::string found = "end of file";
    if (!at_end) {
      range = {file_, static_cast<std::uint32_t>(offending->getStartIndex()),
               static_cast<std::uint32_t>(offending->getStopIndex() + 1)};
      found = offending->getType() == CGraphParser::RAW_BODY
                  ? "a body"
                  : "'" + std::string(files_.text(range)) + "'";
    }
    if (offending->getType() == CGraphParser::BAD_NUMBER) {
      diagnostics_.report(Diag::BadNumber, range, found);
      return;
    }
    const antlr4::misc::IntervalSet tokens = expected_tokens(parser, error);
    if (is_behind_unfinished_line(parser, *offending, tokens)) {
      const auto end = static_cast<std::uint32_t>(before->getStopIndex() + 1);
      range = {file_, end, end};
      found = "end of line";
    }
    Diagnostic &diagnostic =
        diagnostics_.report(Diag::UnexpectedToken, range, found, expected(parser, tokens));
    if (ends_every_block(offending->getType())) {
      add_open_brace(diagnostic, parser);
    }
    if (add_order_hint(diagnostic, parser, *offending)) {
      return;
    }
    if (before != nullptr) {
      add_hint(diagnostic, parser, *before, *offending, tokens);
    }
  }

private:
  /// What those who come from C or Python write, and what is meant.
  void add_hint(Diagnostic &diagnostic, antlr4::Parser &parser, const antlr4::Token &before,
                const antlr4::Token &offending, const antlr4::misc::IntervalSet &expected) const {
    const std::string word = before.getText();
    std::string hint;
    if (word == "break" || word == "continue" || word == "return") {
      hint = "there is no '" + word + "'; conditions say what runs and when a loop ends";
    } else if (parser.getContext()->getStart()->getText() == "elif") {
      hint = "write 'else if'";
    } else if (offending.getText() == "=" &&
               expected.contains(std::size_t{CGraphParser::CLOSE_PARENTHESIS})) {
      hint = "'==' compares";
    } else if (before.getType() == CGraphParser::CLOSE_BRACKET &&
               expected.contains(std::size_t{CGraphParser::ASSIGN}) &&
               std::string_view("+-*/%&|^").find(offending.getText()) != std::string_view::npos) {
      hint = "write x[0] = x[0] " + offending.getText() + " …";
    } else {
      return;
    }
    const auto begin = static_cast<std::uint32_t>(before.getStartIndex());
    diagnostic.notes.push_back(
        {{file_, begin, static_cast<std::uint32_t>(before.getStopIndex() + 1)}, hint});
  }

  static bool is_inside(antlr4::Parser &parser, std::size_t rule) {
    auto *context = parser.getContext();
    while (context != nullptr && context->getRuleIndex() != rule) {
      context = dynamic_cast<antlr4::ParserRuleContext *>(context->parent);
    }
    return context != nullptr;
  }

  /// Where streams and events stand, and how. True if there was something to say.
  bool add_order_hint(Diagnostic &diagnostic, antlr4::Parser &parser,
                      const antlr4::Token &offending) const {
    const std::size_t token = offending.getType();
    const bool is_comma = offending.getText() == ",";
    const bool is_handle = token == CGraphParser::STREAM || token == CGraphParser::EVENT;
    std::string hint;
    if (is_handle && is_inside(parser, CGraphParser::RuleParameters)) {
      hint =
          "a stream or event is no parameter; what a def does goes on the stream its call stands "
          "on: on s { f(…); }";
    } else if (is_handle && !is_inside(parser, CGraphParser::RuleBlock)) {
      hint = "streams and events are declared in a graph, a def or a block of one";
    } else if (is_comma && is_inside(parser, CGraphParser::RuleWaitStatement)) {
      hint = "write one 'wait' for each event: wait e; wait f;";
    } else if (is_comma && is_inside(parser, CGraphParser::RuleRecordStatement)) {
      hint = "write one 'record' for each event: record e; record f;";
    } else if (is_inside(parser, CGraphParser::RuleOnStatement) &&
               parser.getContext()->getRuleIndex() == CGraphParser::RuleBlock) {
      hint = "what goes on a stream stands in braces: on s { … }";
    } else {
      return false;
    }
    diagnostic.notes.push_back({diagnostic.range, hint});
    return true;
  }

  /// Where the innermost block begins that should have ended.
  void add_open_brace(Diagnostic &diagnostic, antlr4::Parser &parser) const {
    for (auto *rule = parser.getContext(); rule != nullptr;
         rule = dynamic_cast<antlr4::ParserRuleContext *>(rule->parent)) {
      if (rule->getRuleIndex() == CGraphParser::RuleBlock) {
        const auto begin = static_cast<std::uint32_t>(rule->getStart()->getStartIndex());
        diagnostic.notes.push_back({{file_, begin, begin + 1}, "this '{' has no matching '}'"});
        return;
      }
    }
  }

  /// "; expected ';' or ','", or nothing where the list would be too long to help.
  static std::string expected(antlr4::Parser &parser, const antlr4::misc::IntervalSet &tokens) {
    const antlr4::dfa::Vocabulary &vocabulary = parser.getVocabulary();
    std::vector<std::string> names;
    bool takes_name = false;
    for (const auto token : tokens.toList()) {
      const auto type = static_cast<std::size_t>(token);
      if (type == CGraphParser::IDENTIFIER) {
        takes_name = true;
      } else if (token > 0 && (type < CGraphParser::BLOCK || type > CGraphParser::WHEN)) {
        // The words BLOCK to WHEN are names wherever they are keywords.
        names.push_back(type == CGraphParser::RAW_BODY ? "'{'" : vocabulary.getDisplayName(type));
      }
    }
    if (takes_name) {
      names.insert(names.begin(), "a name");
    }
    constexpr std::size_t most_helpful = 6;
    if (names.empty() || names.size() > most_helpful) {
      return "";
    }
    std::string text = "; expected " + names[0];
    for (std::size_t i = 1; i < names.size(); ++i) {
      text += (i + 1 == names.size() ? " or " : ", ") + names[i];
    }
    return text;
  }

  const SourceFiles &files_;
  FileId file_;
  const TokenSource &tokens_;
  Diagnostics &diagnostics_;
};

} // namespace

ast::File parse(const SourceFiles &files, FileId file, Diagnostics &diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  antlr4::ANTLRInputStream input(bytes_as_characters(files[file].text()));
  TokenSource token_source(&input, files, file, diagnostics);
  antlr4::CommonTokenStream tokens(&token_source);
  CGraphParser parser(&tokens);
  SyntaxErrors listener(files, file, token_source, diagnostics);
  parser.removeErrorListeners();
  parser.addErrorListener(&listener);
  parser.setErrorHandler(std::make_shared<Recovery>());
  // The grammar is SLL, which is faster than full LL and takes the same input.
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(
      antlr4::atn::PredictionMode::SLL);
  AstBuilder builder(parser, files, file, diagnostics);
  parser.addParseListener(&builder);
  parser.file();
  ast::File result = builder.take();
  result.has_syntax_errors = diagnostics.error_count() != errors_before;
  return result;
}

} // namespace cgc
