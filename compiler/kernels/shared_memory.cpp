#include "kernels/shared_memory.h"

#include "kernels/cpp_tokens.h"

#include <algorithm>
#include <vector>

namespace cgc {

namespace {

/// One declared name: `*p[4]` is {"*", "p", "[4]"}.
struct Declarator {
  std::string pointer;
  std::string_view name;
  std::string suffix;
};

class Rewriter {
public:
  explicit Rewriter(std::string_view text) : text_(text), tokens_(cpp_tokens(text)) {}

  std::string run() {
    std::size_t copied = 0; // bytes of the input
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!is(i, "__shared__")) {
        continue;
      }
      const std::size_t first = declaration_begin(i);
      const std::size_t semicolon = declaration_end(i);
      if (semicolon == tokens_.size() || tokens_[first].begin < copied) {
        continue;
      }
      result_ += text_.substr(copied, tokens_[first].begin - copied);
      rewrite(first, semicolon);
      copied = tokens_[semicolon].end;
      i = semicolon;
    }
    result_ += text_.substr(copied);
    return std::move(result_);
  }

private:
  std::string_view word(std::size_t i) const {
    return text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
  }
  bool is(std::size_t i, std::string_view what) const { return word(i) == what; }
  bool is_any(std::size_t i, std::initializer_list<std::string_view> words) const {
    return std::find(words.begin(), words.end(), word(i)) != words.end();
  }

  static bool is_attribute(std::string_view name) {
    return name == "alignas" || name == "__align__" || name == "__attribute__";
  }
  /// Whether brackets behind the word belong to it and hold no declarator.
  static bool takes_brackets(std::string_view name) {
    return is_attribute(name) || name == "decltype";
  }

  /// The token behind the bracket that closes the one at `open`.
  std::size_t behind_brackets(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      depth += is_any(i, {"(", "[", "{"}) ? 1 : is_any(i, {")", "]", "}"}) ? -1 : 0;
      if (depth == 0) {
        return i + 1;
      }
    }
    return tokens_.size();
  }

  /// Back to the first token of the declaration that holds token `i`.
  std::size_t declaration_begin(std::size_t i) const {
    while (i > 0) {
      std::size_t before = i - 1;
      if (tokens_[before].is_directive || is_any(before, {";", "{", "}"}) ||
          (is(before, ":") && !(before > 0 && is(before - 1, ":")))) {
        return i;
      }
      if (is(before, ")")) {
        int depth = 1;
        while (before > 0 && depth > 0) {
          --before;
          depth += is(before, ")") ? 1 : is(before, "(") ? -1 : 0;
        }
        if (before == 0 || !takes_brackets(word(before - 1))) {
          return i;
        }
        --before;
      }
      i = before;
    }
    return i;
  }

  /// The semicolon that ends the declaration, or the number of tokens.
  std::size_t declaration_end(std::size_t i) const {
    while (i < tokens_.size() && !is(i, ";")) {
      i = is_any(i, {"(", "[", "{"}) ? behind_brackets(i) : i + 1;
    }
    return i;
  }

  /// The end of the declarator at `i`: its comma or the semicolon.
  std::size_t declarator_end(std::size_t i, std::size_t semicolon) const {
    int angles = 0;
    while (i < semicolon && !(is(i, ",") && angles == 0)) {
      if (is(i, "<") && i > 0 && tokens_[i - 1].is_word) {
        ++angles;
      } else if (is(i, ">") && angles > 0) {
        --angles;
      }
      i = is_any(i, {"(", "[", "{"}) ? behind_brackets(i) : i + 1;
    }
    return std::min(i, semicolon);
  }

  /// The declared name in [first, end): the last word before an array bound or an initialiser.
  std::size_t name_in(std::size_t first, std::size_t end) const {
    std::size_t name = end;
    for (std::size_t i = first; i < end && !is_any(i, {"[", "="});) {
      if (takes_brackets(word(i)) || is(i, "{")) {
        i = behind_brackets(is(i, "{") ? i : i + 1);
        continue;
      }
      name = tokens_[i].is_word ? i : name;
      ++i;
    }
    return name;
  }

  std::string joined(std::size_t first, std::size_t end) const {
    std::string text;
    for (std::size_t i = first; i < end; ++i) {
      text.append(text.empty() ? "" : " ").append(word(i));
    }
    return text;
  }

  /// The declaration's words without storage and attributes, up to `end`.
  std::string specifiers(std::size_t first, std::size_t end) const {
    std::string text;
    for (std::size_t i = first; i < end;) {
      if (is_attribute(word(i)) && i + 1 < end) {
        i = behind_brackets(i + 1);
        continue;
      }
      if (!is_any(i, {"extern", "static", "__shared__"})) {
        text.append(word(i)).append(" ");
      }
      ++i;
    }
    return text;
  }

  void rewrite(std::size_t first, std::size_t semicolon) {
    std::vector<Declarator> declarators;
    std::size_t specifiers_end = first;
    for (std::size_t begin = first; begin < semicolon;) {
      const std::size_t end = declarator_end(begin, semicolon);
      const std::size_t name = name_in(begin, end);
      if (name == end) {
        break;
      }
      std::size_t pointer = name;
      while (pointer > begin && is_any(pointer - 1, {"*", "&", "("})) {
        --pointer;
      }
      if (begin == first) {
        specifiers_end = pointer;
      }
      declarators.push_back({joined(pointer, name), word(name), joined(name + 1, end)});
      begin = end + 1;
    }
    bool is_extern = false;
    for (std::size_t i = first; i < specifiers_end; ++i) {
      is_extern = is_extern || is(i, "extern");
    }
    if (is_extern) {
      refer_to_dynamic(specifiers(first, specifiers_end), declarators);
      const std::string_view replaced =
          text_.substr(tokens_[first].begin, tokens_[semicolon].end - tokens_[first].begin);
      result_.append(static_cast<std::size_t>(std::count(replaced.begin(), replaced.end(), '\n')),
                     '\n');
    } else {
      keep_without_static(first, semicolon);
      begin_variables(declarators);
    }
  }

  void refer_to_dynamic(const std::string &type, const std::vector<Declarator> &declarators) {
    for (const Declarator &declarator : declarators) {
      const std::string element = type + declarator.pointer;
      result_.append(element).append("(&").append(declarator.name).append(")");
      result_.append(declarator.suffix).append(" = cg_host::dynamic_shared<");
      result_.append(element).append(declarator.suffix).append(">(); ");
    }
  }

  /// `static __shared__` is CUDA; `static static thread_local` would be nothing.
  void keep_without_static(std::size_t first, std::size_t semicolon) {
    std::size_t copied = tokens_[first].begin;
    for (std::size_t i = first; i <= semicolon; ++i) {
      if (is(i, "static")) {
        result_ += text_.substr(copied, tokens_[i].begin - copied);
        result_.append(word(i).size(), ' ');
        copied = tokens_[i].end;
      }
    }
    result_ += text_.substr(copied, tokens_[semicolon].end - copied);
  }

  void begin_variables(const std::vector<Declarator> &declarators) {
    for (const Declarator &declarator : declarators) {
      const std::string name(declarator.name);
      const std::string seen = "cg_seen_" + name;
      result_ += " static thread_local unsigned long long " + seen + "; cg_host::begin_shared(&" +
                 name + ", sizeof(" + name + "), " + seen + ");";
    }
  }

  std::string_view text_;
  std::vector<CppToken> tokens_;
  std::string result_;
};

} // namespace

std::string rewrite_shared_memory(std::string_view text) {
  return Rewriter(text).run();
}

} // namespace cgc
