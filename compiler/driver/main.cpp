// cgc: the command line of the compiler.
#include "driver/compilation.h"
#include "emit/dependency_file.h"
#include "emit/output_file.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Process.h>
#include <llvm/Support/raw_ostream.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace cl = llvm::cl;

constexpr int wrong_usage = 2;
constexpr int machine_failed = 3;

cl::OptionCategory category("cgc options");

struct CommandLine {
  cl::opt<std::string> input{cl::Positional, cl::desc("FILE.cgraph or FILE.cgir"), cl::Required,
                             cl::cat(category)};
  cl::opt<std::string> output{
      "o", cl::value_desc("FILE"), cl::cat(category),
      cl::desc("Where to write; '-' is standard output (default: FILE.cgb in "
               "the current folder for a bundle, else standard output)")};
  cl::opt<cgc::Emit> emit{
      "emit", cl::desc("What to make:"), cl::init(cgc::Emit::Bundle), cl::cat(category),
      cl::values(
          clEnumValN(cgc::Emit::Bundle, "bundle", "a bundle for cgrun and cgrt (default)"),
          clEnumValN(cgc::Emit::Check, "check", "diagnostics alone"),
          clEnumValN(cgc::Emit::Ast, "ast", "the syntax tree"),
          clEnumValN(cgc::Emit::Ir, "ir", "the Graph IR"),
          clEnumValN(cgc::Emit::Dot, "dot", "the graphs for Graphviz"),
          clEnumValN(cgc::Emit::Header, "header", "a C++ header with the bundle and classes"))};
  cl::opt<cgc::Target> target{
      "target", cl::desc("Which devices to compile kernels for:"), cl::init(cgc::Target::Default),
      cl::cat(category),
      cl::values(
          clEnumValN(cgc::Target::Cuda, "cuda", "CUDA devices"),
          clEnumValN(cgc::Target::Host, "host", "the host device"),
          clEnumValN(cgc::Target::Both, "both", "both (default; without NVRTC the host alone)"))};
  cl::list<std::string> architectures{"arch", cl::CommaSeparated, cl::value_desc("sm_90,..."),
                                      cl::cat(category),
                                      cl::desc("CUDA architectures to compile for")};
  cl::list<std::string> defines{"D", cl::Prefix, cl::value_desc("NAME=VALUE"), cl::cat(category),
                                cl::desc("The value of a file-scope const")};
  cl::list<std::string> include_folders{"I", cl::Prefix, cl::value_desc("DIR"), cl::cat(category),
                                        cl::desc("A folder to look for imports in")};
  cl::opt<bool> dependencies{
      "MD", cl::cat(category),
      cl::desc("Write a makefile's rule that names the files that the output was made from")};
  cl::opt<std::string> dependency_file{
      "MF", cl::Prefix, cl::value_desc("FILE"), cl::cat(category),
      cl::desc("Where -MD writes (default: the output with the extension .d)")};
  cl::opt<bool> werror{"Werror", cl::cat(category), cl::desc("Make errors of warnings")};
  cl::opt<bool> verify_order{
      "verify-order", cl::cat(category),
      cl::desc("Prove that the edges of every graph order all its conflicts")};
  cl::opt<bool> print_after_all{"print-after-all", cl::cat(category),
                                cl::desc("Print the IR after lowering and after each pass")};
  cl::opt<bool> time_passes{"time-passes", cl::cat(category),
                            cl::desc("Print how long each phase took")};
};

/// FILE.cgb in the current folder for a bundle, else standard output.
std::string output_path(const CommandLine &line) {
  if (line.output.getNumOccurrences() != 0) {
    return line.output;
  }
  return line.emit == cgc::Emit::Bundle ? llvm::sys::path::stem(line.input).str() + ".cgb" : "-";
}

/// Where -MD writes.
std::optional<std::string> dependency_path(const CommandLine &line, llvm::StringRef output) {
  if (!line.dependencies) {
    return std::nullopt;
  }
  if (line.dependency_file.getNumOccurrences() != 0) {
    return line.dependency_file;
  }
  llvm::SmallString<256> path(output);
  llvm::sys::path::replace_extension(path, ".d");
  return path.str().str();
}

