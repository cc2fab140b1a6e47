#include "driver/compilation.h"

#include "driver/defines.h"
#include "driver/phase_timer.h"

#include "diag/diagnostics.h"
#include "emit/dot.h"
#include "emit/header.h"
#include "ir/lower.h"
#include "ir/read.h"
#include "kernels/file_scope.h"
#include "kernels/included_files.h"
#include "kernels/kernel_compiler.h"
#include "parse/modules.h"
#include "passes/launch_races.h"
#include "passes/pass.h"
#include "passes/races.h"
#include "sema/sema.h"

#include "format/bundle.h"

#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace cgc {

namespace {

bool is_ir_file(std::string_view path) {
  return path.ends_with(".cgir");
}

/// One compilation, phase by phase.
class Compilation {
public:
  Compilation(const CompileOptions &options, llvm::raw_ostream &messages)
      : options_(options), messages_(messages), timer_(options.time_passes) {}

  CompileResult run() {
    CompileResult result = run_phases();
    diagnostics_.print(messages_, files_, options_.colors);
    timer_.print(messages_);
    return result;
  }

private:
  /// The table of contents. Each phase has one product and one entry function.
  CompileResult run_phases() {
    if (is_ir_file(options_.input)) {
      return run_from_ir();
    }
    auto defines = parse_defines(options_.defines);
    if (!defines) {
      return fail(CompileStatus::WrongUsage, defines.takeError());
    }
    auto file = timer_.time("read", [&] { return open(); });
    if (!file) {
      return fail(CompileStatus::InputErrors, file.takeError());
    }

    const ModuleTrees trees = timer_.time("parse", [&] {
      return load_modules(files_, *file, options_.include_folders, diagnostics_);
    });
    if (llvm::Error unknown = check_defines(*defines, *trees.back())) {
      return fail(CompileStatus::WrongUsage, std::move(unknown));
    }
    if (options_.emit == Emit::Ast) {
      return done(ast::print(*trees.back()));
    }

    const CheckedProgram checked =
        timer_.time("sema", [&] { return check(trees, files_, *defines, diagnostics_); });
    Module module = timer_.time("lower", [&] { return lower(checked, files_, diagnostics_); });
    verify_after("lower", module);

    for (const Pass &pass : passes()) {
      timer_.time(pass.name, [&] { pass.run(module, diagnostics_); });
      verify_after(pass.name, module);
    }
    if (diagnostics_.has_errors()) {
      return {CompileStatus::InputErrors, "", {}};
    }

    return finish(module);
  }

  llvm::Expected<FileId> open() {
    return options_.text ? files_.take(options_.input, *options_.text)
                         : files_.open(options_.input);
  }

  /// IR has been through the passes.
  CompileResult run_from_ir() {
    if (options_.emit == Emit::Ast || !options_.defines.empty()) {
      return fail(CompileStatus::WrongUsage,
                  llvm::createStringError(llvm::inconvertibleErrorCode(),
                                          "%s is IR, which has neither a syntax tree nor consts: "
                                          "--emit=ast and -D take a .cgraph file",
                                          options_.input.c_str()));
    }
    auto file = timer_.time("read", [&] { return open(); });
    if (!file) {
      return fail(CompileStatus::InputErrors, file.takeError());
    }
    auto module = timer_.time("parse", [&] { return read_ir(files_, *file, diagnostics_); });
    return module ? finish(*module) : CompileResult{CompileStatus::InputErrors, "", {}};
  }

  /// The product, from the finished IR.
  CompileResult finish(Module &module) {
    timer_.time("races", [&] {
      check_races(module, options_.verify_order, files_, diagnostics_);
      check_launch_races(module, diagnostics_);
    });
    const KernelUnit unit = {files_, module.scopes, module.kernel_sources};
    const bool has_code = options_.emit == Emit::Bundle || options_.emit == Emit::Header;
    if (!has_code) {
      check_blocks(unit, diagnostics_); // which compile_kernels() does, too
    }
    if (diagnostics_.has_errors()) {
      return {CompileStatus::InputErrors, "", {}};
    }
    switch (options_.emit) {
    case Emit::Ast:
    case Emit::Check:
      return done("");
    case Emit::Ir:
      return done(print(module, files_));
    case Emit::Dot:
      return done(emit_dot(module.program));
    case Emit::Bundle:
    case Emit::Header:
      break;
    }

    timer_.time("kernels",
                [&] { compile_kernels(module.program, unit, kernel_options(), diagnostics_); });
    const auto bundle =
        timer_.time("emit", [&] { return cgrt::format::encode_bundle(module.program); });
    if (options_.emit == Emit::Header) {
      const std::string name = options_.header_name.empty()
                                   ? llvm::sys::path::stem(options_.input).str()
                                   : options_.header_name;
      return done(emit_header(module.program, bundle, name));
    }
    return done({reinterpret_cast<const char *>(bundle.data()), bundle.size()});
  }

  CompileResult done(std::string output) {
    if (options_.warnings_are_errors) {
      diagnostics_.promote_warnings();
    }
    if (diagnostics_.has_errors()) {
      return {failure_status(), "", {}};
    }
    add_included_files(files_);
    return {CompileStatus::Done, std::move(output), files_.inputs()};
  }

  /// Whose fault it is: the input's, unless every error is of the command line or the machine.
  CompileStatus failure_status() const {
    const auto only = [&](Diag id) {
      const auto &all = diagnostics_.all();
      return std::all_of(all.begin(), all.end(),
                         [id](const Diagnostic &diagnostic) { return diagnostic.id == id; });
    };
    return only(Diag::KernelCompilerMissing) ? CompileStatus::MachineFailed
           : only(Diag::UnknownArchitecture) ? CompileStatus::WrongUsage
                                             : CompileStatus::InputErrors;
  }

  CompileResult fail(CompileStatus status, llvm::Error error) {
    messages_ << "error: " << llvm::toString(std::move(error)) << "\n";
    return {status, "", {}};
  }

  /// A program that breaks a rule here is a bug of the compiler, not of its input.
  void verify_after(std::string_view phase, const Module &module) {
    if (diagnostics_.has_errors()) {
      return; // parts of it are missing; the passes look at the rest
    }
    if (options_.print_after_all) {
      messages_ << "; after " << phase << "\n" << print(module);
    }
    const auto problems = cgrt::format::verify(module.program, 1);
    if (!problems.empty()) {
      llvm::report_fatal_error(llvm::Twine("the program is broken after '") + std::string(phase) +
                               "': " + problems.front());
    }
  }

  KernelCompileOptions kernel_options() const {
    KernelCompileOptions options;
    options.host = options_.target != Target::Cuda;
    options.cuda = options_.target == Target::Cuda || options_.target == Target::Both ||
                   (options_.target == Target::Default && cuda_available());
    options.architectures = options_.architectures;
    return options;
  }

  bool cuda_available() const {
    std::string reason;
    if (cuda_compiler_available(&reason)) {
      return true;
    }
    messages_ << "note: the bundle holds code for the host device alone: " << reason << "\n";
    return false;
  }

  const CompileOptions &options_;
  llvm::raw_ostream &messages_;
  SourceFiles files_;
  Diagnostics diagnostics_;
  PhaseTimer timer_;
};

} // namespace

CompileResult compile(const CompileOptions &options, llvm::raw_ostream &messages) {
  return Compilation(options, messages).run();
}

CompileResult compile(const CompileOptions &options, std::string &messages) {
  llvm::raw_string_ostream stream(messages);
  return compile(options, stream);
}

} // namespace cgc
