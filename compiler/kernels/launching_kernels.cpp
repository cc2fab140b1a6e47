#include "kernels/launching_kernels.h"

#include "kernels/cpp_tokens.h"

#include <map>

namespace cgc {

using cgrt::format::Image;
using cgrt::format::ImageKind;
using cgrt::format::KernelId;

namespace {

constexpr std::string_view launch_function = "cudaGraphLaunch";

/// A function of a PTX module and the words in its body.
struct PtxFunction {
  bool is_entry = false;
  std::set<std::string> words;
};

/// `.entry NAME (…) { … }` and `.func (…) NAME (…) { … }`; what ends in a `;` has no body.
std::map<std::string, PtxFunction> functions_in(std::string_view ptx) {
  std::map<std::string, PtxFunction> functions;
  std::string name;
  bool is_entry = false;
  bool wants_name = false;
  int parentheses = 0;
  int braces = 0;
  for (const CppToken &token : cpp_tokens(ptx)) {
    const std::string_view word = text_of(token, ptx);
    if (word == "{" || word == "}") {
      braces += word == "{" ? 1 : -1;
      if (braces == 0) {
        name.clear();
      }
    } else if (braces > 0) {
      if (!name.empty()) {
        functions[name].words.emplace(word);
      }
    } else if (word == "(" || word == ")") {
      parentheses += word == "(" ? 1 : -1;
    } else if (parentheses > 0) {
      continue;
    } else if (word == "entry" || word == "func") {
      is_entry = word == "entry";
      wants_name = true;
      name.clear();
    } else if (word == ";") {
      functions.erase(name);
      name.clear();
      wants_name = false;
    } else if (wants_name) {
      name = word;
      functions[name].is_entry = is_entry;
      wants_name = false;
    }
  }
  return functions;
}

} // namespace

std::set<std::string> launching_entries(std::string_view ptx) {
  std::set<std::string> entries;
  if (ptx.find(launch_function) == std::string_view::npos) {
    return entries;
  }
  const std::map<std::string, PtxFunction> functions = functions_in(ptx);
  std::set<std::string> launching = {std::string(launch_function)};
  for (std::size_t before = 0; before != launching.size();) {
    before = launching.size();
    for (const auto &[name, function] : functions) {
      for (const std::string &word : function.words) {
        if (launching.contains(word)) {
          launching.insert(name);
          break;
        }
      }
    }
  }
  for (const auto &[name, function] : functions) {
    if (function.is_entry && launching.contains(name)) {
      entries.insert(name);
    }
  }
  return entries;
}

std::vector<KernelId> launching_kernels(const cgrt::format::Program &program, const Image &image) {
  const std::string_view text(reinterpret_cast<const char *>(image.bytes.data()),
                              image.bytes.size());
  if (text.find(launch_function) == std::string_view::npos) {
    return {};
  }
  if (image.kind != ImageKind::Ptx) {
    return image.kernels;
  }
  const std::set<std::string> entries = launching_entries(text);
  std::vector<KernelId> kernels;
  for (const KernelId kernel : image.kernels) {
    if (entries.contains(program[kernel].cuda_name())) {
      kernels.push_back(kernel);
    }
  }
  return kernels;
}

} // namespace cgc
