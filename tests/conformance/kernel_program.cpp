#include "kernel_program.h"

#include "kernels/kernel_compiler.h"

#include <stdexcept>

namespace conformance {

namespace {

/// The whole of a new file, without its first `skipped` bytes.
cgc::CodeText add_file(cgc::SourceFiles &files, const std::string &name, const std::string &text,
                       std::size_t skipped = 0) {
  const cgc::FileId file = files.add(name, text);
  return {files[file].text().substr(skipped),
          {file, static_cast<std::uint32_t>(skipped), static_cast<std::uint32_t>(text.size())}};
}

cgc::KernelSource source_of(const KernelText &kernel, cgc::SourceFiles &files) {
  // The kernel's name is on the first line, then comes the body.
  const std::string head = kernel.name + "\n";
  const bool is_source = !kernel.function.empty();
  cgc::KernelSource source;
  source.body =
      add_file(files, kernel.name + ".cgraph", head + (is_source ? "" : kernel.body), head.size());
  source.name = {source.body.range.file, 0, static_cast<std::uint32_t>(kernel.name.size())};
  if (is_source) {
    source.kind = cgc::BodyKind::Source;
    source.body = add_file(files, kernel.name + ".cu", kernel.body);
    source.cuda_symbol = kernel.function;
  }
  if (!kernel.host.empty()) {
    source.host = add_file(files, kernel.name + ".cpp", kernel.host);
  }
  return source;
}

} // namespace

cgrt::format::Program compile(const std::vector<KernelText> &kernels, const std::string &target) {
  cgrt::format::Program program;
  cgc::SourceFiles files;
  std::vector<cgc::KernelSource> sources;
  for (const KernelText &kernel : kernels) {
    sources.push_back(source_of(kernel, files));
    program.kernels.push_back(
        {kernel.name, kernel.name, kernel.params, {sources.back().name.file, 1, 1}});
  }
  for (std::uint32_t index = 0; index < files.size(); ++index) {
    program.files.push_back(files[{index}].name());
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
