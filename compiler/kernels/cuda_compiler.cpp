#include "kernels/binary_code.h"
#include "kernels/compiler_log.h"
#include "kernels/kernel_text.h"
#include "kernels/launching_kernels.h"
#include "kernels/nvrtc.h"
#include "kernels/targets.h"

#include "stdlib_kernels.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace cgc {

using cgrt::ScalarType;
using cgrt::format::Image;
using cgrt::format::ImageKind;
using cgrt::format::Kernel;
using cgrt::format::KernelId;
using cgrt::format::Program;

namespace {

std::string unit_text(const CodeUnit &unit) {
  std::string text;
  if (launches_graphs(unit)) {
    text += embedded::stdlib_kernels_graph_launch_cuh;
  }
  if (unit.kind == CodeUnit::Kind::Source) {
    return text + source_text(unit);
  }
  if (uses_type(unit, ScalarType::F16)) {
    text += "#include <cuda_fp16.h>\n";
  }
  if (uses_type(unit, ScalarType::BF16)) {
    text += "#include <cuda_bf16.h>\n";
  }
  text += shared_text(unit);
  for (const KernelId kernel : unit.kernels) {
    text += body_function(unit, kernel, device_body);
  }
  // Behind all bodies, where none of their macros is defined any more.
  for (const KernelId id : unit.kernels) {
    const Kernel &kernel = unit.program[id];
    text += line_of_kernel(unit, id);
    text += "extern \"C\" __global__ void " + kernel.symbol + "(" + parameter_list(kernel) +
            ") { cgk_" + kernel.symbol + "::body(" + argument_list(kernel) + "); }\n";
  }
  return text;
}

/// Expressions for a `.cu` file's kernels, of which there may be several of one name.
std::vector<std::string> wanted_symbols(const CodeUnit &unit) {
  std::vector<std::string> expressions;
  if (unit.kind == CodeUnit::Kind::Source) {
    for (const KernelId kernel : unit.kernels) {
      expressions.push_back("static_cast<" + function_type(unit.program[kernel]) + ">(" +
                            function_address(unit, kernel) + ")");
    }
  }
  return expressions;
}

/// The part of "sm_90a" behind "sm_", where NVRTC knows the number.
std::optional<std::string> capability(const std::string &architecture,
                                      const std::vector<int> &known) {
  if (architecture.rfind("sm_", 0) != 0) {
    return std::nullopt;
  }
  const std::string rest = architecture.substr(3);
  int number = 0;
  const char *end = rest.data() + rest.size();
  const auto [behind, error] = std::from_chars(rest.data(), end, number);
  const std::string suffix(behind, end);
  if (error != std::errc{} || (!suffix.empty() && suffix != "a" && suffix != "f") ||
      std::find(known.begin(), known.end(), number) == known.end()) {
    return std::nullopt;
  }
  return rest;
}

std::string unknown_architecture(const std::string &architecture, const Nvrtc &nvrtc) {
  std::string text = "'" + architecture + "' is no architecture that NVRTC " + nvrtc.version() +
                     " knows; it knows";
  std::string_view separator = " ";
  for (const int known : nvrtc.architectures()) {
    text.append(separator).append("sm_" + std::to_string(known));
    separator = ", ";
  }
  return text;
}

std::vector<std::string> options_for(const CodeUnit &unit, const std::string &architecture,
                                     const Nvrtc &nvrtc) {
  std::vector<std::string> options = {
      "--gpu-architecture=" + architecture,
      "--std=c++17",
      "--device-as-default-execution-space",
      "-lineinfo",
      "--disable-warnings",
  };
  if (includes_files(unit)) {
    options.push_back("--include-path=" + include_folder(unit));
  }
  for (const std::string &folder : nvrtc.include_folders()) {
    options.push_back("--include-path=" + folder);
  }
  return options;
}

class CudaBuild : public TargetBuild {
public:
  CudaBuild(const Program &program, const KernelUnit &all)
      : all_(all), units_(cuda_units(program, all)) {}

  /// Whether NVRTC can do it.
  bool prepare(const std::vector<std::string> &architectures, Diagnostics &diagnostics) {
    if (units_.empty()) {
      return true; // binaries alone
    }
    llvm::Expected<Nvrtc> nvrtc = Nvrtc::load();
    if (!nvrtc) {
      cannot(llvm::toString(nvrtc.takeError()), diagnostics);
      return false;
    }
    nvrtc_.emplace(std::move(*nvrtc));
    const std::vector<int> known = nvrtc_->architectures();
    for (const std::string &architecture : architectures) {
      const std::optional<std::string> number = capability(architecture, known);
      if (!number) {
        diagnostics.report(Diag::UnknownArchitecture, {},
                           unknown_architecture(architecture, *nvrtc_));
        return false;
      }
      const auto same = [&](const Target &target) { return target.architecture == architecture; };
      if (std::none_of(targets_.begin(), targets_.end(), same)) {
        targets_.push_back({architecture, *number});
      }
    }
    runs_.resize(units_.size() * targets_.size());
    return true;
  }

  std::vector<std::function<void()>> jobs() override {
    std::vector<std::function<void()>> result;
    for (std::size_t index = 0; index < runs_.size(); ++index) {
      result.emplace_back([this, index] { run(index); });
    }
    return result;
  }

