#include "ir/lower.h"

#include "ir/constant_source.h"
#include "ir/launch_lowering.h"
#include "ir/shape.h"
#include "sema/expr_check.h"

#include "stdlib_kernels.h"

#include "format/scalar_type.h"

#include <limits>
#include <map>
#include <set>

namespace cgc {

using cgrt::CallerAccess;
using cgrt::ScalarType;
using cgrt::format::BufferId;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::KernelId;
using cgrt::format::Region;
using cgrt::format::Value;

namespace {

constexpr std::int64_t fill_block = 256;

class Lowering {
public:
  Lowering(const CheckedFile &checked, const SourceFiles &files, Diagnostics &diagnostics)
      : checked_(checked), file_(*checked.file), files_(files), diagnostics_(diagnostics),
        environment_(file_environment()),
        launches_(checked, files, environment_, program_, diagnostics) {}

  Module run() {
    for (std::uint32_t i = 0; i < files_.size(); ++i) {
      program_.files.push_back(files_[{i}].name());
    }
    lower_params();
    lower_buffers();
    lower_kernels();
    for (const ast::Graph &graph : file_.graphs) {
      lower_graph(graph);
    }
    check_spaces();
    return std::move(module_);
  }

private:
  ExprEnvironment file_environment() {
    ExprEnvironment environment;
    environment.scalar = [this](const Symbol &symbol) {
      switch (symbol.kind) {
      case SymbolKind::Const:
        return program_.exprs.constant(*checked_.const_values[symbol.index]);
      case SymbolKind::Param:
        return program_.exprs.parameter({symbol.index}, file_.params[symbol.index].type);
      default:
        return ExprId{};
      }
    };
    environment.shape = [this](const Symbol &symbol) {
      return program_.buffers[symbol.index].shape;
    };
    return environment;
  }

  ExprId lower(ast::ExprRef root) {
    return lower_expr(checked_, root, environment_, program_.exprs);
  }

  ExprId integer(std::int64_t value) { return program_.exprs.constant(Value::of(value)); }

  void lower_params() {
    for (const ast::Param &param : file_.params) {
      const ExprId value = param.default_value.valid() ? lower(param.default_value) : ExprId{};
      program_.params.push_back(
          {std::string(param.name.text), param.type, value, files_.place(param.name.range)});
    }
  }

  void lower_buffers() {
    for (const ast::Buffer &buffer : file_.buffers) {
      std::vector<ExprId> shape;
      for (const ast::ExprRef extent : buffer.shape) {
        shape.push_back(lower(extent));
        check_extent(buffer, extent, shape.back());
      }
      program_.buffers.push_back({std::string(buffer.name.text), buffer.type, buffer.space,
                                  buffer.access, std::move(shape),
                                  files_.place(buffer.name.range)});
      check_size(buffer, {static_cast<std::uint32_t>(program_.buffers.size() - 1)});
    }
  }

  void check_extent(const ast::Buffer &buffer, ast::ExprRef extent, ExprId lowered) {
    const auto outcome = program_.exprs.known(lowered);
    if (!outcome) {
      return;
    }
    const SourceRange &range = file_[extent].range;
    if (!outcome->ok()) {
      diagnostics_.report(Diag::EvaluationFault, range, "this extent has no value",
                          cgrt::format::text(outcome->fault));
    } else if (outcome->value.is_negative_integer() ||
               outcome->value.as_wide() > std::numeric_limits<std::int64_t>::max()) {
      diagnostics_.report(Diag::NegativeExtent, range, buffer.name.text, outcome->value.text());
    }
  }

  void check_size(const ast::Buffer &buffer, BufferId id) {
    const ExprId bytes = program_.exprs.binary(
        ExprOp::Mul, element_count(program_, id),
        integer(static_cast<std::int64_t>(cgrt::format::size_of(buffer.type))));
    const auto outcome = program_.exprs.known(bytes);
    if (outcome && outcome->fault == cgrt::format::Fault::Overflow) {
      diagnostics_.report(Diag::BufferTooLarge, buffer.name.range, buffer.name.text);
    }
  }

