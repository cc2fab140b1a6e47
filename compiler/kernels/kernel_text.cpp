#include "kernels/kernel_text.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace cgc {

using cgrt::ScalarType;
using cgrt::format::Kernel;
using cgrt::format::KernelParam;
using cgrt::format::Mode;
using cgrt::format::Program;

namespace {

struct TypeName {
  ScalarType type;
  std::string_view cpp;
};

constexpr auto type_names = std::to_array<TypeName>({
    {ScalarType::Bool, "bool"},
    {ScalarType::I8, "signed char"},
    {ScalarType::U8, "unsigned char"},
    {ScalarType::I16, "short"},
    {ScalarType::U16, "unsigned short"},
    {ScalarType::I32, "int"},
    {ScalarType::U32, "unsigned int"},
    {ScalarType::I64, "long long"},
    {ScalarType::U64, "unsigned long long"},
    {ScalarType::F16, "__half"},
    {ScalarType::BF16, "__nv_bfloat16"},
    {ScalarType::F32, "float"},
    {ScalarType::F64, "double"},
});

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Whether `text` has `word` as an identifier; in a comment or string counts, too.
bool mentions(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) {
      return true;
    }
  }
  return false;
}

bool any_body_mentions(const KernelUnit &unit, std::string_view word) {
  return std::any_of(unit.sources.begin(), unit.sources.end(), [word](const KernelSource &source) {
    return mentions(source.body.text, word);
  });
}

/// The names that CUDA's headers give to a 16-bit type and its pair.
std::array<std::string_view, 4> names_of_small_float(ScalarType type) {
  if (type == ScalarType::F16) {
    return {"half", "half2", "__half", "__half2"};
  }
  return {"nv_bfloat16", "nv_bfloat162", "__nv_bfloat16", "__nv_bfloat162"};
}

bool is_small_float(ScalarType type) {
  return type == ScalarType::F16 || type == ScalarType::BF16;
}

/// Finds the macros that C++ text defines, passing over comments and literals.
class MacroScanner {
public:
  explicit MacroScanner(std::string_view text) : text_(text) {}

  /// Each once, in order of their first definition.
  std::vector<std::string> defined() {
    std::vector<std::string> names;
    bool line_start = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (line_start && c == '#') {
        ++at_;
        if (word() == "define") {
          const std::string name(word());
          if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
          }
        }
      } else {
        skip_one();
      }
      line_start = c == '\n' || (line_start && (c == ' ' || c == '\t'));
    }
    return names;
  }

private:
  bool starts_with(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  void skip_to(std::size_t end) { at_ = std::min(end, text_.size()); }
  void skip_behind(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    skip_to(found == std::string_view::npos ? found : found + end.size());
  }

  std::string_view word() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
      ++at_;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  void skip_one() {
    const char c = text_[at_];
    if (starts_with("//")) {
      skip_to(text_.find('\n', at_));
    } else if (starts_with("/*")) {
      at_ += 2;
      skip_behind("*/");
    } else if (starts_with("R\"") && (at_ == 0 || !is_word(text_[at_ - 1]))) {
      at_ += 2;
      const std::size_t open = std::min(text_.find('(', at_), text_.size());
      skip_behind(")" + std::string(text_.substr(at_, open - at_)) + "\"");
    } else if (c == '"') {
      skip_string();
    } else {
      ++at_;
    }
  }

  void skip_string() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    if (at_ < text_.size() && text_[at_] == '"') {
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string parameter(const KernelParam &param, bool inplace) {
  const std::string type(cpp_spelling(param.type));
  if (!param.is_buffer) {
    return type + " " + param.name;
  }
  return (param.mode == Mode::In ? "const " : "") + type + (inplace ? " *" : " *__restrict__ ") +
         param.name;
}

std::string line_directive(const SourceFiles &files, FileId file, std::uint32_t line) {
  return "#line " + std::to_string(line) + " \"" + line_name(files[file].name()) + "\"\n";
}

} // namespace

std::string_view cpp_spelling(ScalarType type) {
  const auto *found = std::find_if(type_names.begin(), type_names.end(),
                                   [type](const TypeName &name) { return name.type == type; });
  return found->cpp;
}

bool uses_type(const Program &program, const KernelUnit &unit, ScalarType type) {
  const auto has_type = [type](const KernelParam &param) { return param.type == type; };
  for (const Kernel &kernel : program.kernels) {
    if (std::any_of(kernel.params.begin(), kernel.params.end(), has_type)) {
      return true;
    }
  }
  if (any_body_mentions(unit, cgrt::format::spelling(type))) {
    return true;
  }
  if (!is_small_float(type)) {
    return false;
  }
  const auto names = names_of_small_float(type);
  return std::any_of(names.begin(), names.end(),
                     [&unit](std::string_view name) { return any_body_mentions(unit, name); });
}

std::string types_and_constants(const KernelUnit &unit) {
  std::string text;
  for (const TypeName &name : type_names) {
    const std::string_view spelling = cgrt::format::spelling(name.type);
    if (name.type == ScalarType::Bool ||
        (is_small_float(name.type) && !any_body_mentions(unit, spelling))) {
      continue;
    }
    text.append("using ").append(spelling).append(" = ").append(name.cpp).append(";\n");
  }
  for (const ConstantSource &constant : unit.scopes.front().constants) {
    text += "constexpr " + constant.type + " " + constant.name + " = " + constant.value + ";\n";
  }
  return text;
}

std::string body_function(const Program &program, cgrt::format::KernelId kernel,
                          const KernelUnit &unit) {
  const Kernel &entry = program[kernel];
  const KernelSource &source = unit.sources[kernel.index];
  const SourceFile &file = unit.files[source.body.range.file];
  std::string text = "namespace cgk_" + entry.symbol + " {\n";
  text += line_of_kernel(source, unit.files);
  text += "static __device__ __forceinline__ void body(" + parameter_list(entry) + ") {\n";
  text += line_directive(unit.files, source.body.range.file, file.line_of(source.body.range.begin));
  text.append(file.column_of(source.body.range.begin) - 1, ' ');
  text += source.body.text;
  // The empty line ends a comment even when the body's last line ends in a backslash.
  text += "\n\n";
  text += line_directive(unit.files, source.body.range.file, file.line_of(source.body.range.end));
  text += "}\n";
  for (const std::string &macro : MacroScanner(source.body.text).defined()) {
    text += "#undef " + macro + "\n";
  }
  text += "}\n";
  return text;
}

std::string line_of_kernel(const KernelSource &source, const SourceFiles &files) {
  return line_directive(files, source.name.file, files.place(source.name).line);
}

std::string line_name(std::string_view file_name) {
  std::string name(file_name.substr(0, 1) == "/" ? "" : "/");
  name += file_name;
  // Neither compiler takes these in a file name everywhere it prints one.
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }, '_');
  return name;
}

std::string parameter_list(const Kernel &kernel) {
  std::string text;
  for (const KernelParam &param : kernel.params) {
    text += (text.empty() ? "" : ", ") + parameter(param, kernel.inplace);
  }
  return text;
}

std::vector<cgrt::format::KernelId> all_kernels(const Program &program) {
  std::vector<cgrt::format::KernelId> kernels(program.kernels.size());
  for (std::uint32_t index = 0; index < kernels.size(); ++index) {
    kernels[index] = {index};
  }
  return kernels;
}

std::string argument_list(const Kernel &kernel) {
  std::string text;
  for (const KernelParam &param : kernel.params) {
    text += (text.empty() ? "" : ", ") + param.name;
  }
  return text;
}

} // namespace cgc
