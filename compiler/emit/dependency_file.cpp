#include "emit/dependency_file.h"

namespace cgc {

namespace {

/// A backslash is itself, unless blanks come behind it.
std::string escaped(const std::string &name) {
  std::string text;
  std::size_t backslashes = 0;
  for (const char c : name) {
    if (c == ' ' || c == '\t') {
      text.append(backslashes + 1, '\\');
    } else if (c == '#') {
      text += '\\';
    } else if (c == '$') {
      text += '$';
    }
    text += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  return text;
}

} // namespace

llvm::Expected<std::string> dependency_rule(const std::string &output,
                                            const std::vector<std::string> &inputs) {
  std::string rule = escaped(output) + ":";
  std::string names = output;
  for (const std::string &input : inputs) {
    rule += " \\\n  " + escaped(input);
    names += input;
  }
  if (names.find('\n') != std::string::npos) {
    return llvm::createStringError(
        std::errc::invalid_argument,
        "a file's name has a line end, which no dependency file can hold");
  }
  return rule + "\n";
}

} // namespace cgc
