#include "ir/statement_lowering.h"

#include "ir/shape_contract.h"
#include "sema/attribute_check.h"

#include "format/scalar_type.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace cgc {

using cgrt::format::BufferId;
using cgrt::format::Check;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::GraphId;

void StatementLowering::lower(const ast::Graph &graph) {
  Target target;
  target.graph.name = graph.name.text;
  target.graph.place = context_.files.place(graph.name.range);
  target.graph.nodes.reserve(graph.body.statements.size());
  target.prefix = target.graph.name + ".";
  target_ = &target;
  attributes_ = {};
  context_.event_names = {};
  stop_ = find_attribute(graph.attributes, "cancellable") != nullptr ? std::optional(stops_++)
                                                                     : std::nullopt;
  target.graph.stop = stop_;
  target.graph.explicit_order = find_attribute(graph.attributes, "explicit") != nullptr;
  target.graph.device_launch = find_attribute(graph.attributes, "device_launch") != nullptr;
  context_.entry = static_cast<std::uint32_t>(entries_.size());
  stream_.reset();
  Frame frame(context_, context_.checked.main());
  lower_block(graph.body, frame);
  flush();
  if (target.graph.device_launch && target.graph.nodes.empty()) {
    target.pending.emplace(graph.name.range); // CUDA instantiates no such graph without a node
    flush("nothing", graph.name.range);
    target.graph.nodes.back().name = "nothing";
  }
  target_ = nullptr;
  entries_.push_back(finish(std::move(target)));
}

void StatementLowering::add_functions() {
  const CheckedFile &main = context_.checked.main();
  for (std::uint32_t i = 0; i < main.file->callables.size(); ++i) {
    const Symbol symbol = {SymbolKind::Callable, i, main.module};
    if (!context_.checked.broken_declarations.contains(symbol)) {
      static_cast<void>(launches_.callable(symbol));
    }
  }
}

GraphId StatementLowering::finish(Target target) {
  const GraphId id{static_cast<std::uint32_t>(context_.program.graphs.size())};
  Target *outer = std::exchange(target_, &target);
  order_syncs();
  target_ = outer;
  for (const AfterEdge &edge : target.after) {
    context_.module.after.push_back({id, edge.from, edge.to, edge.range});
  }
  context_.program.graphs.push_back(std::move(target.graph));
  context_.module.origins.push_back(std::move(target.origins));
  return id;
}

std::uint32_t StatementLowering::node_count() const {
  return static_cast<std::uint32_t>(target_->graph.nodes.size());
}

/// False when the program has become too large, which is reported once.
bool StatementLowering::spend(std::uint64_t statements, const SourceRange &range) {
  if (!too_many() && statements >= max_statements_ - statements_) {
    context_.diagnostics.report(Diag::TooManyStatements, range, max_statements_);
  }
  statements_ = std::min(statements, max_statements_ - statements_) + statements_;
  return !too_many();
}

void StatementLowering::add_node(cgrt::format::Work work, const ast::Statement &statement) {
  flush();
  cgrt::format::Node node;
  node.work = std::move(work);
  node.place = context_.files.place(statement.range);
  if (const ast::Attribute *name = find_attribute(statement.attributes, "name")) {
    node.name = *name->text;
  }
  push_node(std::move(node), statement.range);
}

void StatementLowering::push_node(cgrt::format::Node node, const SourceRange &range) {
  if (stream_) {
    const std::uint32_t self = node_count();
    Front &front = target_->fronts[*stream_];
    order(front.mark, {self, self + 1}, range);
    target_->stream_order.add(self, front.mark);
    front.mark = {{self}, {}};
    node.stream = streams_[*stream_].name;
  }
  target_->origins.push_back({range, node_count(), call_});
  target_->graph.nodes.push_back(std::move(node));
}

void StatementLowering::lower_block(const ast::Block &block, Frame &frame) {
  blocks_.push_back({&block, {}, {}, {}, node_count(), node_count(), node_count(), {}});
  for (const ast::Statement &statement : block.statements) {
    if (!context_.checked.broken.contains(&statement)) {
      lower_statement(statement, frame);
    }
  }
  if (!blocks_.back().later.empty()) {
    flush();
  }
  const OpenBlock open = std::move(blocks_.back());
  blocks_.pop_back();
  connect(open);
}

