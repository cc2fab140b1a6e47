#include "sema/unused.h"

#include "kernels/cpp_tokens.h"

#include <algorithm>

namespace cgc {

namespace {

class UnusedNames {
public:
  UnusedNames(const CheckedFile &checked,
              const std::set<std::tuple<std::uint32_t, SymbolKind, std::uint32_t>> &used,
              const std::unordered_set<const ast::Statement *> &used_labels,
              const SourceFiles &files, Diagnostics &diagnostics)
      : checked_(checked), file_(*checked.file), used_(used), used_labels_(used_labels),
        diagnostics_(diagnostics) {
    for (const ast::Kernel &kernel : file_.kernels) {
      if (kernel.body.kind == ast::BodyKind::Cuda) {
        texts_.push_back(files.text(kernel.body.range));
      }
      if (kernel.host) {
        texts_.push_back(files.text(*kernel.host));
      }
    }
    for (const SourceRange &block : file_.cuda_blocks) {
      texts_.push_back(files.text(block));
    }
  }

  void report() {
    report_each(file_.imports, SymbolKind::Module, "module");
    for (std::uint32_t i = 0; i < file_.consts.size(); ++i) {
      if (!is_mentioned(file_.consts[i].name.text)) {
        report_if_unused(file_.consts[i].name, SymbolKind::Const, i, "const");
      }
    }
    report_each(file_.local_consts, SymbolKind::LocalConst, "const");
    report_each(file_.params, SymbolKind::Param, "param");
    report_each(file_.buffers, SymbolKind::Buffer, "buffer");
    report_each(file_.kernels, SymbolKind::Kernel, "kernel");
    for (std::uint32_t i = 0; i < file_.callables.size(); ++i) {
      report_if_unused(file_.callables[i].name, SymbolKind::Callable, i,
                       cgrt::format::spelling(file_.callables[i].kind));
    }
    report_each(file_.streams, SymbolKind::Stream, "stream");
    report_each(file_.events, SymbolKind::Event, "event");
    report_each(file_.defs, SymbolKind::Def, "def");
    for (const ast::Def &def : file_.defs) {
      report_labels(def.body);
    }
    for (const ast::Graph &graph : file_.graphs) {
      report_labels(graph.body);
    }
  }

private:
  /// Whether kernel code has the word; in a comment counts, too.
  bool is_mentioned(std::string_view name) const {
    return std::any_of(texts_.begin(), texts_.end(), [name](std::string_view text) {
      return find_word(text, name) != std::string_view::npos;
    });
  }

  template <typename Things>
  void report_each(const Things &things, SymbolKind kind, std::string_view noun) {
    for (std::uint32_t i = 0; i < things.size(); ++i) {
      report_if_unused(things[i].name, kind, i, noun);
    }
  }

  void report_if_unused(const ast::Name &name, SymbolKind kind, std::uint32_t index,
                        std::string_view noun) {
    if (!used_.contains({checked_.module, kind, index})) {
      diagnostics_.report(Diag::Unused, name.range, noun, name.text);
    }
  }

  void report_labels(const ast::Block &block) {
    for (const ast::Statement &statement : block.statements) {
      if (statement.label && !used_labels_.contains(&statement)) {
        diagnostics_.report(Diag::Unused, statement.label->range, "label", statement.label->text);
      }
      ast::for_each_block(statement, [this](const ast::Block &inner) { report_labels(inner); });
    }
  }

  const CheckedFile &checked_;
  const ast::File &file_;
  const std::set<std::tuple<std::uint32_t, SymbolKind, std::uint32_t>> &used_;
  const std::unordered_set<const ast::Statement *> &used_labels_;
  Diagnostics &diagnostics_;
  std::vector<std::string_view> texts_; ///< kernel code
};

} // namespace

void report_unused(const CheckedFile &file,
                   const std::set<std::tuple<std::uint32_t, SymbolKind, std::uint32_t>> &used,
                   const std::unordered_set<const ast::Statement *> &used_labels,
                   const SourceFiles &files, Diagnostics &diagnostics) {
  UnusedNames(file, used, used_labels, files, diagnostics).report();
}

} // namespace cgc
