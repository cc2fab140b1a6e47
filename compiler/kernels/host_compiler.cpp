// Kernels for the host device: the same bodies behind a header that speaks CUDA, or their own
// `host { }` in plain C++, compiled by the system's C++ compiler into shared objects.
#include "format/host_abi.h"
#include "kernels/compiler_log.h"
#include "kernels/cpp_compiler.h"
#include "kernels/file_scope.h"
#include "kernels/host_text.h"
#include "kernels/kernel_text.h"
#include "kernels/targets.h"
#include "kernels/temporary_folder.h"

#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <array>
#include <optional>

namespace cgc {

using cgrt::format::ImageKind;
using cgrt::format::Program;

namespace {

constexpr std::string_view hint =
    "the host device runs CUDA C++, but no inline PTX, cooperative groups, tensor cores, textures "
    "or CUDA's libraries: a kernel with those needs a 'host { … }' body, or --target=cuda";

/// What kernels include for things that the host header offers: empty files.
constexpr auto offered_headers = std::to_array<const char *>(
    {"cuda_runtime.h", "cuda_runtime_api.h", "cuda_fp16.h", "cuda_bf16.h",
     "device_launch_parameters.h", "vector_types.h", "vector_functions.h"});

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

class HostBuild : public TargetBuild {
public:
  HostBuild(const Program &program, const KernelUnit &all)
      : program_(program), all_(all), units_(host_units(program, all)), runs_(units_.size()) {}

  /// Whether the kernels are ones for the host device, and there is a compiler.
  bool prepare(Diagnostics &diagnostics) {
    const std::size_t errors_before = diagnostics.error_count();
    check_kernels(diagnostics);
    if (units_.empty() || diagnostics.error_count() != errors_before) {
      return diagnostics.error_count() == errors_before;
    }
    llvm::Expected<CppCompiler> compiler = CppCompiler::find();
    if (!compiler) {
      cannot(llvm::toString(compiler.takeError()), diagnostics);
      return false;
    }
    compiler_.emplace(std::move(*compiler));
    return make_folder(diagnostics);
  }

  std::vector<std::function<void()>> jobs() override {
    std::vector<std::function<void()>> result;
    for (std::size_t index = 0; index < units_.size(); ++index) {
      result.emplace_back([this, index] { run(index); });
    }
    return result;
  }

  void finish(Program &program, Diagnostics &diagnostics) override {
    const std::size_t errors_before = diagnostics.error_count();
    for (std::size_t index = 0; index < units_.size(); ++index) {
      const Run &run = runs_[index];
      const bool is_host = units_[index].kind == CodeUnit::Kind::Host;
      if (!run.failure.empty()) {
        cannot(run.failure, diagnostics);
      } else if (!run.ok) {
        report_compiler_log(run.output, compiler_->name(), units_[index], diagnostics,
                            is_host ? std::string_view() : hint);
      }
    }
    if (diagnostics.error_count() != errors_before) {
      return;
    }
    for (std::size_t index = 0; index < units_.size(); ++index) {
      const std::string &object = runs_[index].output;
      const auto *bytes = reinterpret_cast<const std::byte *>(object.data());
      program.images.push_back({ImageKind::HostSharedObject,
                                cgrt::host_abi::architecture,
                                units_[index].kernels,
                                {bytes, bytes + object.size()}});
    }
  }

private:
  struct Run {
    bool ok = false;
    std::string output;  ///< the shared object, or the compiler's log
    std::string failure; ///< of the compiler itself; empty: none
  };
  static constexpr std::size_t files_per_unit = 3;

  void cannot(const std::string &why, Diagnostics &diagnostics) const {
    diagnostics.report(Diag::KernelCompilerMissing, all_.sources.front().name, "host", why);
  }

  /// What no compiler needs to be asked.
  void check_kernels(Diagnostics &diagnostics) const {
    for (std::uint32_t index = 0; index < all_.sources.size(); ++index) {
      const KernelSource &source = all_.sources[index];
      if (source.kind == BodyKind::Binary && !source.host) {
        diagnostics.report(Diag::NeedsHostBody, source.name, program_.kernels[index].name);
      }
    }
    for (const CodeUnit &unit : units_) {
      if (unit.kind == CodeUnit::Kind::Source) {
        check_file_scope(unit.file(), diagnostics);
      } else if (unit.kind == CodeUnit::Kind::Bodies) {
        for (const CodeText &block : unit.shared().blocks) {
          check_file_scope(block, diagnostics);
        }
      }
    }
  }

  /// One for all three files of each unit, and the headers that are offered anyway.
  bool make_folder(Diagnostics &diagnostics) {
    std::vector<std::string> names;
    for (std::size_t index = 0; index < units_.size(); ++index) {
      for (const char *name : {"source", "object", "log"}) {
        names.push_back(name + std::to_string(index));
      }
    }
    names.insert(names.end(), offered_headers.begin(), offered_headers.end());
    folder_.emplace(names);
    if (folder_->error()) {
      cannot("cannot make a temporary folder: " + folder_->error().message(), diagnostics);
      return false;
    }
    for (std::size_t header = 0; header < offered_headers.size(); ++header) {
      if (llvm::Error error = write(folder_->file(units_.size() * files_per_unit + header), "")) {
        cannot(llvm::toString(std::move(error)), diagnostics);
        return false;
      }
    }
    return true;
  }

  void run(std::size_t index) {
    CodeUnit unit = units_[index];
    Run &run = runs_[index];
    const auto compile_unit = [&] {
      if (llvm::Error error = compile(unit, index, run)) {
        run.failure = llvm::toString(std::move(error));
      }
    };
    compile_unit();
    if (run.failure.empty() && !run.ok && has_instances(unit)) {
      units_[index].names_instances = unit.names_instances = true;
      compile_unit();
    }
  }

  llvm::Error compile(const CodeUnit &unit, std::size_t index, Run &run) const {
    const std::string &source = folder_->file(index * files_per_unit);
    const std::string &object = folder_->file(index * files_per_unit + 1);
    const std::string &log = folder_->file(index * files_per_unit + 2);
    if (llvm::Error error = write(source, host_text(unit))) {
      return error;
    }
    std::vector<std::string> options;
    if (unit.kind != CodeUnit::Kind::Host) {
      options = {"-fno-exceptions", "-fno-rtti", "-I", include_folder(unit), "-I", folder_->path()};
    }
    llvm::Expected<bool> ok = compiler_->run(source, object, log, options);
    if (!ok) {
      return ok.takeError();
    }
    run.ok = *ok;
    llvm::Expected<std::string> output = read(run.ok ? object : log);
    if (!output) {
      return output.takeError();
    }
    run.output = std::move(*output);
    return llvm::Error::success();
  }

  const Program &program_;
  const KernelUnit &all_;
  std::vector<CodeUnit> units_;
  std::vector<Run> runs_; ///< parallel to the units
  std::optional<CppCompiler> compiler_;
  std::optional<TemporaryFolder> folder_;
};

} // namespace

std::unique_ptr<TargetBuild> build_for_host(const Program &program, const KernelUnit &all,
                                            Diagnostics &diagnostics) {
  auto build = std::make_unique<HostBuild>(program, all);
  if (!build->prepare(diagnostics)) {
    return nullptr;
  }
  return build;
}

} // namespace cgc