  void finish(Program &program, Diagnostics &diagnostics) override {
    const std::size_t errors_before = diagnostics.error_count();
    std::vector<Image> images;
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      take(unit, program, images, diagnostics);
    }
    for (std::uint32_t index = 0; index < all_.sources.size(); ++index) {
      if (all_.sources[index].kind == BodyKind::Binary) {
        take_binary({index}, program, images, diagnostics);
      }
    }
    refuse_undeclared_launches(program, images, diagnostics);
    if (diagnostics.error_count() == errors_before) {
      std::move(images.begin(), images.end(), std::back_inserter(program.images));
    }
  }

private:
  struct Target {
    std::string architecture; ///< "sm_90a"
    std::string capability;   ///< "90a"
  };
  struct Run {
    Nvrtc::Output output;
    std::string failure;          ///< of NVRTC itself; empty: none
    bool names_instances = false; ///< whether its log does
  };

  void cannot(const std::string &why, Diagnostics &diagnostics) const {
    diagnostics.report(Diag::KernelCompilerMissing, all_.sources.front().name, "CUDA", why);
  }

  void run(std::size_t index) {
    CodeUnit unit = units_[index / targets_.size()];
    Run &run = runs_[index];
    compile(unit, targets_[index % targets_.size()], run);
    if (run.failure.empty() && !run.output.ok && has_instances(unit)) {
      run.names_instances = unit.names_instances = true;
      compile(unit, targets_[index % targets_.size()], run);
    }
  }

  void compile(const CodeUnit &unit, const Target &target, Run &run) const {
    llvm::Expected<Nvrtc::Output> output = nvrtc_->compile(
        unit_text(unit), options_for(unit, target.architecture, *nvrtc_), wanted_symbols(unit));
    if (output) {
      run.output = std::move(*output);
    } else {
      run.failure = llvm::toString(output.takeError());
    }
  }

  /// The images of one unit, or the errors for its first architecture that has any.
  void take(std::size_t index, Program &program, std::vector<Image> &images,
            Diagnostics &diagnostics) {
    CodeUnit unit = units_[index];
    for (std::size_t target = 0; target < targets_.size(); ++target) {
      Run &run = runs_[index * targets_.size() + target];
      if (!run.failure.empty()) {
        cannot(run.failure, diagnostics);
        return;
      }
      Nvrtc::Output &output = run.output;
      if (!output.ok) {
        unit.names_instances = run.names_instances;
        report_compiler_log(output.log, "NVRTC", unit, diagnostics);
        return;
      }
      for (std::size_t i = 0; i < output.symbols.size(); ++i) {
        program.kernels[unit.kernels[i].index].cuda_symbol = output.symbols[i];
      }
      const auto &[architecture, number] = targets_[target];
      images.push_back({ImageKind::Cubin, architecture, unit.kernels, std::move(output.cubin)});
      images.push_back({ImageKind::Ptx, "compute_" + number, unit.kernels, std::move(output.ptx)});
    }
  }

  /// What a kernel launches must show in its parameters, where all checks of graphs look. A unit's
  /// PTX tells of each kernel, its cubin of all at once.
  void refuse_undeclared_launches(const Program &program, const std::vector<Image> &images,
                                  Diagnostics &diagnostics) const {
    std::set<KernelId> launching;
    for (const Image &image : images) {
      const bool has_ptx = image.kind == ImageKind::Cubin &&
                           all_.sources[image.kernels.front().index].kind != BodyKind::Binary;
      if (!has_ptx) {
        const auto kernels = launching_kernels(program, image);
        launching.insert(kernels.begin(), kernels.end());
      }
    }
    for (const KernelId id : launching) {
      const std::vector<cgrt::format::KernelParam> &params = program[id].params;
      if (std::none_of(params.begin(), params.end(),
                       [](const auto &param) { return param.is_graph; })) {
        diagnostics.report(Diag::LaunchesWithoutParameter, all_.sources[id.index].name,
                           program[id].name);
      }
    }
  }

  /// Kernels with the same binary share its image.
  void take_binary(KernelId id, Program &program, std::vector<Image> &images,
                   Diagnostics &diagnostics) const {
    const KernelSource &source = all_.sources[id.index];
    Kernel &kernel = program.kernels[id.index];
    const auto refuse = [&](const std::string &why) {
      diagnostics.report(Diag::UnusableBinary, source.name, kernel.name, why);
    };
    llvm::Expected<Image> identified = identify_binary(source.binary);
    if (!identified) {
      refuse(llvm::toString(identified.takeError()));
      return;
    }
    if (!mentions_symbol(*identified, source.cuda_symbol)) {
      refuse("it has no symbol '" + source.cuda_symbol + "'");
      return;
    }
    kernel.cuda_symbol = source.cuda_symbol;
    const auto same = std::find_if(images.begin(), images.end(), [&](const Image &image) {
      return image.bytes == identified->bytes;
    });
    Image &image = same == images.end() ? images.emplace_back(std::move(*identified)) : *same;
    image.kernels.push_back(id);
  }

  const KernelUnit &all_;
  std::vector<CodeUnit> units_;
  std::optional<Nvrtc> nvrtc_;
  std::vector<Target> targets_;
  std::vector<Run> runs_; ///< each unit's, target by target
};

} // namespace

std::unique_ptr<TargetBuild> build_for_cuda(const Program &program, const KernelUnit &all,
                                            const std::vector<std::string> &architectures,
                                            Diagnostics &diagnostics) {
  auto build = std::make_unique<CudaBuild>(program, all);
  if (!build->prepare(architectures, diagnostics)) {
    return nullptr;
  }
  return build;
}

} // namespace cgc
