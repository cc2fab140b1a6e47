#include "kernels/compiler_log.h"
#include "kernels/kernel_text.h"
#include "kernels/nvrtc.h"
#include "kernels/targets.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace cgc {

using cgrt::ScalarType;
using cgrt::format::Image;
using cgrt::format::ImageKind;
using cgrt::format::Kernel;
using cgrt::format::KernelId;
using cgrt::format::Program;

namespace {

std::string program_text(const Program &program, const KernelUnit &unit) {
  std::string text;
  if (uses_type(program, unit, ScalarType::F16)) {
    text += "#include <cuda_fp16.h>\n";
  }
  if (uses_type(program, unit, ScalarType::BF16)) {
    text += "#include <cuda_bf16.h>\n";
  }
  text += types_and_constants(unit);
  for (std::uint32_t index = 0; index < program.kernels.size(); ++index) {
    text += body_function(program, KernelId{index}, unit);
  }
  // Behind all bodies, where none of their macros is defined any more.
  for (std::uint32_t index = 0; index < program.kernels.size(); ++index) {
    const Kernel &kernel = program.kernels[index];
    text += line_of_kernel(unit.sources[index], unit.files);
    text += "extern \"C\" __global__ void " + kernel.symbol + "(" + parameter_list(kernel) +
            ") { cgk_" + kernel.symbol + "::body(" + argument_list(kernel) + "); }\n";
  }
  return text;
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

std::vector<std::string> options_for(const std::string &architecture, const Nvrtc &nvrtc) {
  std::vector<std::string> options = {
      "--gpu-architecture=" + architecture,
      "--std=c++17",
      "--device-as-default-execution-space",
      "-lineinfo",
      "--disable-warnings",
  };
  for (const std::string &folder : nvrtc.include_folders()) {
    options.push_back("--include-path=" + folder);
  }
  return options;
}

} // namespace

void compile_for_cuda(Program &program, const KernelUnit &unit,
                      const std::vector<std::string> &architectures, Diagnostics &diagnostics) {
  const auto cannot = [&](const std::string &why) {
    diagnostics.report(Diag::KernelCompilerMissing, unit.sources.front().name, "CUDA", why);
  };
  llvm::Expected<Nvrtc> nvrtc = Nvrtc::load();
  if (!nvrtc) {
    cannot(llvm::toString(nvrtc.takeError()));
    return;
  }
  const std::string text = program_text(program, unit);
  const std::vector<int> known = nvrtc->architectures();
  std::vector<Image> images;
  std::vector<std::string> done;
  for (const std::string &architecture : architectures) {
    if (std::find(done.begin(), done.end(), architecture) != done.end()) {
      continue;
    }
    done.push_back(architecture);
    const std::optional<std::string> number = capability(architecture, known);
    if (!number) {
      diagnostics.report(Diag::UnknownArchitecture, {}, unknown_architecture(architecture, *nvrtc));
      return;
    }
    llvm::Expected<Nvrtc::Output> output = nvrtc->compile(text, options_for(architecture, *nvrtc));
    if (!output) {
      cannot(llvm::toString(output.takeError()));
      return;
    }
    if (!output->ok) {
      report_compiler_log(output->log, "NVRTC", unit, diagnostics);
      return;
    }
    images.push_back(
        {ImageKind::Cubin, architecture, all_kernels(program), std::move(output->cubin)});
    images.push_back(
        {ImageKind::Ptx, "compute_" + *number, all_kernels(program), std::move(output->ptx)});
  }
  std::move(images.begin(), images.end(), std::back_inserter(program.images));
}

} // namespace cgc
