// The system's C++ compiler, as a program that is run.
#pragma once

#include <llvm/Support/Error.h>

#include <string>
#include <vector>

namespace cgc {

/// The command that starts a compiler.
class CppCompiler {
public:
  /// What CXX names, words as make and CMake have it, else c++, g++ or clang++.
  static llvm::Expected<CppCompiler> find();

  /// "g++"
  std::string name() const;

  /// Makes a shared object of a C++17 program. `source`, `object` and `log` are file names; the log
  /// gets the compiler's messages, in English. Returns whether it succeeded; the error is for a
  /// compiler that could not be run.
  llvm::Expected<bool> run(const std::string &source, const std::string &object,
                           const std::string &log, const std::vector<std::string> &options) const;

private:
  CppCompiler(std::string program, std::vector<std::string> arguments)
      : program_(std::move(program)), arguments_(std::move(arguments)) {}

  std::string program_;
  std::vector<std::string> arguments_; ///< its own, first
};

} // namespace cgc
