// Streams, events and `sync`: edges between the nodes that they order, and nodes for the events
// that the program asks to have.
#include "ir/statement_lowering.h"

#include "sema/attribute_check.h"

#include <algorithm>

namespace cgc {

using cgrt::format::EventId;
using cgrt::format::GraphId;
using cgrt::format::Node;
using cgrt::format::NodeKind;

namespace {

constexpr std::int64_t most_handles = 65536; ///< in one array

/// Whether the node does more than read and write the program's memory.
bool acts(const Node &node, const std::vector<bool> &acting_graphs) {
  switch (node.kind()) {
  case NodeKind::EventRecord:
  case NodeKind::EventWait:
  case NodeKind::Callback:
  case NodeKind::Captured:
    return true;
  case NodeKind::Child:
    return acting_graphs[std::get<cgrt::format::ChildWork>(node.work).graph.index];
  case NodeKind::Conditional: {
    const auto &bodies = std::get<cgrt::format::ConditionalWork>(node.work).bodies;
    return std::any_of(bodies.begin(), bodies.end(),
                       [&](GraphId body) { return acting_graphs[body.index]; });
  }
  case NodeKind::Kernel:
    return node.updatable.valid() || !launches_of(node).empty() || !updatables_of(node).empty();
  case NodeKind::Copy:
  case NodeKind::Fill:
    break;
  }
  return false;
}

/// Whether the mark holds a node from `position` on.
bool is_behind(const Mark &mark, std::uint32_t position) {
  return (!mark.nodes.empty() && mark.nodes.back() >= position) ||
         std::any_of(mark.ranges.begin(), mark.ranges.end(),
                     [&](const NodeRange &range) { return range.end > position; });
}

} // namespace

void StatementLowering::order(NodeRange from, NodeRange to, const SourceRange &range) {
  if (from.begin != from.end && to.begin != to.end) {
    target_->after.push_back({{}, from, to, range});
  }
}

void StatementLowering::order(const Mark &from, NodeRange to, const SourceRange &range) {
  for (const std::uint32_t node : from.nodes) {
    order({node, node + 1}, to, range);
  }
  for (const NodeRange &part : from.ranges) {
    order(part, to, range);
  }
}

/// Neighbours among the part's nodes that act beyond memory.
std::vector<NodeRange> StatementLowering::acting_in(NodeRange part) const {
  std::vector<NodeRange> acting;
  for (std::uint32_t node = part.begin; node < part.end; ++node) {
    if (!acts(target_->graph.nodes[node], acts_)) {
      continue;
    }
    if (acting.empty() || acting.back().end != node) {
      acting.push_back({node, node});
    }
    ++acting.back().end;
  }
  return acting;
}

/// In an explicit graph a sync orders everything, elsewhere what acts beyond memory against
/// everything on its other side.
void StatementLowering::order_syncs() {
  std::vector<NodeRange> acting; // in the last part in which something acts
  NodeRange before;              // from that part on; what is before that follows
  for (std::size_t i = 0; i <= target_->syncs.size(); ++i) {
    const bool is_last = i == target_->syncs.size();
    const NodeRange part = {before.end, is_last ? node_count() : target_->syncs[i].position};
    const SourceRange range = i == 0 ? SourceRange{} : target_->syncs[i - 1].range;
    if (target_->graph.explicit_order) {
      order(before, part, range);
      before = {part.begin == part.end ? before.begin : part.begin, part.end};
      continue;
    }
    for (const NodeRange &nodes : acting) {
      order(nodes, part, range);
    }
    std::vector<NodeRange> here = acting_in(part);
    for (const NodeRange &nodes : here) {
      order(before, nodes, range);
    }
    before = {here.empty() ? before.begin : part.begin, part.end};
    if (!here.empty()) {
      acting = std::move(here);
    }
  }
  acts_.push_back(!acting.empty());
}

bool StatementLowering::refuse_in_body(const std::string &what, const SourceRange &range) {
  if (target_->is_body) {
    context_.diagnostics.report(Diag::IllegalInBody, range, what);
  }
  return target_->is_body;
}

void StatementLowering::lower_action(const ast::SyncStatement &, const ast::Statement &statement,
                                     Frame &) {
  flush();
  target_->syncs.push_back({node_count(), statement.range});
}

void StatementLowering::lower_action(const ast::HandleStatement &declared, const ast::Statement &,
                                     Frame &frame) {
  const auto &all = declared.is_event ? frame.file().file->events : frame.file().file->streams;
  for (std::uint32_t i = declared.first; i < declared.first + declared.count; ++i) {
    add_handle(all[i], declared, i, frame);
  }
}

void StatementLowering::add_handle(const ast::Handle &handle, const ast::HandleStatement &declared,
                                   std::uint32_t index, Frame &frame) {
  const SymbolKind kind = declared.is_event ? SymbolKind::Event : SymbolKind::Stream;
  const Symbol symbol = {kind, index, frame.file().module};
  std::int64_t count = 1;
  if (handle.count.valid()) {
    if (context_.checked.broken_declarations.contains(symbol)) {
      return;
    }
    const auto given = frame.constant_integer(handle.count, "the size of an array");
    if (!given || *given < 1 || *given > most_handles) {
      if (given) {
        context_.diagnostics.report(Diag::HandleCount, frame.range(handle.count), handle.name.text,
                                    *given, most_handles);
      }
      return;
    }
    count = *given;
  }
  if (!spend(static_cast<std::uint64_t>(count), handle.name.range)) {
    return;
  }
  frame.set_handle(
      symbol, static_cast<std::uint32_t>(declared.is_event ? events_.size() : streams_.size()));
  LaunchAttributes attributes;
  if (!declared.is_event) {
    attributes.apply(handle.attributes, frame);
  }
  const bool external = find_attribute(handle.attributes, "external") != nullptr;
  const bool timing = find_attribute(handle.attributes, "timing") != nullptr;
  for (std::int64_t i = 0; i < count; ++i) {
    std::string name(handle.name.text);
    name += handle.count.valid() ? "[" + std::to_string(i) + "]" : "";
    if (!declared.is_event) {
      streams_.push_back({std::move(name), attributes.priority});
      continue;
    }
    Event event = {name, target_, external};
    if (external || timing) {
      event.node = {static_cast<std::uint32_t>(context_.program.events.size())};
      context_.program.events.push_back(
          {context_.event_names.add(name), external, context_.files.place(handle.name.range)});
    }
    events_.push_back(std::move(event));
  }
}

/// Which stream or event a reference names; nothing after reporting an index out of range, and
/// where the declaration has an error.
std::optional<std::uint32_t> StatementLowering::instance(ast::ExprRef reference, Frame &frame) {
  const CheckedFile &file = frame.file();
  const ast::Expr &expr = file[reference];
  const bool indexed = expr.kind == ast::ExprKind::Index;
  const Symbol &symbol = file.symbol(indexed ? expr.operands[0] : reference);
  const std::optional<std::uint32_t> first = frame.handle(symbol);
  if (!first || !indexed) {
    return first;
  }
  const bool is_event = symbol.kind == SymbolKind::Event;
  const auto &all = is_event ? file.file->events : file.file->streams;
  const ast::Handle &handle = all[symbol.index];
  const auto count = frame.constant_integer(handle.count, "the size of an array");
  const auto index = frame.constant_integer(expr.arguments[0], "an index of a stream or event");
  if (!count || !index) {
    return std::nullopt;
  }
  if (*index < 0 || *index >= *count) {
    context_.diagnostics.report(
        Diag::HandleIndex, expr.range, handle.name.text,
        counted(static_cast<std::size_t>(*count), is_event ? "event" : "stream"),
        std::string(handle.name.text) + "[" + std::to_string(*index) + "]");
    return std::nullopt;
  }
  return *first + static_cast<std::uint32_t>(*index);
}

void StatementLowering::lower_action(const ast::OnStatement &placed, const ast::Statement &,
                                     Frame &frame) {
  const auto stream = instance(placed.stream, frame);
  if (!stream) {
    return;
  }
  flush();
  const auto outer = stream_;
  stream_ = stream;
  attributes_.of_stream = streams_[*stream].priority;
  lower_block(placed.body, frame);
  flush();
  stream_ = outer;
}

/// False after reporting that the event belongs to another graph than this one.
bool StatementLowering::check_crossing(const Event &event, const SourceRange &range) {
  if (event.node.valid() &&
      refuse_in_body("a record or wait of '" + event.name + "', which is an event node,", range)) {
    return false;
  }
  if (event.owner != target_) {
    context_.diagnostics.report(Diag::EventOutsideBody, range, event.name);
  }
  return event.owner == target_;
}

/// What a record refers to: the stream's work so far; outside of streams, the block's.
Mark StatementLowering::so_far() {
  if (stream_) {
    const auto front = target_->fronts.find(*stream_);
    return front == target_->fronts.end() ? Mark{} : front->second.mark;
  }
  OpenBlock &block = blocks_.back();
  if (node_count() > block.next_from) {
    block.begin = block.next_begin;
  }
  target_->stream_order.add_up_to(node_count());
  return Mark::of({block.begin, node_count()});
}

/// All that follows in the block comes after the mark.
void StatementLowering::wait_in_block(const Mark &mark, const SourceRange &range) {
  OpenBlock &block = blocks_.back();
  Mark all = mark;
  if (!block.later.empty() && !is_behind(mark, block.later.back().position)) {
    all = block.later.back().mark;
    target_->stream_order.merge(all, mark);
  }
  if (!block.later.empty() && block.later.back().position == node_count()) {
    block.later.pop_back();
  }
  block.later.push_back({std::move(all), node_count(), range});
  for (const NodeRange &part : mark.ranges) {
    if (part.begin <= block.begin && part.end > block.begin) {
      block.next_begin = part.end;
      block.next_from = node_count();
    }
  }
}

/// Outside of streams it stands between what the block has before and behind it.
std::uint32_t StatementLowering::add_event_node(cgrt::format::Work work,
                                                const ast::Statement &statement) {
  const Mark before = so_far();
  const std::uint32_t node = node_count();
  add_node(std::move(work), statement);
  if (!stream_) {
    order(before, {node, node + 1}, statement.range);
    target_->stream_order.add(node, before);
    wait_in_block({{node}, {}}, statement.range);
    blocks_.back().begin = blocks_.back().next_begin = blocks_.back().next_from = node;
  }
  return node;
}

void StatementLowering::lower_action(const ast::RecordStatement &recorded,
                                     const ast::Statement &statement, Frame &frame) {
  const auto index = instance(recorded.event, frame);
  if (!index || !check_crossing(events_[*index], frame.range(recorded.event))) {
    return;
  }
  flush();
  Event &event = events_[*index];
  if (event.node.valid()) {
    const std::uint32_t node = add_event_node(cgrt::format::EventRecordWork{event.node}, statement);
    event.mark = {{node}, {}};
  } else {
    event.mark = so_far();
  }
}

void StatementLowering::lower_action(const ast::WaitStatement &awaited,
                                     const ast::Statement &statement, Frame &frame) {
  const auto index = instance(awaited.event, frame);
  if (!index || !check_crossing(events_[*index], frame.range(awaited.event))) {
    return;
  }
  flush();
  Event &event = events_[*index];
  if (event.external) {
    const std::uint32_t node = add_event_node(cgrt::format::EventWaitWork{event.node}, statement);
    if (event.mark) {
      order(*event.mark, {node, node + 1}, statement.range);
    }
  } else if (!event.mark) {
    context_.diagnostics.report(Diag::WaitBeforeRecord, frame.range(awaited.event), event.name);
  } else if (stream_) {
    target_->stream_order.merge(target_->fronts[*stream_], *event.mark);
  } else {
    wait_in_block(*event.mark, statement.range);
  }
}

} // namespace cgc
