#include "kernel_program.h"

#include "kernels/kernel_compiler.h"

#include <stdexcept>

namespace conformance {

cgrt::format::Program compile(const std::vector<KernelText> &kernels, const std::string &target) {
  cgrt::format::Program program;
  cgc::SourceFiles files;
  std::vector<cgc::KernelSource> sources;
  for (const KernelText &kernel : kernels) {
    // One file for each: its name on the first line, then the body.
    const cgc::FileId file = files.add(kernel.name + ".cgraph", kernel.name + "\n" + kernel.body);
    program.files.push_back(kernel.name + ".cgraph");
    program.kernels.push_back({kernel.name, kernel.name, kernel.params, {file, 1, 1}});
    const auto head = static_cast<std::uint32_t>(kernel.name.size());
    const auto size = static_cast<std::uint32_t>(kernel.body.size());
    cgc::KernelSource &source = sources.emplace_back();
    source.body = {files[file].text().substr(head + 1), {file, head + 1, head + 1 + size}};
    source.name = {file, 0, head};
  }
  cgc::KernelCompileOptions options;
  options.host = target == "host";
  options.cuda = !options.host;
  options.architectures = {target};
  const std::vector<cgc::CodeScope> scopes(1);
  cgc::Diagnostics diagnostics;
  compile_kernels(program, {files, scopes, sources}, options, diagnostics);
  if (diagnostics.has_errors()) {
    std::string text;
    llvm::raw_string_ostream out(text);
    diagnostics.print(out, files, false);
    throw std::runtime_error(out.str());
  }
  return program;
}

std::string why_no_compiler(const std::string &target) {
  if (target != "host") {
    std::string why;
    return cgc::cuda_compiler_available(&why) ? std::string() : why;
  }
  try {
    compile({{"probe", {}, ""}}, target);
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return {};
}

} // namespace conformance