int usage_error(const llvm::Twine &message) {
  llvm::errs() << "cgc: error: " << message << "\n";
  return wrong_usage;
}

/// Of "folder/saxpy.cgraph.h" "saxpy": two headers of one program need other classes.
std::string header_name(llvm::StringRef output) {
  return output == "-" ? "" : llvm::sys::path::filename(output).split('.').first.str();
}

cgc::CompileOptions compile_options(const CommandLine &line, llvm::StringRef output) {
  cgc::CompileOptions options;
  options.input = line.input;
  options.defines.assign(line.defines.begin(), line.defines.end());
  options.include_folders.assign(line.include_folders.begin(), line.include_folders.end());
  options.warnings_are_errors = line.werror;
  options.emit = line.emit;
  options.header_name = header_name(output);
  options.target = line.target;
  if (line.architectures.getNumOccurrences() != 0) {
    options.architectures.assign(line.architectures.begin(), line.architectures.end());
  }
  options.verify_order = line.verify_order;
  options.print_after_all = line.print_after_all;
  options.time_passes = line.time_passes;
  options.colors = llvm::sys::Process::StandardErrHasColors();
  return options;
}

/// What is wrong with the names of the outputs, or nothing.
std::string check_outputs(const CommandLine &line, const std::string &output,
                          const std::optional<std::string> &dependencies) {
  const auto replaces_input = [&line](const std::string &path) {
    return path != "-" && llvm::sys::fs::equivalent(path, line.input);
  };
  if (line.emit == cgc::Emit::Check && line.output.getNumOccurrences() != 0) {
    return "--emit=check writes nothing; leave out -o";
  }
  if (line.dependency_file.getNumOccurrences() != 0 && !line.dependencies) {
    return "-MF names the file that -MD writes; give -MD, too";
  }
  if (dependencies && (output == "-" || line.emit == cgc::Emit::Check)) {
    return "-MD describes an output file; name one with -o";
  }
  if (dependencies == output) {
    return "-MD would replace the output '" + output + "'; name another file with -MF";
  }
  if (output == "-" && line.emit == cgc::Emit::Bundle &&
      llvm::sys::Process::StandardOutIsDisplayed()) {
    return "a bundle is not written to a terminal; name a file with -o";
  }
  if (replaces_input(output) || (dependencies && replaces_input(*dependencies))) {
    return "the output would replace the input '" + line.input + "'";
  }
  return "";
}

llvm::Error write(const cgc::CompileResult &result, const std::string &output,
                  const std::optional<std::string> &dependencies) {
  std::vector<cgc::OutputFile> files = {{output, result.output}};
  std::string rule;
  if (dependencies) {
    auto made = cgc::dependency_rule(output, result.inputs);
    if (!made) {
      return made.takeError();
    }
    rule = std::move(*made);
    files.push_back({*dependencies, rule});
  }
  return cgc::write_outputs(files);
}

int run(const CommandLine &line) {
  const std::string output = output_path(line);
  const std::optional<std::string> dependencies = dependency_path(line, output);
  if (const std::string wrong = check_outputs(line, output, dependencies); !wrong.empty()) {
    return usage_error(wrong);
  }
  const cgc::CompileResult result = cgc::compile(compile_options(line, output), llvm::errs());
  if (result.status != cgc::CompileStatus::Done || line.emit == cgc::Emit::Check) {
    return static_cast<int>(result.status);
  }
  int status = 0;
  llvm::handleAllErrors(write(result, output, dependencies), [&](const llvm::StringError &error) {
    llvm::errs() << "cgc: error: " << error.getMessage() << "\n";
    const std::error_code code = error.convertToErrorCode();
    const bool machine = code == std::errc::no_space_on_device || code == std::errc::io_error;
    status = machine ? machine_failed : wrong_usage;
  });
  return status;
}

void print_version(llvm::raw_ostream &out) {
  out << "cgc " << CGRAPH_VERSION << "\n";
}

} // namespace

int main(int argc, char **argv) {
  const CommandLine line;
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter(print_version);
  if (!cl::ParseCommandLineOptions(argc, argv, "cgc: the cgraph compiler\n", &llvm::errs())) {
    return wrong_usage;
  }
  return run(line);
}