  void lower_kernels() {
    for (const ast::Kernel &kernel : file_.kernels) {
      cgrt::format::Kernel lowered;
      lowered.name = kernel.name.text;
      lowered.symbol = "cg_" + lowered.name;
      lowered.place = files_.place(kernel.name.range);
      for (const ast::KernelParameter &parameter : kernel.parameters) {
        lowered.params.push_back({std::string(parameter.name.text), parameter.type,
                                  parameter.mode.has_value(),
                                  parameter.mode.value_or(ast::Mode::In)});
      }
      program_.kernels.push_back(std::move(lowered));
      add_kernel_source({kernel.body, kernel.body_range}, kernel.name.range);
    }
    std::vector<ConstantSource> &constants = module_.scopes.emplace_back().constants;
    for (std::size_t i = 0; i < file_.consts.size(); ++i) {
      constants.push_back(constant_source(file_.consts[i], *checked_.const_values[i]));
    }
  }

  void add_kernel_source(CodeText body, const SourceRange &name) {
    KernelSource &source = module_.kernel_sources.emplace_back();
    source.body = body;
    source.name = name;
  }

  /// What a kernel body sees of a const: its cast's type, else int, long long, bool or double as a
  /// C++ literal of that value would be.
  ConstantSource constant_source(const ast::Const &constant, const Value &value) const {
    const ast::Expr &expr = file_[constant.value];
    std::optional<ScalarType> type;
    if (expr.kind == ast::ExprKind::Cast) {
      type = expr.type;
    }
    return make_constant_source(std::string(constant.name.text), value, type);
  }

  void lower_graph(const ast::Graph &graph) {
    cgrt::format::Graph lowered;
    lowered.name = graph.name.text;
    lowered.place = files_.place(graph.name.range);
    lowered.nodes.reserve(graph.statements.size());
    std::vector<SourceRange> &ranges = node_ranges_.emplace_back();
    for (const ast::Statement &statement : graph.statements) {
      if (checked_.broken.contains(&statement)) {
        continue;
      }
      ranges.push_back(statement.range);
      cgrt::format::Node node;
      node.place = files_.place(statement.range);
      node.work = std::visit([&](const auto &action) { return lower_action(action, statement); },
                             statement.action);
      lowered.nodes.push_back(std::move(node));
    }
    program_.graphs.push_back(std::move(lowered));
  }

  Region whole(const ast::Name &name) {
    const BufferId buffer{checked_.names.at(name.text).index};
    return {buffer, integer(0), element_count(program_, buffer)};
  }

  cgrt::format::Work lower_action(const ast::LaunchStatement &launch, const ast::Statement &) {
    return launches_.lower(launch);
  }

  cgrt::format::Work lower_action(const ast::CopyStatement &copy, const ast::Statement &) {
    const Region destination = whole(copy.destination);
    const Region source = whole(copy.source);
    check_copy_shape(copy, destination.buffer, source.buffer);
    return cgrt::format::CopyWork{destination, source};
  }

  void check_copy_shape(const ast::CopyStatement &copy, BufferId destination, BufferId source) {
    const auto &to = program_[destination].shape;
    const auto &from = program_[source].shape;
    const SourceRange range = join(copy.destination.range, copy.source.range);
    if (to.size() != from.size()) {
      diagnostics_.report(Diag::CopyShapeMismatch, range, copy.destination.text, to.size(),
                          to.size() == 1 ? "dimension" : "dimensions", copy.source.text,
                          from.size());
      return;
    }
    for (std::size_t axis = 0; axis < to.size(); ++axis) {
      const auto known_to = program_.exprs.known(to[axis]);
      const auto known_from = program_.exprs.known(from[axis]);
      const std::string extent = "extent " + std::to_string(axis);
      if (to[axis] == from[axis]) {
        continue;
      }
      if (known_to && known_from) {
        if (known_to->ok() && known_from->ok() &&
            known_to->value.as_wide() != known_from->value.as_wide()) {
          diagnostics_.report(Diag::CopyShapeMismatch, range, copy.destination.text, extent,
                              known_to->value.text(), copy.source.text, known_from->value.text());
        }
        continue;
      }
      program_.checks.push_back({to[axis], cgrt::format::Check::Relation::Equal, from[axis],
                                 "shape",
                                 "'" + std::string(copy.destination.text) + "' has " + extent +
                                     " {left}, '" + std::string(copy.source.text) +
                                     "' has {right}; both sides of a copy have the same shape",
                                 files_.place(range)});
    }
  }

