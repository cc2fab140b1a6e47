#include "parse/parser.h"

#include "parse/ast_builder.h"
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

/// Begins a declaration or statement, or ends a block, whether or not a ';' was forgotten.
bool starts_something_new(std::size_t token) {
  switch (token) {
  case antlr4::Token::EOF:
  case CGraphParser::CHILD:
  case CGraphParser::CONST:
  case CGraphParser::DEF:
  case CGraphParser::FOR:
  case CGraphParser::IMPORT:
  case CGraphParser::SYNC:
  case CGraphParser::PARAM:
  case CGraphParser::HOST:
  case CGraphParser::DEVICE:
  case CGraphParser::KERNEL:
  case CGraphParser::GRAPH:
  case CGraphParser::COPY:
  case CGraphParser::FILL:
  case CGraphParser::CLOSE_BRACE:
    return true;
  default:
    return false;
  }
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
    const antlr4::Token *before =
        offending->getTokenIndex() == 0
            ? nullptr
            : parser.getTokenStream()->get(offending->getTokenIndex() - 1);
    if (before != nullptr && tokens_.is_unterminated(*before)) {
      return; // what is missing may stand behind its end
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
    if (is_for_later(offending->getType())) {
      diagnostics_.report(Diag::NotInThisVersion, range, files_.text(range));
      return;
    }
    const antlr4::misc::IntervalSet tokens = tokens_at(parser, error);
    if (const auto end = end_of_unfinished_line(before, *offending, tokens)) {
      range = {file_, *end, *end};
      found = "end of line";
    }
    diagnostics_.report(Diag::UnexpectedToken, range, found, expected(parser, tokens));
  }

private:
  /// Words that begin or join a construct of the language which this version does not have.
  static bool is_for_later(std::size_t token) {
    switch (token) {
    case CGraphParser::CALLBACK:
    case CGraphParser::CAPTURED:
    case CGraphParser::DETACH:
    case CGraphParser::DO:
    case CGraphParser::EVENT:
    case CGraphParser::EXTERNAL:
    case CGraphParser::IF:
    case CGraphParser::ON:
    case CGraphParser::RECORD:
    case CGraphParser::REPEAT:
    case CGraphParser::SIBLING:
    case CGraphParser::STREAM:
    case CGraphParser::SWITCH:
    case CGraphParser::TAIL:
    case CGraphParser::WAIT:
    case CGraphParser::WHILE:
      return true;
    default:
      return false;
    }
  }

  /// Where the line in front of the token ends, if it is that line which lacks something.
  std::optional<std::uint32_t> end_of_unfinished_line(const antlr4::Token *before,
                                                      const antlr4::Token &offending,
                                                      const antlr4::misc::IntervalSet &tokens) {
    if (before == nullptr || !(tokens.contains(std::size_t{CGraphParser::SEMICOLON}) ||
                               starts_something_new(offending.getType()))) {
      return std::nullopt;
    }
    switch (before->getType()) {
    case CGraphParser::SEMICOLON:
    case CGraphParser::CLOSE_BRACE:
    case CGraphParser::OPEN_BRACE:
    case CGraphParser::RAW_BODY:
      return std::nullopt; // nothing was begun there
    default:
      break;
    }
    const auto end = static_cast<std::uint32_t>(before->getStopIndex() + 1);
    const auto begin = static_cast<std::uint32_t>(offending.getStartIndex());
    const bool same_line =
        files_.place({file_, end, end}).line == files_.place({file_, begin, begin}).line;
    return same_line ? std::nullopt : std::optional(end);
  }

  /// What may stand at the offending token. Where the parser looked ahead for an alternative, it
  /// still stands at the first token of all.
  static antlr4::misc::IntervalSet tokens_at(antlr4::Parser &parser,
                                             const std::exception_ptr &error) {
    try {
      if (error) {
        std::rethrow_exception(error);
      }
    } catch (const antlr4::NoViableAltException &none) {
      antlr4::misc::IntervalSet tokens;
      if (none.getDeadEndConfigs() != nullptr) {
        for (const auto &config : none.getDeadEndConfigs()->configs) {
          for (const auto &transition : config->state->transitions) {
            if (!transition->isEpsilon()) {
              tokens.addAll(transition->label());
            }
          }
        }
      }
      return tokens;
    } catch (const antlr4::RecognitionException &) { // the parser stands at the token
    }
    return parser.getExpectedTokens();
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

/// After an error in a declaration or statement that ends in ';', goes on behind it, so that one
/// mistake is one error. Inside of them ANTLR's own recovery does well.
class Recovery : public antlr4::DefaultErrorStrategy {
public:
  void recover(antlr4::Parser *parser, std::exception_ptr error) override {
    if (!ends_in_semicolon(parser->getRuleContext()->getRuleIndex())) {
      DefaultErrorStrategy::recover(parser, error);
      return;
    }
    while (!starts_something_new(parser->getInputStream()->LA(1))) {
      const std::size_t token = parser->getInputStream()->LA(1);
      parser->consume();
      if (token == CGraphParser::SEMICOLON) {
        return;
      }
    }
  }

protected:
  /// What ends a statement, or begins the next one, is never taken for a word too much.
  antlr4::Token *singleTokenDeletion(antlr4::Parser *parser) override {
    const std::size_t token = parser->getInputStream()->LA(1);
    const bool keep = token == CGraphParser::SEMICOLON || token == CGraphParser::OPEN_BRACE ||
                      starts_something_new(token);
    return keep ? nullptr : DefaultErrorStrategy::singleTokenDeletion(parser);
  }

private:
  static bool ends_in_semicolon(std::size_t rule) {
    switch (rule) {
    case CGraphParser::RuleImportDeclaration:
    case CGraphParser::RuleConstDeclaration:
    case CGraphParser::RuleParamDeclaration:
    case CGraphParser::RuleBufferDeclaration:
    case CGraphParser::RuleStatement:
    case CGraphParser::RuleAction:
    case CGraphParser::RuleSyncStatement:
    case CGraphParser::RuleAfter:
    case CGraphParser::RuleAttribute:
    case CGraphParser::RuleCopyStatement:
    case CGraphParser::RuleFillStatement:
    case CGraphParser::RuleLaunchStatement:
      return true;
    default:
      return false;
    }
  }
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
