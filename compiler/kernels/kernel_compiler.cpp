#include "kernels/kernel_compiler.h"

#include "kernels/cpp_tokens.h"
#include "kernels/file_scope.h"
#include "kernels/nvrtc.h"
#include "kernels/parallel.h"
#include "kernels/targets.h"

#include <algorithm>
#include <iterator>

namespace cgc {

namespace {

/// The builds for the wanted devices; an error ends the list.
std::vector<std::unique_ptr<TargetBuild>> prepare(const cgrt::format::Program &program,
                                                  const KernelUnit &unit,
                                                  const KernelCompileOptions &options,
                                                  Diagnostics &diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  std::vector<std::unique_ptr<TargetBuild>> builds;
  if (options.cuda) {
    builds.push_back(build_for_cuda(program, unit, options.architectures, diagnostics));
  }
  if (options.host && diagnostics.error_count() == errors_before) {
    builds.push_back(build_for_host(program, unit, diagnostics));
  }
  return diagnostics.error_count() == errors_before ? std::move(builds)
                                                    : std::vector<std::unique_ptr<TargetBuild>>();
}

/// Where no PTX tells which kernels launch, their own text does, as far as it shows.
void refuse_undeclared_launches(const cgrt::format::Program &program, const KernelUnit &unit,
                                Diagnostics &diagnostics) {
  for (std::size_t i = 0; i < program.kernels.size(); ++i) {
    const KernelSource &source = unit.sources[i];
    const auto &params = program.kernels[i].params;
    if (source.kind == BodyKind::Cuda &&
        find_word(source.body.text, "cudaGraphLaunch") != std::string_view::npos &&
        std::none_of(params.begin(), params.end(),
                     [](const auto &param) { return param.is_graph; })) {
      diagnostics.report(Diag::LaunchesWithoutParameter, source.name, program.kernels[i].name);
    }
  }
}

} // namespace

void compile_kernels(cgrt::format::Program &program, const KernelUnit &unit,
                     const KernelCompileOptions &options, Diagnostics &diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  check_blocks(unit, diagnostics);
  if (!options.cuda) {
    refuse_undeclared_launches(program, unit, diagnostics);
  }
  if (program.kernels.empty() || diagnostics.error_count() != errors_before) {
    return;
  }
  const auto builds = prepare(program, unit, options, diagnostics);
  std::vector<std::function<void()>> jobs;
  for (const auto &build : builds) {
    std::vector<std::function<void()>> more = build->jobs();
    std::move(more.begin(), more.end(), std::back_inserter(jobs));
  }
  run_in_parallel(jobs);
  for (const auto &build : builds) {
    // The second compiler would report the first one's errors again in other words.
    if (diagnostics.error_count() == errors_before) {
      build->finish(program, diagnostics);
    }
  }
}

bool cuda_compiler_available(std::string *why_not) {
  llvm::Expected<Nvrtc> nvrtc = Nvrtc::load();
  if (nvrtc) {
    return true;
  }
  const std::string why = llvm::toString(nvrtc.takeError());
  if (why_not != nullptr) {
    *why_not = why;
  }
  return false;
}

} // namespace cgc
