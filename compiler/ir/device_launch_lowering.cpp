// `tail`, `detach` and `sibling`: a kernel of one thread that launches.
#include "ir/statement_lowering.h"

#include "sema/attribute_check.h"

#include <string>
#include <string_view>

namespace cgc {

using cgrt::ScalarType;
using cgrt::format::LaunchId;
using cgrt::format::LaunchKind;

namespace {

std::string_view stream_of(LaunchKind kind) {
  switch (kind) {
  case LaunchKind::Tail:
    return "cudaStreamGraphTailLaunch";
  case LaunchKind::Detach:
    return "cudaStreamGraphFireAndForget";
  case LaunchKind::Sibling:
    break;
  }
  return "cudaStreamGraphFireAndForgetAsSibling";
}

} // namespace

void StatementLowering::lower_action(const ast::StartStatement &start,
                                     const ast::Statement &statement, Frame &frame) {
  std::vector<ast::ExprRef> conditions;
  if (start.condition.valid()) {
    if (const auto known = constant_value(start.condition, frame, context_)) {
      if (!known->truthy()) {
        return;
      }
    } else {
      conditions.push_back(start.condition);
    }
  }
  if (start.kind != LaunchKind::Tail) {
    flush(); // what is launched at once sees what has been assigned, as after any other node
  }
  DeviceCode &code = pending_for(conditions, frame, statement.range);
  std::string condition = "true";
  if (!conditions.empty()) {
    condition = lower_device_expr(start.condition, frame, code, context_).truth();
  }
  const LaunchId launch =
      context_.add_launch(start.kind, frame.file().symbol(start.target), frame.range(start.target));
  if (conditions.empty()) {
    context_.unconditional_launches.insert(launch);
  }
  context_.program.launches[launch.index].place = context_.files.place(statement.range);
  const std::string refusal =
      code.pointer(signal(context_.program.refusals, "launches.refusals", launch.index),
                   ScalarType::U32, true, true);
  const std::string error = code.variable();
  code.line("if (" + condition + ") { const unsigned int " + error +
            " = static_cast<unsigned int>(cudaGraphLaunch(" + code.graph(launch) + ", " +
            std::string(stream_of(start.kind)) + ")); if (" + error + " != 0) { " + refusal +
            "[0] = " + error + "; } }");
  flush(cgrt::format::spelling(start.kind), statement.range);
  name_last_node(context_.program.launches[launch.index].text, statement);
}

/// What people know a generated kernel by.
void StatementLowering::name_last_node(const std::string &text, const ast::Statement &statement) {
  const ast::Attribute *own = find_attribute(statement.attributes, "name");
  target_->graph.nodes.back().name = own != nullptr ? *own->text : text;
}

void StatementLowering::finish_launches() {
  for (std::size_t i = 0; i < context_.launch_targets.size(); ++i) {
    const std::uint32_t target = context_.launch_targets[i];
    if (target < entries_.size()) { // else the program is too large, which has been reported
      context_.program.launches[i].target = entries_[target];
    }
  }
  for (std::size_t i = 0; i < context_.update_graphs.size(); ++i) {
    if (context_.update_graphs[i] < entries_.size()) {
      context_.program.updates[i].graph = entries_[context_.update_graphs[i]];
    }
  }
}

} // namespace cgc
