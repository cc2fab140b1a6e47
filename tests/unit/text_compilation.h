// Compiles source text up to Graph IR, for tests of the phases.
#pragma once

#include "diag/diagnostics.h"
#include "ir/lower.h"
#include "parse/parser.h"
#include "passes/pass.h"
#include "sema/sema.h"

#include <memory>
#include <string>
#include <string_view>

namespace cgc::testing {

/// Keeps everything that the product refers to.
class TextCompilation {
public:
  explicit TextCompilation(std::string_view text, const Defines &defines = {}) {
    const FileId file = files_.add("test.cgraph", text);
    tree_ = parse(files_, file, diagnostics_);
    const CheckedFile checked = check(tree_, defines, diagnostics_);
    if (!checked.can_lower) {
      return;
    }
    module_ = lower(checked, files_, diagnostics_);
    for (const Pass &pass : passes()) {
      pass.run(module_);
    }
  }

  const ast::File &tree() const { return tree_; }
  const Module &module() const { return module_; }
  const cgrt::format::Program &program() const { return module_.program; }
  const Diagnostics &diagnostics() const { return diagnostics_; }

  /// "3: undefined: 'x' is not declared", one line for each diagnostic, in source order.
  std::string messages() const {
    std::string text;
    for (const Diagnostic &diagnostic : diagnostics_.all()) {
      text += std::to_string(files_.place(diagnostic.range).line) + ": " +
              std::string(info(diagnostic.id).slug) + ": " + diagnostic.message + "\n";
    }
    return text;
  }

private:
  SourceFiles files_;
  Diagnostics diagnostics_;
  ast::File tree_;
  Module module_;
};

} // namespace cgc::testing
