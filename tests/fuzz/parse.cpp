// Source text through all phases up to the finished IR. No file is opened: a program that names one
// ends as if that did not exist.
#include "diag/diagnostics.h"
#include "ir/lower.h"
#include "parse/modules.h"
#include "parse/parser.h"
#include "passes/pass.h"
#include "sema/sema.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

namespace {

using cgc::Diagnostics;
using cgc::ModuleTrees;
using cgc::SourceFiles;

/// Unrolled loops are as good as this many statements.
constexpr std::uint64_t max_statements = 2000;

ModuleTrees parse_modules(SourceFiles &files, cgc::FileId file, Diagnostics &diagnostics) {
  auto tree = std::make_unique<cgc::ast::File>(cgc::parse(files, file, diagnostics));
  const bool names_files =
      std::any_of(tree->imports.begin(), tree->imports.end(),
                  [](const cgc::ast::Import &import) { return !import.standard; }) ||
      std::any_of(tree->kernels.begin(), tree->kernels.end(), [](const cgc::ast::Kernel &kernel) {
        return kernel.body.kind != cgc::ast::BodyKind::Cuda;
      });
  if (names_files) {
    diagnostics.report(cgc::Diag::ImportFailed, {file, 0, 0}, "files are not read here");
    for (cgc::ast::Kernel &kernel : tree->kernels) {
      kernel.body.missing = kernel.body.kind != cgc::ast::BodyKind::Cuda;
    }
  } else if (!tree->imports.empty()) {
    return cgc::load_modules(files, file, {}, diagnostics);
  }
  ModuleTrees trees;
  trees.push_back(std::move(tree));
  return trees;
}

void compile(SourceFiles &files, cgc::FileId file, Diagnostics &diagnostics) {
  const ModuleTrees trees = parse_modules(files, file, diagnostics);
  const cgc::CheckedProgram checked = check(trees, files, {}, diagnostics);
  cgc::Module module = lower(checked, files, diagnostics, max_statements);
  for (const cgc::Pass &pass : cgc::passes()) {
    pass.run(module, diagnostics);
  }
  if (!diagnostics.has_errors() && !verify(module.program).empty()) {
    __builtin_trap();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  SourceFiles files;
  Diagnostics diagnostics;
  const auto file = files.add("f.cgraph", {reinterpret_cast<const char *>(data), size});
  compile(files, file, diagnostics);
  std::string text;
  llvm::raw_string_ostream out(text);
  diagnostics.print(out, files, false);
  return 0;
}
