#include "dependents.h"

#include <algorithm>

namespace cgrt {

using format::BufferId;
using format::ExprId;

namespace {

/// Notes what one node's fields use.
class UseFinder {
public:
  using Pairs = std::vector<std::pair<std::uint32_t, Use>>;

  /// `params` are a kernel's; of other nodes there are none.
  UseFinder(std::uint32_t node, const std::vector<format::KernelParam> *params, Pairs &exprs,
            Pairs &buffers)
      : node_(node), params_(params), exprs_(exprs), buffers_(buffers) {}

  void operator()(const format::NodeField &field, ExprId expr) { add(field, expr); }
  void operator()(const format::NodeField &field, const format::Extents &extents) {
    for (const ExprId extent : extents) {
      add(field, extent);
    }
  }
  void operator()(const format::NodeField &field, const format::Region &region) {
    add(field, region,
        field.access == format::FieldAccess::Write ? Use::Where::Destination : Use::Where::Source);
  }
  void operator()(const format::NodeField &field, const format::Arguments &arguments) {
    argument_ = 0;
    const Use::Where where = params_ != nullptr ? Use::Where::Argument : Use::Where::Anywhere;
    for (const format::Argument &argument : arguments) {
      if (const auto *expr = std::get_if<ExprId>(&argument)) {
        add(field, *expr, where);
      } else if (const auto *region = std::get_if<format::Region>(&argument)) {
        add(field, *region, where);
      }
      ++argument_;
    }
  }
  void operator()(const format::NodeField &field, const format::Quantity &quantity) {
    (*this)(field, ExprId(quantity));
  }
  void operator()(const format::NodeField &field, const format::OptionalExtents &extents) {
    (*this)(field, format::Extents(extents));
  }
  // What has no expressions; a new kind of field is to be thought of here.
  void operator()(const format::NodeField &, format::KernelId) {}
  void operator()(const format::NodeField &, format::GraphId) {}
  void operator()(const format::NodeField &, format::EventId) {}
  void operator()(const format::NodeField &, format::CallableId) {}
  void operator()(const format::NodeField &, format::ConditionId) {}
  void operator()(const format::NodeField &, format::ConditionalType) {}
  void operator()(const format::NodeField &, const format::Bodies &) {}

private:
  void add(const format::NodeField &field, ExprId expr, Use::Where where = Use::Where::Anywhere) {
    exprs_.emplace_back(expr.index, use(field, where));
  }
  void add(const format::NodeField &field, const format::Region &region, Use::Where where) {
    for (const format::Range &range : region.ranges) {
      add(field, range.begin);
      add(field, range.count);
    }
    buffers_.emplace_back(region.buffer.index, use(field, where));
  }
  Use use(const format::NodeField &field, Use::Where where) const {
    const ScalarType type =
        where == Use::Where::Argument ? (*params_)[argument_].type : ScalarType::I64;
    return {node_, where,     field.update == format::FieldUpdate::InPlace,
            type,  argument_, field.name};
  }

  std::uint32_t node_;
  const std::vector<format::KernelParam> *params_;
  std::uint32_t argument_ = 0;
  Pairs &exprs_;
  Pairs &buffers_;
};

/// For each expression the parameters that it reads, each once.
std::vector<std::vector<std::uint32_t>> parameters_read(const format::ExprTable &exprs) {
  std::vector<std::vector<std::uint32_t>> all(exprs.size());
  for (std::uint32_t index = 0; index < exprs.size(); ++index) {
    const format::Expr &expr = exprs[ExprId{index}];
    std::vector<std::uint32_t> &own = all[index];
    if (expr.op == format::ExprOp::Param) {
      own.push_back(static_cast<std::uint32_t>(expr.bits));
    }
    const ExprId operands[] = {expr.a, expr.b, expr.c};
    for (std::uint32_t i = 0; i < format::operand_count(expr.op); ++i) {
      const std::vector<std::uint32_t> &others = all[operands[i].index];
      own.insert(own.end(), others.begin(), others.end());
    }
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
  }
  return all;
}

} // namespace

Dependents::Dependents(const format::Program &program) {
  std::vector<std::pair<std::uint32_t, ExprId>> exprs;
  const auto read = parameters_read(program.exprs);
  for (std::uint32_t index = 0; index < read.size(); ++index) {
    for (const std::uint32_t param : read[index]) {
      exprs.emplace_back(param, ExprId{index});
    }
  }
  exprs_ = Lists(program.params.size(), exprs);

  UseFinder::Pairs expr_uses;
  UseFinder::Pairs buffer_uses;
  for (std::uint32_t graph = 0; graph < program.graphs.size(); ++graph) {
    const std::vector<format::Node> &nodes = program.graphs[graph].nodes;
    for (std::uint32_t index = 0; index < nodes.size(); ++index) {
      const auto *kernel = std::get_if<format::KernelWork>(&nodes[index].work);
      UseFinder finder(node_count(), kernel == nullptr ? nullptr : &program[kernel->kernel].params,
                       expr_uses, buffer_uses);
      std::visit([&](const auto &work) { format::for_each_field(work, finder); },
                 nodes[index].work);
      places_.push_back({{graph}, index});
    }
  }
  // What reads no parameter never changes.
  std::erase_if(expr_uses, [&](const auto &use) { return read[use.first].empty(); });
  expr_uses_ = Lists(program.exprs.size(), expr_uses);
  buffer_uses_ = Lists(program.buffers.size(), buffer_uses);

  std::vector<std::pair<std::uint32_t, std::uint32_t>> checks;
  for (std::uint32_t index = 0; index < program.checks.size(); ++index) {
    checks.emplace_back(program.checks[index].left.index, index);
    checks.emplace_back(program.checks[index].right.index, index);
  }
  checks_ = Lists(program.exprs.size(), checks);

  std::vector<std::pair<std::uint32_t, BufferId>> shapes;
  for (std::uint32_t index = 0; index < program.buffers.size(); ++index) {
    for (const ExprId extent : program.buffers[index].shape) {
      shapes.emplace_back(extent.index, BufferId{index});
    }
  }
  shapes_ = Lists(program.exprs.size(), shapes);
}

} // namespace cgrt
