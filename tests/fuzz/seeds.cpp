// fuzz_seeds FOLDER FILE.cgraph...: writes the seeds of the fuzzers to FOLDER/parse, FOLDER/read_ir
// and FOLDER/load_bundle: each file as it is and, if it compiles, as IR and as a bundle's payload.
#include "diag/diagnostics.h"
#include "emit/output_file.h"
#include "ir/lower.h"
#include "parse/modules.h"
#include "passes/pass.h"
#include "sema/sema.h"

#include "format/bundle.h"

#include <llvm/Support/FileSystem.h>

#include <optional>
#include <string>
#include <string_view>

namespace {

std::optional<cgc::Module> compile(cgc::SourceFiles &files, cgc::FileId file) {
  cgc::Diagnostics diagnostics;
  const auto trees = load_modules(files, file, {}, diagnostics);
  const auto checked = check(trees, files, {}, diagnostics);
  cgc::Module module = lower(checked, files, diagnostics);
  for (const cgc::Pass &pass : cgc::passes()) {
    if (!diagnostics.has_errors()) {
      pass.run(module, diagnostics);
    }
  }
  return diagnostics.has_errors() ? std::nullopt : std::optional(std::move(module));
}

void write(const std::string &folder, const std::string &name, std::string_view text) {
  llvm::ExitOnError check("fuzz_seeds: ");
  check(llvm::errorCodeToError(llvm::sys::fs::create_directories(folder)));
  check(cgc::write_outputs({{folder + "/" + name, text}}));
}

} // namespace

int main(int count, char **arguments) {
  const std::string folder = arguments[1];
  for (int i = 2; i < count; ++i) {
    cgc::SourceFiles files;
    const cgc::FileId file = llvm::ExitOnError("fuzz_seeds: ")(files.open(arguments[i]));
    write(folder + "/parse", std::to_string(i), files[file].text());
    auto module = compile(files, file);
    if (!module) {
      continue;
    }
    write(folder + "/read_ir", std::to_string(i), print(*module, files));
    // Any bytes will do for machine code, which is not looked at.
    module->program.images.push_back(
        {cgrt::format::ImageKind::Cubin, "sm_90", {}, {std::byte{1}, std::byte{2}}});
    const auto bundle = encode_bundle(module->program);
    write(folder + "/load_bundle", std::to_string(i),
          {reinterpret_cast<const char *>(bundle.data()) + cgrt::format::bundle_header_bytes,
           bundle.size() - cgrt::format::bundle_header_bytes});
  }
  return 0;
}