  /// memset repeats 1, 2 or 4 bytes; wider elements are filled by a kernel.
  cgrt::format::Work lower_action(const ast::FillStatement &fill, const ast::Statement &statement) {
    const Region destination = whole(fill.destination);
    const ExprId value = lower(fill.value);
    const ScalarType type = program_[destination.buffer].type;
    if (cgrt::format::size_of(type) <= 4) {
      return cgrt::format::FillWork{destination, value};
    }
    cgrt::format::KernelWork work;
    work.kernel = fill_kernel(type, statement.range);
    const ExprId one = integer(1);
    work.grid = {program_.exprs.binary(ExprOp::CeilDiv, destination.count, integer(fill_block)),
                 one, one};
    work.block = {integer(fill_block), one, one};
    work.shared_bytes = integer(0);
    work.arguments = {destination.count, value, destination};
    return work;
  }

  KernelId fill_kernel(ScalarType type, const SourceRange &range) {
    const auto found = fill_kernels_.find(type);
    if (found != fill_kernels_.end()) {
      return found->second;
    }
    cgrt::format::Kernel kernel;
    kernel.name = "fill_" + std::string(cgrt::format::spelling(type));
    while (checked_.names.contains(kernel.name)) {
      kernel.name += "_";
    }
    kernel.symbol = "cg_" + kernel.name;
    kernel.params = {{"n", ScalarType::I64, false, ast::Mode::In},
                     {"value", type, false, ast::Mode::In},
                     {"destination", type, true, ast::Mode::Out}};
    kernel.place = files_.place(range);
    const KernelId id{static_cast<std::uint32_t>(program_.kernels.size())};
    program_.kernels.push_back(std::move(kernel));
    add_kernel_source({embedded::stdlib_kernels_fill_cuh, range}, range);
    fill_kernels_.emplace(type, id);
    return id;
  }

  /// `in` memory is never written; `out` memory is not read before this graph, or another one that
  /// may have run earlier, has written it.
  void check_spaces() {
    std::vector<std::set<std::size_t>> writers(program_.buffers.size()); // graphs, by buffer
    for (std::size_t g = 0; g < program_.graphs.size(); ++g) {
      for (const auto &node : program_.graphs[g].nodes) {
        for (const auto &effect : effects_of(program_, node)) {
          if (effect.writes) {
            writers[effect.region.buffer.index].insert(g);
          }
        }
      }
    }
    for (std::size_t g = 0; g < program_.graphs.size(); ++g) {
      check_graph_spaces(g, writers);
    }
  }

  void check_graph_spaces(std::size_t graph, const std::vector<std::set<std::size_t>> &writers) {
    std::vector<bool> written(program_.buffers.size(), false);
    const auto &nodes = program_.graphs[graph].nodes;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const auto effects = effects_of(program_, nodes[n]);
      for (const auto &effect : effects) {
        const auto &buffer = program_[effect.region.buffer];
        const auto &graphs = writers[effect.region.buffer.index];
        const bool elsewhere = graphs.size() > (graphs.contains(graph) ? 1U : 0U);
        if (effect.writes && buffer.access == CallerAccess::In) {
          diagnostics_.report(Diag::WritesInput, node_ranges_[graph][n], buffer.name);
        } else if (effect.reads && buffer.access == CallerAccess::Out && !elsewhere &&
                   !written[effect.region.buffer.index]) {
          diagnostics_.report(Diag::ReadsOutput, node_ranges_[graph][n], buffer.name);
        }
      }
      for (const auto &effect : effects) {
        written[effect.region.buffer.index] = written[effect.region.buffer.index] || effect.writes;
      }
    }
  }

  const CheckedFile &checked_;
  const ast::File &file_;
  const SourceFiles &files_;
  Diagnostics &diagnostics_;
  Module module_;
  cgrt::format::Program &program_ = module_.program;
  ExprEnvironment environment_;
  LaunchLowering launches_;
  std::map<ScalarType, KernelId> fill_kernels_;
  std::vector<std::vector<SourceRange>> node_ranges_; ///< by graph and node
};

} // namespace

Module lower(const CheckedFile &checked, const SourceFiles &files, Diagnostics &diagnostics) {
  return Lowering(checked, files, diagnostics).run();
}

} // namespace cgc