void StatementLowering::lower_statement(const ast::Statement &statement, Frame &frame) {
  if (!spend(1, statement.range)) {
    return;
  }
  if (blocks_.size() > max_call_depth) {
    context_.diagnostics.report(Diag::CallsTooDeep, statement.range, max_call_depth);
    return;
  }
  // Whose edges are asked for has nodes of its own.
  const bool apart = statement.label || !statement.after.empty();
  if (apart) {
    flush();
  }
  const std::uint32_t begin = node_count();
  const LaunchAttributes outer = attributes_;
  if (!statement.attributes.empty()) {
    attributes_.apply(statement.attributes, frame);
  }
  std::visit([&](const auto &action) { lower_action(action, statement, frame); }, statement.action);
  attributes_ = outer;
  if (apart) {
    flush();
  }
  const NodeRange nodes = {begin, node_count()};
  if (statement.label) {
    blocks_.back().labels[&statement] = nodes;
  }
  for (const ast::Name &name : statement.after) {
    const auto found = context_.checked.labels.find(&name);
    if (found == context_.checked.labels.end()) {
      continue; // its statement has a syntax error
    }
    const LabelTarget &label = found->second;
    const auto owner = std::find_if(blocks_.rbegin(), blocks_.rend(), [&](const OpenBlock &open) {
      return open.block == label.block;
    });
    owner->waiting.push_back({label.statement, nodes, name.range});
  }
}

/// The edges to the block's labels, all of which are known now.
void StatementLowering::connect(const OpenBlock &open) {
  for (const OpenBlock::Waiting &waiting : open.waiting) {
    const auto found = open.labels.find(waiting.label);
    if (found == open.labels.end()) {
      continue; // a statement with an error
    }
    const NodeRange &from = found->second;
    const NodeRange &to = waiting.nodes;
    if (from.begin < to.end && to.begin < from.end) {
      const std::string_view name = waiting.label->label->text;
      context_.diagnostics
          .report(Diag::CircularOrder, waiting.range, std::string(name) + " → " + std::string(name))
          .notes.push_back({waiting.label->label->range, "the label"});
    } else if (from.begin != from.end && to.begin != to.end) {
      target_->after.push_back({{}, from, to, waiting.range});
    }
  }
  for (std::size_t i = 0; i < open.later.size(); ++i) {
    const OpenBlock::Later &later = open.later[i];
    const bool is_last = i + 1 == open.later.size();
    order(later.mark, {later.position, is_last ? node_count() : open.later[i + 1].position},
          later.range);
  }
}

void StatementLowering::lower_action(const ast::CopyStatement &copy,
                                     const ast::Statement &statement, Frame &frame) {
  add_node(memory_.lower(copy, frame), statement);
}

void StatementLowering::lower_action(const ast::FillStatement &fill,
                                     const ast::Statement &statement, Frame &frame) {
  add_node(memory_.lower(fill, frame, statement.range), statement);
}

void StatementLowering::lower_action(const ast::LaunchStatement &launch,
                                     const ast::Statement &statement, Frame &frame) {
  const Symbol &callee = frame.file().symbol(launch.callee);
  if (callee.kind == SymbolKind::Kernel) {
    add_node(launches_.lower(launch, frame, attributes_), statement);
    if (find_attribute(statement.attributes, "updatable") != nullptr) {
      mark_updatable(statement);
    }
    return;
  }
  if (callee.kind == SymbolKind::Callable) {
    const ast::Callable &callable = context_.checked[callee].file->callables[callee.index];
    const bool is_callback = callable.kind == ast::CallableKind::Callback;
    if (is_callback && refuse_in_body("a callback", statement.range)) {
      return;
    }
    const cgrt::format::CallableId id = launches_.callable(callee);
    auto arguments = launches_.lower_call(launch, frame);
    if (is_callback) {
      add_node(cgrt::format::CallbackWork{id, std::move(arguments)}, statement);
    } else {
      add_node(cgrt::format::CapturedWork{id, std::move(arguments)}, statement);
    }
    return;
  }
  const std::size_t before = context_.diagnostics.all().size();
  if (launch.child) {
    add_child(launch, callee, statement, frame);
  } else {
    inline_def(launch, callee, frame);
  }
  context_.diagnostics.add_note_from(
      before, {frame.range(launch.callee), "in this call of '" + frame.text(launch.callee) + "'"});
}

