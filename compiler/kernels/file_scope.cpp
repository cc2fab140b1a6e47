#include "kernels/file_scope.h"

#include "kernels/cpp_tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>

namespace cgc {

namespace {

template <std::size_t Count>
bool is_one_of(std::string_view word, const std::array<std::string_view, Count> &words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Words that are neither a type nor a name.
constexpr auto specifiers = std::to_array<std::string_view>(
    {"static",     "inline",       "extern",      "const",        "constexpr",     "volatile",
     "mutable",    "template",     "typename",    "class",        "struct",        "union",
     "enum",       "__device__",   "__managed__", "__constant__", "__shared__",    "__host__",
     "__global__", "__restrict__", "alignas",     "__align__",    "__attribute__", "decltype"});
/// Brackets behind these do not make a function.
constexpr auto bracketed = std::to_array<std::string_view>(
    {"alignas", "__align__", "__attribute__", "decltype", "__launch_bounds__", "__cluster_dims__"});
/// Declarations that begin with one of these declare no variable.
constexpr auto no_variables = std::to_array<std::string_view>(
    {"using", "typedef", "static_assert", "friend", "namespace", "asm"});

/// Walks over declarations; function bodies and initialisers are passed over.
class Scanner {
public:
  explicit Scanner(std::string_view text) : text_(text), tokens_(cpp_tokens(text)) {}

  std::vector<FileScopeVariable> run() {
    while (at_ < tokens_.size()) {
      if (is(at_, "}")) {
        leave_scope();
      } else {
        head_ = Head{};
        read_declaration();
      }
    }
    return std::move(found_);
  }

private:
  /// What is known of a declaration before its first declarator ends.
  struct Head {
    std::string_view first; ///< its first word
    bool is_class = false;
    bool is_enum = false;
    bool is_linkage = false; ///< extern "C"
    bool is_static = false;
    bool is_shared = false;
    bool is_constant = false; ///< `constexpr` or `__constant__`: every declarator is
    bool is_const = false;    ///< `const` before any `*`
    bool is_pointer = false;
    bool is_const_pointer = false;
    bool is_reference = false;
    unsigned words = 0;   ///< types and names
    std::size_t name = 0; ///< token: the last of them
  };

  std::string_view word(std::size_t i) const {
    return i < tokens_.size() ? text_of(tokens_[i], text_) : std::string_view{};
  }
  bool is(std::size_t i, std::string_view what) const { return word(i) == what; }
  bool is_any(std::size_t i, std::initializer_list<std::string_view> words) const {
    return std::find(words.begin(), words.end(), word(i)) != words.end();
  }

  void skip_brackets() {
    std::size_t depth = 0;
    do {
      if (is_any(at_, {"(", "[", "{"})) {
        ++depth;
      } else if (is_any(at_, {")", "]", "}"})) {
        --depth;
      }
      ++at_;
    } while (at_ < tokens_.size() && depth > 0);
  }

  void skip_angles() {
    std::size_t depth = 0;
    do {
      if (is_any(at_, {"(", "[", "{"})) {
        skip_brackets();
        continue;
      }
      depth += is(at_, "<") ? 1 : 0;
      depth -= is(at_, ">") ? 1 : 0;
      ++at_;
    } while (at_ < tokens_.size() && depth > 0);
  }

  void skip_to_semicolon() {
    while (at_ < tokens_.size() && !is_any(at_, {";", "}"})) {
      if (is_any(at_, {"(", "[", "{"})) {
        skip_brackets();
      } else {
        ++at_;
      }
    }
    at_ += is(at_, ";") ? 1 : 0;
  }

  void leave_scope() {
    ++at_;
    if (scopes_.empty()) {
      return; // unbalanced: the compiler will say so
    }
    const Head closed = scopes_.back();
    scopes_.pop_back();
    if (closed.is_class && !is(at_, ";")) {
      head_ = closed; // struct S { … } variable;
      head_.is_class = false;
      head_.words = 1; // the class
      read_declaration();
    }
  }

  void read_declaration() {
    while (at_ < tokens_.size()) {
      if (tokens_[at_].is_directive) {
        ++at_;
      } else if (is(at_, "}")) {
        return;
      } else if (is_any(at_, {";", "=", ",", "(", "{", "["})) {
        if (end_declarator()) {
          return;
        }
      } else if (is(at_, "<")) {
        skip_angles();
      } else if (is(at_, "operator")) {
        skip_operator();
        skip_function();
        return;
      } else {
        read_token();
      }
    }
  }

  void read_token() {
    const std::string_view text = word(at_);
    if (text == "*") {
      head_.is_pointer = true;
      head_.is_const_pointer = false;
    } else if (text == "&") {
      head_.is_reference = true;
    } else if (text == ":" && !is(at_ + 1, ":") && !head_.is_class && !head_.is_enum) {
      head_ = Head{}; // public:
    } else if (text == ":" && is(at_ + 1, ":")) {
      ++at_;
    } else if (text == ":" && head_.is_enum) {
      while (at_ + 1 < tokens_.size() && !is_any(at_ + 1, {"{", ";"})) {
        ++at_; // its type
      }
    } else if (tokens_[at_].is_word) {
      read_word(text);
    }
    ++at_;
  }

  void read_word(std::string_view text) {
    if (head_.first.empty() && text != "template") {
      head_.first = text;
    }
    head_.is_class |= text == "class" || text == "struct" || text == "union";
    head_.is_enum |= text == "enum";
    head_.is_linkage |= text == "extern" && word(at_ + 1).substr(0, 1) == "\"";
    head_.is_static |= text == "static";
    head_.is_shared |= text == "__shared__";
    head_.is_constant |= text == "constexpr" || text == "__constant__";
    if (text == "const") {
      (head_.is_pointer ? head_.is_const_pointer : head_.is_const) = true;
    }
    if (!is_one_of(text, specifiers)) {
      ++head_.words;
      head_.name = at_;
    }
  }

  /// At what may end a declarator; whether the declaration is done with, too.
  bool end_declarator() {
    if (is(at_, "[") && is(at_ + 1, "[")) { // an attribute
      skip_brackets();
      return false;
    }
    if (is(at_, "(") && at_ > 0 && is_one_of(word(at_ - 1), bracketed)) {
      skip_brackets();
      return false;
    }
    if (is(at_, "{") && (head_.is_linkage || head_.first == "namespace" || is_inline_namespace())) {
      scopes_.emplace_back();
      ++at_;
      return true;
    }
    if (is_one_of(head_.first, no_variables)) {
      skip_to_semicolon();
      return true;
    }
    if (is(at_, "{") && head_.is_enum) {
      skip_brackets();
      head_.words = 1;
      return false;
    }
    if (is(at_, "{") && head_.is_class) {
      scopes_.push_back(head_);
      ++at_;
      return true;
    }
    if (is(at_, "(") && !is_variable_bracket()) {
      skip_function();
      return true;
    }
    read_variables();
    return true;
  }

  bool is_inline_namespace() const {
    return head_.first == "inline" && at_ >= 2 &&
           (is(at_ - 1, "namespace") || is(at_ - 2, "namespace"));
  }

  /// `int (*pointer)(int)`, `int x(5)`: no parameters.
  bool is_variable_bracket() const {
    const std::string_view inside = word(at_ + 1);
    return is_any(at_ + 1, {"*", "&"}) ||
           (!inside.empty() && (std::isdigit(static_cast<unsigned char>(inside.front())) != 0 ||
                                inside.front() == '"' || inside.front() == '\''));
  }

  void skip_operator() {
    at_ += is(at_ + 1, "(") ? 3 : 1; // operator()
    while (at_ < tokens_.size() && !is_any(at_, {"(", ";"})) {
      ++at_;
    }
  }

  /// From the parameters to behind the body or the semicolon.
  void skip_function() {
    bool in_initializers = false; // of a constructor
    while (at_ < tokens_.size()) {
      if (is(at_, ";")) {
        ++at_;
        return;
      }
      const bool is_body = is(at_, "{") && !(in_initializers && tokens_[at_ - 1].is_word);
      if (is_any(at_, {"(", "[", "{"})) {
        skip_brackets();
        if (is_body) {
          return;
        }
        continue;
      }
      if (is(at_, "}")) {
        return;
      }
      in_initializers = in_initializers || (is(at_, ":") && !is(at_ + 1, ":") && !is(at_ - 1, ":"));
      ++at_;
    }
  }

  /// The first declarator has been read; its name is the last word.
  void read_variables() {
    if (is(at_, "(") && is_any(at_ + 1, {"*", "&"})) {
      read_token_in_brackets();
    }
    note_variable();
    while (at_ < tokens_.size() && !is_any(at_, {";", "}"})) {
      if (is_any(at_, {"(", "[", "{"})) {
        skip_brackets();
      } else if (is(at_, ",")) {
        ++at_;
        read_declarator();
        note_variable();
      } else {
        ++at_;
      }
    }
    at_ += is(at_, ";") ? 1 : 0;
  }

  void read_token_in_brackets() {
    head_.is_const = false; // that of a result
    for (++at_; at_ < tokens_.size() && !is_any(at_, {")", "[", "("});) {
      read_token();
    }
    at_ += is(at_, ")") ? 1 : 0;
  }

  /// A further declarator of the same declaration.
  void read_declarator() {
    head_.is_pointer = false;
    head_.is_reference = false;
    while (at_ < tokens_.size() && !is_any(at_, {",", ";", "=", "[", "{", "(", "}"})) {
      read_token();
    }
  }

  void note_variable() {
    const bool in_class = !scopes_.empty() && scopes_.back().is_class;
    const bool is_constant = head_.is_constant || head_.is_reference ||
                             (head_.is_pointer ? head_.is_const_pointer : head_.is_const);
    if (head_.words < 2 || is_constant || (in_class && !head_.is_static)) {
      return;
    }
    const CppToken &name = tokens_[head_.name];
    found_.push_back({std::string(text_of(name, text_)), name.begin, head_.is_shared});
  }

  std::string_view text_;
  std::vector<CppToken> tokens_;
  std::size_t at_ = 0;
  Head head_;
  std::vector<Head> scopes_; ///< open namespaces and classes
  std::vector<FileScopeVariable> found_;
};

void report(Diag id, const CodeText &code, const FileScopeVariable &variable,
            Diagnostics &diagnostics) {
  const auto begin = code.range.begin + static_cast<std::uint32_t>(variable.offset);
  const auto end = begin + static_cast<std::uint32_t>(variable.name.size());
  diagnostics.report(id, {code.range.file, begin, end}, variable.name);
}

} // namespace

std::vector<FileScopeVariable> mutable_variables(std::string_view text) {
  return Scanner(text).run();
}

void check_file_scope(const CodeText &code, Diagnostics &diagnostics) {
  for (const FileScopeVariable &variable : mutable_variables(code.text)) {
    if (variable.is_shared) {
      report(Diag::SharedAtFileScope, code, variable, diagnostics);
    }
  }
}

std::vector<FileScopeVariable> static_locals(std::string_view text, bool inside_function) {
  std::vector<FileScopeVariable> found;
  const std::vector<CppToken> tokens = cpp_tokens(text);
  std::size_t depth = inside_function ? 1 : 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view word = text_of(tokens[i], text);
    depth += word == "{" ? 1 : 0;
    depth -= word == "}" && depth > 0 ? 1 : 0;
    if (word != "static" || depth == 0) {
      continue;
    }
    // `static int calls = 0;`, but no constant, no shared memory and no function of a class.
    FileScopeVariable variable;
    bool harmless = false;
    for (++i; i < tokens.size(); ++i) {
      const std::string_view next = text_of(tokens[i], text);
      if (!tokens[i].is_word && next != "*" && next != "&" && next != ":" && next != "<" &&
          next != ">" && next != ",") {
        harmless = harmless || next == "(" || next == "{";
        break;
      }
      harmless = harmless || next == "const" || next == "constexpr" || next == "__shared__" ||
                 next == "__constant__";
      if (tokens[i].is_word) {
        variable = {std::string(next), tokens[i].begin, false};
      }
    }
    if (!harmless && !variable.name.empty()) {
      found.push_back(variable);
    }
  }
  return found;
}

void check_blocks(const KernelUnit &unit, Diagnostics &diagnostics) {
  const auto refuse_locals = [&](const CodeText &code, bool inside_function) {
    for (const FileScopeVariable &variable : static_locals(code.text, inside_function)) {
      report(Diag::MutableDeviceVariable, code, variable, diagnostics);
    }
  };
  for (const KernelSource &source : unit.sources) {
    if (source.kind == BodyKind::Cuda) {
      refuse_locals(source.body, true);
    }
    if (source.host) {
      refuse_locals(*source.host, true);
    }
  }
  for (const CodeScope &scope : unit.scopes) {
    for (const CodeText &block : scope.blocks) {
      for (const FileScopeVariable &variable : mutable_variables(block.text)) {
        if (!variable.is_shared) {
          report(Diag::MutableDeviceVariable, block, variable, diagnostics);
        }
      }
      refuse_locals(block, false);
    }
  }
}

} // namespace cgc
