#include "ir/lower.h"

#include "ir/launch_check.h"
#include "ir/space_check.h"
#include "ir/statement_lowering.h"

namespace cgc {

using cgrt::format::BufferId;
using cgrt::format::ExprId;

namespace {

class Lowering {
public:
  Lowering(const CheckedProgram &checked, const SourceFiles &files, Diagnostics &diagnostics,
           std::uint64_t max_statements)
      : context_(checked, files, diagnostics), kernels_(context_),
        statements_(context_, kernels_, max_statements) {}

  Module run() {
    for (std::uint32_t i = 0; i < context_.files.size(); ++i) {
      context_.program.files.push_back(context_.files[{i}].name());
    }
    const CheckedFile &main = context_.checked.main();
    Frame frame(context_, main);
    lower_params(frame);
    for (const std::uint32_t index : main.file->file_buffers) {
      if (is_broken({SymbolKind::Buffer, index, main.module})) {
        continue;
      }
      const ast::Buffer &buffer = main.file->buffers[index];
      context_.file_buffers[index] =
          lower_buffer(buffer, std::string(buffer.name.text), frame, context_);
    }
    kernels_.add_main_file();
    statements_.add_functions();
    for (const ast::Graph &graph : main.file->graphs) {
      context_.graph_names.add(std::string(graph.name.text));
    }
    for (const ast::Graph &graph : main.file->graphs) {
      statements_.lower(graph);
    }
    statements_.finish_signals();
    statements_.finish_launches();
    if (statements_.too_many()) { // too many to look at, too
      context_.program.graphs.clear();
      context_.module.origins.clear();
      context_.module.after.clear();
    }
    check_spaces(context_);
    check_launches(context_);
    return std::move(context_.module);
  }

private:
  bool is_broken(const Symbol &symbol) const {
    return context_.checked.broken_declarations.contains(symbol);
  }

  void lower_params(Frame &frame) {
    const CheckedFile &main = context_.checked.main();
    const auto &params = main.file->params;
    for (std::uint32_t i = 0; i < params.size(); ++i) {
      const ast::Param &param = params[i];
      const bool has_value = param.default_value.valid() && !main.bad_defaults.contains(i);
      const ExprId value = has_value ? frame.lower(param.default_value) : ExprId{};
      context_.program.params.push_back({std::string(param.name.text), param.type, value,
                                         context_.files.place(param.name.range)});
    }
  }

  LoweringContext context_;
  KernelInstances kernels_;
  StatementLowering statements_;
};

} // namespace

Module lower(const CheckedProgram &checked, const SourceFiles &files, Diagnostics &diagnostics,
             std::uint64_t max_statements) {
  return Lowering(checked, files, diagnostics, max_statements).run();
}

} // namespace cgc