void StatementLowering::lower_action(const ast::ForStatement &loop, const ast::Statement &,
                                     Frame &frame) {
  const auto begin = frame.constant_integer(loop.begin, "a bound of 'for'");
  const auto end = frame.constant_integer(loop.end, "a bound of 'for'");
  if (!begin || !end) {
    return;
  }
  const ast::Name &variable = frame.file().file->loops[loop.variable];
  // At once, so that a loop nobody could wait for is not even begun.
  const std::uint64_t iterations =
      *begin < *end ? static_cast<std::uint64_t>(*end) - static_cast<std::uint64_t>(*begin) : 0;
  if (!spend(iterations, frame.range(loop.end))) {
    return;
  }
  for (std::int64_t value = *begin; value < *end && !too_many(); ++value) {
    const std::size_t before = context_.diagnostics.all().size();
    frame.set_loop(loop.variable, value);
    lower_block(loop.body, frame);
    context_.diagnostics.add_note_from(
        before,
        {variable.range, "where " + std::string(variable.text) + " is " + std::to_string(value)});
  }
}

void StatementLowering::lower_action(const ast::ScopeStatement &scope, const ast::Statement &,
                                     Frame &frame) {
  lower_block(scope.body, frame);
}

void StatementLowering::lower_action(const ast::BufferStatement &declared, const ast::Statement &,
                                     Frame &frame) {
  for (std::uint32_t i = declared.first; i < declared.first + declared.count; ++i) {
    const ast::Buffer &buffer = frame.file().file->buffers[i];
    const std::string name = target_->prefix + std::string(buffer.name.text);
    const BufferId id = lower_buffer(buffer, name, frame, context_);
    context_.local_buffers.insert(id);
    frame.set_buffer(i, id);
  }
}

void StatementLowering::lower_action(const ast::ConstStatement &declared, const ast::Statement &,
                                     Frame &frame) {
  const ast::Const &constant = frame.file().file->local_consts[declared.index];
  const ExprId value = frame.lower(constant.value);
  static_cast<void>(
      context_.known(value, frame.range(constant.value), "this expression")); // reports faults
  frame.set_local_const(declared.index, value);
}

std::vector<Bound> StatementLowering::bind(const ast::LaunchStatement &call,
                                           const CheckedFile &callee, const ast::Def &def,
                                           Frame &frame) {
  std::vector<Bound> arguments;
  const auto index = static_cast<std::size_t>(&def - callee.file->defs.data());
  const auto &names_in_errors = callee.names_in_def_errors[index];
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const ast::Parameter &parameter = def.parameters[i];
    if (parameter.mode) {
      View view = frame.view(call.arguments[i]);
      if (view.kept.empty()) { // x[i] serves as [1]
        view.kept.push_back(view.region.ranges.size() - 1);
      }
      if (names_in_errors.contains(parameter.name.text)) {
        context_.unsure_buffers.insert(view.region.buffer);
      }
      arguments.emplace_back(std::move(view));
    } else {
      const ExprId value = frame.lower_as(parameter.type, call.arguments[i]);
      // The graph builder sees the kernels' arguments only.
      context_.require_fits(
          value, parameter.type,
          "argument '" + std::string(parameter.name.text) + "':", frame.range(call.arguments[i]));
      arguments.emplace_back(value);
    }
  }
  return arguments;
}

/// The contract of a def's parameter, as of a kernel's.
void StatementLowering::check_def_shape(const ast::LaunchStatement &call, const ast::Def &def,
                                        std::size_t index, const View &view, Frame &frame,
                                        Frame &callee) {
  const ast::Parameter &parameter = def.parameters[index];
  const std::vector<ExprId> actual = view.shape();
  const ast::ExprRef argument = call.arguments[index];
  const ShapeContract contract = {"def '" + std::string(def.name.text) + "'", parameter.name,
                                  frame.text(argument), frame.range(argument)};
  for (std::size_t axis = 0; axis < actual.size(); ++axis) {
    require_extent(context_, contract, "extent " + std::to_string(axis), actual[axis],
                   callee.lower(parameter.shape[axis]));
  }
}

