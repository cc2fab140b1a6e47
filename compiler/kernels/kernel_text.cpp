#include "kernels/kernel_text.h"

#include "kernels/cpp_tokens.h"

#include <algorithm>
#include <array>

namespace cgc {

using cgrt::ScalarType;
using cgrt::format::Kernel;
using cgrt::format::KernelId;
using cgrt::format::KernelParam;
using cgrt::format::Mode;

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

/// The unit's texts, each of which may say types.
std::vector<std::string_view> texts_of(const CodeUnit &unit) {
  if (unit.kind == CodeUnit::Kind::Source) {
    return {unit.file().text};
  }
  std::vector<std::string_view> texts;
  const bool is_host = unit.kind == CodeUnit::Kind::Host;
  if (!is_host) {
    for (const CodeText &block : unit.shared().blocks) {
      texts.push_back(block.text);
    }
  }
  for (const KernelId kernel : unit.kernels) {
    const KernelSource &source = unit.source(kernel);
    texts.push_back(is_host ? source.host->text : source.body.text);
  }
  return texts;
}

bool mentions(const CodeUnit &unit, std::string_view word) {
  const auto texts = texts_of(unit);
  return std::any_of(texts.begin(), texts.end(), [word](std::string_view text) {
    return find_word(text, word) != std::string_view::npos;
  });
}

/// The names that CUDA's headers give to a 16-bit type and its pair.
std::array<std::string_view, 4> names_of_small_float(ScalarType type) {
  if (type == ScalarType::F16) {
    return {"half", "half2", "__half", "__half2"};
  }
  return {"nv_bfloat16", "nv_bfloat162", "__nv_bfloat16", "__nv_bfloat162"};
}

/// Type parameters as type names.
std::string replace_types(std::string text, const KernelSource &source) {
  for (const auto &[name, type] : source.types) {
    const std::string_view spelling = cpp_spelling(type);
    for (std::size_t at = find_word(text, name); at != std::string::npos;
         at = find_word(text, name, at + spelling.size())) {
      text.replace(at, name.size(), spelling);
    }
  }
  return text;
}

std::string line_directive(std::uint32_t line, const std::string &name) {
  return "#line " + std::to_string(line) + " \"" + name + "\"\n";
}

/// The text with its lines and columns, between two line ends; `end` is what its last line is
/// called in errors. The empty line ends a comment even when the last line ends in a backslash.
std::string placed(const CodeText &code, const SourceFiles &files, const std::string &name) {
  const SourceFile &file = files[code.range.file];
  std::string text = line_directive(file.line_of(code.range.begin), name);
  text.append(file.column_of(code.range.begin) - 1, ' ');
  text += code.text;
  text += "\n\n";
  return text + line_directive(file.line_of(code.range.end), name);
}

/// What lines of `file` are called in the code of this kernel.
std::string name_for(const CodeUnit &unit, KernelId kernel, FileId file) {
  const std::string &name = unit.all.files[file].name();
  return unit.names_instances && !unit.source(kernel).types.empty()
             ? line_name(name, unit.program[kernel])
             : line_name(name);
}

} // namespace

bool is_small_float(ScalarType type) {
  return type == ScalarType::F16 || type == ScalarType::BF16;
}

std::string_view cpp_spelling(ScalarType type) {
  const auto *found = std::find_if(type_names.begin(), type_names.end(),
                                   [type](const TypeName &name) { return name.type == type; });
  return found->cpp;
}

bool uses_type(const CodeUnit &unit, ScalarType type) {
  const auto has_type = [type](const KernelParam &param) { return param.type == type; };
  const auto is_type = [type](const auto &named) { return named.second == type; };
  for (const KernelId kernel : unit.kernels) {
    const std::vector<KernelParam> &params = unit.program[kernel].params;
    const auto &types = unit.source(kernel).types;
    if (std::any_of(params.begin(), params.end(), has_type) ||
        std::any_of(types.begin(), types.end(), is_type)) {
      return true;
    }
  }
  if (mentions(unit, cgrt::format::spelling(type))) {
    return true;
  }
  if (!is_small_float(type)) {
    return false;
  }
  const auto names = names_of_small_float(type);
  return std::any_of(names.begin(), names.end(),
                     [&unit](std::string_view name) { return mentions(unit, name); });
}

bool launches_graphs(const CodeUnit &unit) {
  const bool is_given =
      std::any_of(unit.kernels.begin(), unit.kernels.end(), [&unit](KernelId kernel) {
        const std::vector<KernelParam> &params = unit.program[kernel].params;
        return std::any_of(params.begin(), params.end(),
                           [](const KernelParam &param) { return param.is_graph; });
      });
  return is_given || mentions(unit, "cudaGraphLaunch") || mentions(unit, "cudaGraphExec_t") ||
         mentions(unit, "cudaGetCurrentGraphExec") || mentions(unit, "cudaGraphDeviceNode_t");
}

