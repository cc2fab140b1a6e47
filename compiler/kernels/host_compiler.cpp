// Kernels for the host device: the same bodies behind a header that speaks CUDA, compiled by the
// system's C++ compiler into a shared object.
#include "format/host_abi.h"
#include "host_code.h"
#include "kernels/compiler_log.h"
#include "kernels/kernel_text.h"
#include "kernels/shared_memory.h"
#include "kernels/targets.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>
#include <unistd.h>

namespace cgc {

using cgrt::ScalarType;
using cgrt::format::Image;
using cgrt::format::ImageKind;
using cgrt::format::Kernel;
using cgrt::format::KernelId;
using cgrt::format::KernelParam;
using cgrt::format::Program;

namespace {

/// "const float *" for an `in` buffer, "int" for a scalar.
std::string argument_type(const KernelParam &param) {
  std::string type(cpp_spelling(param.type));
  if (!param.is_buffer) {
    return type;
  }
  return (param.mode == cgrt::format::Mode::In ? "const " : "") + type + " *";
}

std::string entry_point(const Kernel &kernel) {
  std::string arguments;
  std::string text = "extern \"C\" CG_EXPORT void " +
                     std::string(cgrt::format::host_symbol_prefix) + kernel.symbol +
                     "(cg_host::Block *block, const unsigned long long *arguments) {\n"
                     "  cg_host::enter(block);\n";
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const std::string index = std::to_string(i);
    text += "  const auto a" + index + " = cg_host::argument<" + argument_type(kernel.params[i]) +
            ">(arguments, " + index + ");\n";
    arguments += (i == 0 ? "a" : ", a") + index;
  }
  return text + "  while (cg_host::next_thread(block)) {\n    cgk_" + kernel.symbol + "::body(" +
         arguments + ");\n  }\n}\n";
}

std::string program_text(const Program &program, const KernelUnit &unit) {
  std::string text;
  const auto add = [&text](std::string_view part) { text.append(part); };
  add(embedded::host_code_host_abi_h);
  add(embedded::host_code_vectors_h);
  add(embedded::host_code_threads_h);
  add(embedded::host_code_warp_h);
  add(embedded::host_code_math_h);
  add(embedded::host_code_intrinsics_h);
  add(embedded::host_code_atomics_h);
  if (uses_type(program, unit, ScalarType::F16) || uses_type(program, unit, ScalarType::BF16)) {
    add(embedded::host_code_small_floats_h);
    add(embedded::host_code_small_float_pairs_h);
  }
  add("#define CG_EXPORT __attribute__((visibility(\"default\")))\n"
      "extern \"C\" {\n"
      "CG_EXPORT extern const unsigned cg_host_abi;\n"
      "const unsigned cg_host_abi = cgrt::host_abi::version;\n"
      "}\n");
  add(types_and_constants(unit));
  for (std::uint32_t index = 0; index < program.kernels.size(); ++index) {
    add(rewrite_shared_memory(body_function(program, KernelId{index}, unit)));
  }
  // Behind all bodies, where none of their macros is defined any more.
  for (std::uint32_t index = 0; index < program.kernels.size(); ++index) {
    add(line_of_kernel(unit.sources[index], unit.files));
    add(entry_point(program.kernels[index]));
  }
  return text;
}

/// A folder of this user's for temporary files, removed in the end with what is in it.
class TemporaryFolder {
public:
  TemporaryFolder() : error_(llvm::sys::fs::createUniqueDirectory("cgraph", path_)) {}
  ~TemporaryFolder() {
    if (!error_) {
      llvm::sys::fs::remove_directories(path_);
    }
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::error_code error() const { return error_; }
  std::string file(llvm::StringRef name) const { return (path_ + "/" + name).str(); }

private:
  llvm::SmallString<128> path_;
  std::error_code error_;
};

/// The command that starts the compiler, its own arguments first.
struct Compiler {
  std::string program;
  std::vector<std::string> arguments;

