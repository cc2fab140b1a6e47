#include "kernels/cpp_compiler.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Program.h>

#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace cgc {

namespace {

/// The environment with English messages.
std::vector<llvm::StringRef> environment() {
  std::vector<llvm::StringRef> variables;
  for (char **variable = environ; *variable != nullptr; ++variable) {
    if (std::string_view(*variable).substr(0, 7) != "LC_ALL=") {
      variables.emplace_back(*variable);
    }
  }
  variables.emplace_back("LC_ALL=C");
  return variables;
}

} // namespace

llvm::Expected<CppCompiler> CppCompiler::find() {
  if (const char *chosen = std::getenv("CXX"); chosen != nullptr && *chosen != '\0') {
    llvm::SmallVector<llvm::StringRef, 4> words;
    llvm::StringRef(chosen).split(words, ' ', -1, /*KeepEmpty=*/false);
    if (!words.empty()) {
      if (auto found = llvm::sys::findProgramByName(words.front())) {
        return CppCompiler(*found, {words.begin() + 1, words.end()});
      }
    }
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "there is no program '%s', which CXX names", chosen);
  }
  for (const char *name : {"c++", "g++", "clang++"}) {
    if (auto found = llvm::sys::findProgramByName(name)) {
      return CppCompiler(*found, {});
    }
  }
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "there is no C++ compiler: install g++ or clang++, or set CXX");
}

std::string CppCompiler::name() const {
  return llvm::sys::path::filename(program_).str();
}

llvm::Expected<bool> CppCompiler::run(const std::string &source, const std::string &object,
                                      const std::string &log,
                                      const std::vector<std::string> &options) const {
  std::vector<std::string> words = {program_};
  words.insert(words.end(), arguments_.begin(), arguments_.end());
  for (const char *word :
       {"-x", "c++", "-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden",
        "-fno-math-errno",
        // What CUDA programs rest on and ISO C++ leaves undefined.
        "-fno-strict-aliasing", "-fwrapv", "-w", "-s", "-Wl,--build-id=none", "-Wl,--as-needed"}) {
    words.emplace_back(word);
  }
  words.insert(words.end(), options.begin(), options.end());
  // The program comes in through standard input and all names are left out, so that nothing of this
  // machine gets into the image.
  words.insert(words.end(), {"-o", object, "-"});
  const std::vector<llvm::StringRef> arguments(words.begin(), words.end());
  const std::vector<llvm::StringRef> variables = environment();
  std::string why;
  const int status = llvm::sys::ExecuteAndWait(
      program_, arguments, llvm::ArrayRef<llvm::StringRef>(variables),
      {llvm::StringRef(source), llvm::StringRef(), llvm::StringRef(log)}, 0, 0, &why);
  if (status < 0) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s: %s", program_.c_str(),
                                   why.c_str());
  }
  return status == 0;
}

} // namespace cgc
