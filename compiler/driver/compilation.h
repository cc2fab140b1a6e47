// The compiler as a function: a .cgraph or .cgir file in, one product out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream; // declared alone, so that users of the header need no LLVM
}

namespace cgc {

/// The phase to stop at, whose product is the result.
enum class Emit : std::uint8_t { Bundle, Check, Ast, Ir, Dot, Header };

/// The devices to compile kernels for. Default is both, or the host alone where there is no NVRTC.
enum class Target : std::uint8_t { Default, Cuda, Host, Both };

struct CompileOptions {
  std::string input; ///< path of the .cgraph file, or of IR text, .cgir
  /// Compiled instead of what is in the file, whose name then only says what it is and where.
  std::optional<std::string> text = {};
  std::vector<std::string> defines;         ///< NAME=VALUE, for file-scope consts of the main file
  std::vector<std::string> include_folders; ///< where imports are looked for, after the file's own
  Emit emit = Emit::Bundle;
  std::string header_name; ///< what a header's classes are named after; empty: the input
  Target target = Target::Default;
  std::vector<std::string> architectures = {"sm_90"}; ///< of the CUDA code
  bool print_after_all = false; ///< prints the IR after lowering and after each pass
  bool time_passes = false;     ///< prints how long each phase took
  bool verify_order =
      false; ///< proves that the edges of every graph suffice, not only explicit ones
  bool warnings_are_errors = false;
  bool colors = false;
};

/// In the order of the tools' exit codes.
enum class CompileStatus : std::uint8_t { Done, InputErrors, WrongUsage, MachineFailed };

struct CompileResult {
  CompileStatus status = CompileStatus::Done;
  std::string output; ///< the bundle's bytes or the text; empty unless Done
  /// The files that the output was made from, what kernels include from their folders among them.
  /// Standard modules and system headers are not.
  std::vector<std::string> inputs;
};

/// Writes diagnostics to `messages` and touches no file but the inputs.
CompileResult compile(const CompileOptions &options, llvm::raw_ostream &messages);

/// The same; appends to a string.
CompileResult compile(const CompileOptions &options, std::string &messages);

} // namespace cgc