  llvm::StringRef name() const { return llvm::sys::path::filename(program); }
};

llvm::Expected<Compiler> find_compiler() {
  if (const char *chosen = std::getenv("CXX"); chosen != nullptr && *chosen != '\0') {
    // As make and CMake have it: words, of which the first is the program.
    llvm::SmallVector<llvm::StringRef, 4> words;
    llvm::StringRef(chosen).split(words, ' ', -1, /*KeepEmpty=*/false);
    if (!words.empty()) {
      if (auto found = llvm::sys::findProgramByName(words.front())) {
        return Compiler{*found, {words.begin() + 1, words.end()}};
      }
    }
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "there is no program '%s', which CXX names", chosen);
  }
  for (const char *name : {"c++", "g++", "clang++"}) {
    if (auto found = llvm::sys::findProgramByName(name)) {
      return Compiler{*found, {}};
    }
  }
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "there is no C++ compiler: install g++ or clang++, or set CXX");
}

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

struct Outcome {
  bool ok = false;
  std::string log;   ///< of the compiler, where not ok
  std::string image; ///< where ok
};

llvm::Expected<std::string> read(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    return llvm::createStringError(buffer.getError(), "cannot read %s", path.c_str());
  }
  return (*buffer)->getBuffer().str();
}

llvm::Error write(const std::string &path, const std::string &text) {
  std::error_code code;
  llvm::raw_fd_ostream out(path, code);
  if (!code) {
    out << text;
    out.close();
    code = out.error();
    out.clear_error();
  }
  return code ? llvm::createStringError(code, "cannot write %s: %s", path.c_str(),
                                        code.message().c_str())
              : llvm::Error::success();
}

/// The program comes in through standard input and all names are left out, so that nothing of this
/// machine gets into the image.
std::vector<std::string> command(const Compiler &compiler, const std::string &output) {
  std::vector<std::string> words = {compiler.program};
  words.insert(words.end(), compiler.arguments.begin(), compiler.arguments.end());
  for (const char *word : {"-x", "c++", "-std=c++17", "-O2", "-fPIC", "-shared",
                           "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-fno-math-errno",
                           // What CUDA programs rest on and ISO C++ leaves undefined.
                           "-fno-strict-aliasing", "-fwrapv", "-w", "-s", "-Wl,--build-id=none",
                           "-Wl,--as-needed", "-o"}) {
    words.emplace_back(word);
  }
  words.push_back(output);
  words.emplace_back("-");
  return words;
}

llvm::Expected<Outcome> compile(const Compiler &compiler, const std::string &text) {
  const TemporaryFolder folder;
  if (folder.error()) {
    return llvm::createStringError(folder.error(), "cannot make a temporary folder: %s",
                                   folder.error().message().c_str());
  }
  const std::string source = folder.file("source");
  const std::string object = folder.file("object");
  const std::string log = folder.file("log");
  if (llvm::Error error = write(source, text)) {
    return error;
  }
  const std::vector<std::string> words = command(compiler, object);
  const std::vector<llvm::StringRef> arguments(words.begin(), words.end());
  const std::vector<llvm::StringRef> variables = environment();
  std::string why;
  const int status = llvm::sys::ExecuteAndWait(
      compiler.program, arguments, llvm::ArrayRef<llvm::StringRef>(variables),
      {llvm::StringRef(source), llvm::StringRef(), llvm::StringRef(log)}, 0, 0, &why);
  if (status < 0) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s: %s",
                                   compiler.program.c_str(), why.c_str());
  }
  llvm::Expected<std::string> result = read(status == 0 ? object : log);
  if (!result) {
    return result.takeError();
  }
  return status == 0 ? Outcome{true, {}, std::move(*result)}
                     : Outcome{false, std::move(*result), {}};
}

} // namespace

void compile_for_host(Program &program, const KernelUnit &unit, Diagnostics &diagnostics) {
  const auto cannot = [&](llvm::Error error) {
    diagnostics.report(Diag::KernelCompilerMissing, unit.sources.front().name, "host",
                       llvm::toString(std::move(error)));
  };
  llvm::Expected<Compiler> compiler = find_compiler();
  if (!compiler) {
    cannot(compiler.takeError());
    return;
  }
  llvm::Expected<Outcome> outcome = compile(*compiler, program_text(program, unit));
  if (!outcome) {
    cannot(outcome.takeError());
    return;
  }
  if (!outcome->ok) {
    report_compiler_log(outcome->log, compiler->name().str(), unit, diagnostics);
    return;
  }
  const auto *bytes = reinterpret_cast<const std::byte *>(outcome->image.data());
  program.images.push_back({ImageKind::HostSharedObject,
                            cgrt::host_abi::architecture,
                            all_kernels(program),
                            {bytes, bytes + outcome->image.size()}});
}

} // namespace cgc
