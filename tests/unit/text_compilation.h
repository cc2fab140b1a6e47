// Compiles source text up to Graph IR, for tests of the phases.
#pragma once

#include "diag/diagnostics.h"
#include "ir/lower.h"
#include "parse/modules.h"
#include "passes/pass.h"
#include "sema/sema.h"

#include <memory>
#include <string>
#include <string_view>

namespace cgc::testing {

/// Keeps everything that the product refers to.
class TextCompilation {
public:
  explicit TextCompilation(std::string_view text, const Defines &defines = {},
                           const std::string &path = "test.cgraph") {
    const FileId file = files_.add(path, text);
    trees_ = load_modules(files_, file, {}, diagnostics_);
    const CheckedProgram checked = check(trees_, files_, defines, diagnostics_);
    module_ = lower(checked, files_, diagnostics_);
    for (const Pass &pass : passes()) {
      pass.run(module_, diagnostics_);
    }
  }

  const ast::File &tree() const { return *trees_.back(); }
  const Module &module() const { return module_; }
  Module &module() { return module_; }
  const cgrt::format::Program &program() const { return module_.program; }
  const Diagnostics &diagnostics() const { return diagnostics_; }
  const SourceFiles &files() const { return files_; }

  /// "3: undefined: 'x' is not declared", one line for each error, in source order.
  std::string errors() const { return messages(Severity::Error); }
  std::string warnings() const { return messages(Severity::Warning); }

private:
  std::string messages(Severity severity) const {
    std::string text;
    for (const Diagnostic &diagnostic : diagnostics_.all()) {
      if (info(diagnostic.id).severity == severity) {
        text += std::to_string(files_.place(diagnostic.range).line) + ": " +
                std::string(info(diagnostic.id).slug) + ": " + diagnostic.message + "\n";
      }
    }
    return text;
  }

  SourceFiles files_;
  Diagnostics diagnostics_;
  ModuleTrees trees_;
  Module module_;
};

} // namespace cgc::testing
