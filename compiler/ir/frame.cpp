#include "ir/frame.h"

#include "format/scalar_type.h"

namespace cgc {

using cgrt::format::BufferId;
using cgrt::format::Check;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::Range;

Frame::Frame(LoweringContext &context, const CheckedFile &file, std::vector<Bound> arguments)
    : context_(context), file_(file), arguments_(std::move(arguments)) {
  environment_.scalar = [this](const Symbol &symbol) { return scalar(symbol); };
  environment_.shape = [this](const Symbol &symbol) {
    if (symbol.kind == SymbolKind::DefParameter) {
      return std::get<View>(arguments_[symbol.index]).shape();
    }
    return context_.program[buffer(symbol)].shape;
  };
}

/// One that a block declares, else the file's.
BufferId Frame::buffer(const Symbol &symbol) const {
  const auto found = buffers_.find(symbol.index);
  return found != buffers_.end() ? found->second : context_.file_buffers.at(symbol.index);
}

/// Invalid for a buffer's name, which stands in a len or dim.
ExprId Frame::scalar(const Symbol &symbol) {
  switch (symbol.kind) {
  case SymbolKind::Const:
    return context_.program.exprs.constant(*context_.checked[symbol].const_values[symbol.index]);
  case SymbolKind::LocalConst:
    return local_consts_.at(symbol.index);
  case SymbolKind::Loop:
    return loops_.at(symbol.index);
  case SymbolKind::Param:
    return context_.program.exprs.parameter({symbol.index}, file_.file->params[symbol.index].type);
  case SymbolKind::DefParameter: {
    const auto *value = std::get_if<ExprId>(&arguments_[symbol.index]);
    return value != nullptr ? *value : ExprId{};
  }
  default:
    return {};
  }
}

ExprId Frame::lower(ast::ExprRef root) {
  return lower_expr(file_, root, environment_, context_.program.exprs);
}

ExprId Frame::lower_as(cgrt::ScalarType type, ast::ExprRef root) {
  const ExprId value = lower(root);
  const auto known = context_.known(value, range(root), "this expression");
  if (known && cgrt::format::to_scalar_bits(*known, type).fault != cgrt::format::Fault::None) {
    context_.diagnostics.report(Diag::ValueOutOfRange, range(root), text(root), known->text(),
                                cgrt::format::spelling(type));
  }
  return cgrt::format::is_float(type) ? context_.program.exprs.cast(type, value) : value;
}

std::optional<std::int64_t> Frame::constant_integer(ast::ExprRef root, std::string_view user,
                                                    cgrt::ScalarType type) {
  const auto outcome = context_.program.exprs.known(lower_as(type, root));
  if (!outcome) {
    context_.diagnostics.report(Diag::NotConstant, range(root), text(root), "not constant here",
                                user);
    return std::nullopt;
  }
  const auto bits = cgrt::format::to_scalar_bits(outcome->value, cgrt::ScalarType::I64);
  if (!outcome->ok() || bits.fault != cgrt::format::Fault::None) {
    return std::nullopt; // which has been reported
  }
  return static_cast<std::int64_t>(bits.bits);
}

Element Frame::element(ast::ExprRef root, const DeviceParts &on_device) {
  Dynamic dynamic = {on_device, {}};
  const View whole = view(root, &dynamic);
  return {whole.region, std::move(dynamic.indices)};
}

View Frame::view(ast::ExprRef root, Dynamic *dynamic) {
  const ast::Expr &expr = file_[root];
  if (expr.kind == ast::ExprKind::Index) {
    return slice(view(expr.operands[0], dynamic), expr, dynamic);
  }
  const Symbol &symbol = file_.symbol(root);
  if (symbol.kind == SymbolKind::DefParameter) {
    return std::get<View>(arguments_[symbol.index]);
  }
  return whole_view(context_.program, buffer(symbol));
}

View Frame::slice(const View &base, const ast::Expr &index, Dynamic *dynamic) {
  View result = base;
  result.kept.clear();
  for (std::size_t i = 0; i < base.kept.size(); ++i) {
    const std::size_t dimension = base.kept[i];
    if (i >= index.arguments.size()) {
      result.kept.push_back(dimension);
      continue;
    }
    const ast::ExprRef argument = index.arguments[i];
    const ast::Expr &part = file_[argument];
    if (dynamic != nullptr && dynamic->on_device.has(argument)) {
      dynamic->indices.push_back({dimension, argument});
      continue;
    }
    slice_dimension(result, dimension, part, argument, dynamic != nullptr);
    if (part.kind == ast::ExprKind::Range) {
      result.kept.push_back(dimension);
    }
  }
  return result;
}

void Frame::slice_dimension(View &result, std::size_t dimension, const ast::Expr &part,
                            ast::ExprRef ref, bool is_element) {
  auto &exprs = context_.program.exprs;
  const auto &buffer = context_.program[result.region.buffer];
  Range &range = result.region.ranges[dimension];
  const ExprId zero = context_.integer(0);
  const bool is_range = part.kind == ast::ExprKind::Range;
  const bool whole = range.begin == zero && range.count == buffer.shape[dimension];
  ExprId begin = zero;
  ExprId end = range.count;
  if (!is_range) {
    begin = lower(ref);
    end = exprs.binary(ExprOp::Add, begin, context_.integer(1));
  } else {
    begin = part.operands[0].valid() ? lower(part.operands[0]) : begin;
    end = part.operands[1].valid() ? lower(part.operands[1]) : end;
  }
  const bool good = check_bounds(range, whole, begin, end, part, buffer.name);
  if (good && is_element && whole && !is_range) {
    require_index(begin, range.count, part, buffer.name);
  }
  const ExprId count = !is_range || !good ? context_.integer(1)
                       : begin == zero    ? end
                                          : exprs.binary(ExprOp::Sub, end, begin);
  const Polynomial &length = context_.polynomials.of(count);
  // The shortest way to say it: x[b * n:(b + 1) * n] has n elements.
  const bool is_atom = length.constant == 0 && length.terms.size() == 1 &&
                       length.terms[0].coefficient == 1 && length.terms[0].atoms.size() == 1;
  range.count = length.is_constant() ? context_.integer(length.constant)
                : is_atom            ? ExprId{length.terms[0].atoms[0]}
                                     : count;
  const bool at_begin = range.begin == zero;
  range.begin = at_begin ? begin : exprs.binary(ExprOp::Add, range.begin, begin);
}

/// Those of an element stand in a kernel with others, which the graph builder could not tell apart.
void Frame::require_index(ExprId index, ExprId extent, const ast::Expr &part,
                          const std::string &name) {
  auto &exprs = context_.program.exprs;
  if (exprs.known(index) && exprs.known(extent)) {
    return;
  }
  context_.require(context_.integer(0), Check::Relation::LessEqual, index, "range",
                   "index {right} of '" + name + "' is less than 0", part.range);
  context_.require(index, Check::Relation::LessEqual,
                   exprs.binary(ExprOp::Sub, extent, context_.integer(1)), "range",
                   "index {left} of '" + name + "' is beyond the last, {right}", part.range);
}

/// Reports bounds that are known to be wrong. Those of a slice of a slice that are not known become
/// checks; the graph builder checks all others against the buffer.
bool Frame::check_bounds(const Range &within, bool whole, ExprId begin, ExprId end,
                         const ast::Expr &part, std::string_view name) {
  const auto begin_value = context_.known(begin, part.range, "this bound");
  const auto end_value = context_.known(end, part.range, "this bound");
  const auto extent = context_.known(within.count, part.range, "this extent");
  const auto wide = [](const auto &value) { return value->as_wide(); };
  const bool wrong = (begin_value && wide(begin_value) < 0) ||
                     (begin_value && end_value && wide(begin_value) > wide(end_value)) ||
                     (end_value && extent && wide(end_value) > wide(extent)) ||
                     (begin_value && extent && wide(begin_value) > wide(extent));
  if (wrong) {
    const auto shown = [](const auto &value) { return value ? value->text() : std::string("…"); };
    const std::string what = part.kind == ast::ExprKind::Range
                                 ? shown(begin_value) + ":" + shown(end_value)
                                 : shown(begin_value);
    if (begin_value && end_value && wide(begin_value) > wide(end_value) && wide(end_value) >= 0) {
      context_.diagnostics.report(Diag::SliceReversed, part.range, what);
    } else {
      context_.diagnostics.report(Diag::SliceOutOfRange, part.range, what, name, shown(extent));
    }
    return false;
  }
  if (!whole && !(end_value && extent && begin_value)) {
    const std::string message = "a slice of '" + std::string(name) + "' ends at {left} of {right}";
    context_.require(end, Check::Relation::LessEqual, within.count, "range", message, part.range);
    context_.require(context_.integer(0), Check::Relation::LessEqual, begin, "range",
                     "a slice of '" + std::string(name) + "' begins at {right}", part.range);
  }
  return true;
}

} // namespace cgc