bool includes_files(const CodeUnit &unit) {
  return mentions(unit, "include");
}

std::string shared_text(const CodeUnit &unit) {
  std::string text;
  for (const TypeName &name : type_names) {
    const std::string_view spelling = cgrt::format::spelling(name.type);
    if (name.type == ScalarType::Bool || (is_small_float(name.type) && !mentions(unit, spelling))) {
      continue;
    }
    text.append("using ").append(spelling).append(" = ").append(name.cpp).append(";\n");
  }
  for (const ConstantSource &constant : unit.shared().constants) {
    text += "constexpr " + constant.type + " " + constant.name + " = " + constant.value + ";\n";
  }
  if (unit.kind == CodeUnit::Kind::Bodies) {
    for (const CodeText &block : unit.shared().blocks) {
      const std::string &name = unit.all.files[block.range.file].name();
      text += placed(block, unit.all.files, line_name(name));
    }
  }
  return text;
}

std::string body_function(const CodeUnit &unit, KernelId kernel, std::string_view declaration) {
  const Kernel &entry = unit.program[kernel];
  const KernelSource &source = unit.source(kernel);
  const bool is_host = unit.kind == CodeUnit::Kind::Host;
  const CodeText &body = is_host ? *source.host : source.body;
  std::string text = "namespace cgk_" + entry.symbol + " {\n";
  for (const auto &[name, type] : source.types) {
    text.append("using ").append(name).append(" = ").append(cpp_spelling(type)).append(";\n");
  }
  text += line_of_kernel(unit, kernel);
  text.append(declaration).append(parameter_list(entry)).append(") {\n");
  text += placed(body, unit.all.files, name_for(unit, kernel, body.range.file));
  text += "}\n";
  for (const std::string &macro : defined_macros(body.text)) {
    text += "#undef " + macro + "\n";
  }
  text += "}\n";
  return text;
}

std::string source_text(const CodeUnit &unit) {
  const CodeText &file = unit.file();
  std::string text =
      placed(file, unit.all.files, line_name(unit.all.files[file.range.file].name()));
  for (const KernelId kernel : unit.kernels) {
    const Kernel &declared = unit.program[kernel];
    const std::string name = "cgk_" + declared.symbol;
    text += line_of_kernel(unit, kernel);
    text += "using " + name + " = " + function_type(declared) + "; static_assert(sizeof(" + name +
            "{" + function_address(unit, kernel) + "}) != 0, \"\");\n";
  }
  return text;
}

std::string function_address(const CodeUnit &unit, KernelId kernel) {
  const KernelSource &source = unit.source(kernel);
  return "&" + replace_types(source.cuda_symbol, source);
}

std::string line_of_kernel(const CodeUnit &unit, KernelId kernel) {
  const SourceRange &name = unit.source(kernel).name;
  return line_directive(unit.all.files.place(name).line, name_for(unit, kernel, name.file));
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

std::string line_name(std::string_view file_name, const Kernel &instance) {
  return line_name(file_name) + " in " + instance.name;
}

std::string include_folder(const CodeUnit &unit) {
  const SourceRange &text = unit.kind == CodeUnit::Kind::Source
                                ? unit.file().range
                                : unit.source(unit.kernels.front()).name;
  const std::string_view name = unit.all.files[text.file].name();
  const std::size_t slash = name.rfind('/');
  return std::string(slash == std::string_view::npos ? "." : name.substr(0, slash + 1));
}

std::string parameter_type(const KernelParam &param) {
  if (param.is_graph) {
    return "cudaGraphExec_t";
  }
  std::string type(cpp_spelling(param.type));
  if (!param.is_buffer) {
    return type;
  }
  return (param.mode == Mode::In ? "const " : "") + type + " *";
}

std::string parameter_list(const Kernel &kernel) {
  std::string text;
  for (const KernelParam &param : kernel.params) {
    text += (text.empty() ? "" : ", ") + parameter_type(param);
    text += (!param.is_buffer ? " " : kernel.inplace ? "" : "__restrict__ ") + param.name;
  }
  return text;
}

std::string function_type(const Kernel &kernel) {
  std::string types;
  for (const KernelParam &param : kernel.params) {
    types += (types.empty() ? "" : ", ") + parameter_type(param);
  }
  return "void (*)(" + types + ")";
}

std::string argument_list(const Kernel &kernel) {
  std::string text;
  for (const KernelParam &param : kernel.params) {
    text += (text.empty() ? "" : ", ") + param.name;
  }
  return text;
}

} // namespace cgc