void StatementLowering::inline_def(const ast::LaunchStatement &call, const Symbol &callee,
                                   Frame &frame) {
  const CheckedFile &file = context_.checked[callee];
  const ast::Def &def = file.file->defs[callee.index];
  const std::size_t errors_before = context_.diagnostics.error_count();
  const std::vector<Bound> arguments = bind(call, file, def, frame);
  if (context_.diagnostics.error_count() != errors_before) {
    return;
  }
  Frame inner(context_, file, arguments);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (const auto *view = std::get_if<View>(&arguments[i])) {
      check_def_shape(call, def, i, *view, frame, inner);
    }
  }
  const std::string prefix = target_->prefix;
  target_->prefix += std::string(def.name.text) + ".";
  const std::uint32_t caller =
      std::exchange(call_, static_cast<std::uint32_t>(context_.module.calls.size()));
  context_.module.calls.push_back({caller, frame.range(call.callee)});
  lower_block(def.body, inner);
  call_ = caller;
  target_->prefix = prefix;
}

void StatementLowering::add_child(const ast::LaunchStatement &call, const Symbol &callee,
                                  const ast::Statement &statement, Frame &frame) {
  Target child;
  child.graph.name = context_.graph_names.add(target_->prefix + frame.text(call.callee));
  child.graph.entry = false;
  child.graph.explicit_order = target_->graph.explicit_order;
  child.is_body = target_->is_body;
  child.is_child = true;
  child.graph.place = context_.files.place(statement.range);
  child.prefix = target_->prefix;
  Target *outer = target_;
  target_ = &child;
  inline_def(call, callee, frame);
  flush();
  target_ = outer;
  if (child.graph.nodes.empty()) {
    return; // as an inlined one without nodes
  }
  const GraphId id = finish(std::move(child));
  const auto &nodes = context_.program[id].nodes;
  if (std::any_of(nodes.begin(), nodes.end(), [](const cgrt::format::Node &node) {
        return node.kind() == cgrt::format::NodeKind::Conditional;
      })) {
    context_.diagnostics.report(Diag::ChildWithControlFlow, statement.range,
                                frame.text(call.callee));
  }
  add_node(cgrt::format::ChildWork{id}, statement);
}

BufferId lower_buffer(const ast::Buffer &buffer, const std::string &name, Frame &frame,
                      LoweringContext &context) {
  cgrt::format::Buffer lowered;
  lowered.name = context.buffer_names.add(name);
  lowered.type = buffer.type;
  lowered.space = buffer.space;
  lowered.access = buffer.access;
  lowered.place = context.files.place(buffer.name.range);
  lowered.mapped = find_attribute(buffer.attributes, "mapped") != nullptr;
  for (const ast::ExprRef extent : buffer.shape) {
    lowered.shape.push_back(frame.lower(extent));
    const auto value = context.known(lowered.shape.back(), frame.range(extent), "this extent");
    if (value && (value->is_negative_integer() ||
                  value->as_wide() > std::numeric_limits<std::int64_t>::max())) {
      context.diagnostics.report(Diag::NegativeExtent, frame.range(extent), buffer.name.text,
                                 value->text());
    }
    context.polynomials.assume_nonnegative(lowered.shape.back());
  }
  const BufferId id{static_cast<std::uint32_t>(context.program.buffers.size())};
  context.program.buffers.push_back(std::move(lowered));
  if (frame.file().names_in_errors.contains(buffer.name.text)) {
    context.unsure_buffers.insert(id);
  }
  const ExprId bytes = context.program.exprs.binary(
      ExprOp::Mul, element_count(context.program, whole_view(context.program, id)),
      context.integer(static_cast<std::int64_t>(cgrt::format::size_of(buffer.type))));
  const auto outcome = context.program.exprs.known(bytes);
  if (outcome && outcome->fault == cgrt::format::Fault::Overflow) {
    context.diagnostics.report(Diag::BufferTooLarge, buffer.name.range, buffer.name.text);
  }
  return id;
}

} // namespace cgc
