// Branches and loops: a kernel that sets a condition, a conditional node that it decides, and a
// graph for each body. A loop's body ends with a kernel that sets the condition again.
#include "ir/constant_source.h"
#include "ir/region_relation.h"
#include "ir/statement_lowering.h"

#include <algorithm>
#include <map>
#include <utility>

namespace cgc {

using cgrt::MemorySpace;
using cgrt::ScalarType;
using cgrt::format::Bodies;
using cgrt::format::BufferId;
using cgrt::format::Check;
using cgrt::format::ConditionalType;
using cgrt::format::ConditionId;
using cgrt::format::Effect;
using cgrt::format::ExprId;
using cgrt::format::GraphId;
using cgrt::format::LoopEnd;
using cgrt::format::Region;
using cgrt::format::Value;

namespace {

/// So that no kernel takes long to compile: one that has as many takes no further statement in.
constexpr std::size_t full_statements = 64;
constexpr std::size_t full_arguments = 128;
/// Of 8 bytes each: far below CUDA's limit of 32,764 bytes.
constexpr std::size_t most_arguments = 1000;

/// Source text in one line, not too long.
std::string words(const std::string &text) {
  std::size_t most = 100;
  std::string line;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!is_space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (line.size() <= most) {
    return line;
  }
  while ((static_cast<unsigned char>(line[most]) & 0xC0U) == 0x80U) {
    --most; // not inside of a character
  }
  return line.substr(0, most) + "…";
}

std::string number(LoopEnd end) {
  return std::to_string(static_cast<std::uint32_t>(end)) + "u";
}

} // namespace

DeviceCode &StatementLowering::pending(const SourceRange &range) {
  if (target_->pending && (target_->pending->statements() >= full_statements ||
                           target_->pending->arguments() >= full_arguments)) {
    flush();
  }
  if (!target_->pending) {
    target_->pending.emplace(range);
    target_->pending_call = call_;
  }
  target_->pending->count_statement();
  return *target_->pending;
}

DeviceCode &StatementLowering::pending_for(const std::vector<ast::ExprRef> &expressions,
                                           Frame &frame, const SourceRange &range) {
  if (target_->pending) {
    const bool feeds = std::any_of(expressions.begin(), expressions.end(), [&](ast::ExprRef root) {
      const auto regions = regions_read(root, frame);
      return std::any_of(regions.begin(), regions.end(), [this](const Region &region) {
        return target_->pending->writes(region.buffer);
      });
    });
    if (!feeds) {
      flush();
    }
  }
  return pending(range);
}

void StatementLowering::flush() {
  if (target_->pending) {
    const SourceRange range = target_->pending->range();
    const std::uint32_t call = std::exchange(call_, target_->pending_call);
    flush("assign", range);
    call_ = call;
  }
}

void StatementLowering::flush(std::string_view what, const SourceRange &range) {
  const DeviceCode code = std::move(*target_->pending);
  target_->pending.reset();
  if (code.arguments() > most_arguments) {
    context_.diagnostics.report(Diag::TooManyElements, range, most_arguments);
  }
  const cgrt::format::Place place = context_.files.place(range);
  cgrt::format::Node node;
  node.work =
      code.finish(std::string(what) + "." + std::to_string(place.line), range, kernels_, context_);
  node.place = place;
  push_node(std::move(node), range);
}

void StatementLowering::lower_action(const ast::AssignStatement &assignment,
                                     const ast::Statement &statement, Frame &frame) {
  lower_assignment(assignment, frame, pending(statement.range), context_);
}

ConditionId StatementLowering::add_condition(const std::string &text, const SourceRange &range) {
  cgrt::format::Condition condition;
  condition.text = words(text);
  condition.place = context_.files.place(range);
  context_.program.conditions.push_back(std::move(condition));
  return {static_cast<std::uint32_t>(context_.program.conditions.size() - 1)};
}

void StatementLowering::add_conditional(ConditionalType type, ConditionId condition, Bodies bodies,
                                        const ast::Statement &statement) {
  add_node(cgrt::format::ConditionalWork{type, condition, std::move(bodies)}, statement);
}

GraphId StatementLowering::lower_body(const ast::Block &block, Frame &frame,
                                      const std::string &label, const ast::Statement &statement,
                                      const Loop *loop) {
  Target body;
  body.graph.name = context_.graph_names.add(target_->prefix + "body");
  body.graph.entry = false;
  body.graph.label = words(label);
  body.graph.place = context_.files.place(statement.range);
  body.prefix = target_->prefix;
  body.graph.explicit_order = target_->graph.explicit_order;
  body.is_body = true;
  body.is_child = target_->is_child;
  Target *outer = target_;
  target_ = &body;
  lower_block(block, frame);
  if (loop != nullptr) {
    set_loop(pending(statement.range), *loop, false);
    flush("next", statement.range);
    if (body.graph.explicit_order) { // the next iteration begins when this one is done
      order(NodeRange{0, node_count() - 1}, {node_count() - 1, node_count()}, statement.range);
    }
  }
  flush();
  target_ = outer;
  return finish(std::move(body));
}

void StatementLowering::lower_action(const ast::IfStatement &branching,
                                     const ast::Statement &statement, Frame &frame) {
  std::vector<const ast::IfStatement::Branch *> branches; // that the device decides on
  const ast::Block *otherwise = nullptr;
  for (const ast::IfStatement::Branch &branch : branching.branches) {
    const auto known = branch.condition.valid() ? constant_value(branch.condition, frame, context_)
                                                : Value::of(true);
    if (known && known->truthy()) {
      otherwise = &branch.body;
      break;
    }
    if (!known) {
      branches.push_back(&branch);
    }
  }
  if (branches.empty()) {
    if (otherwise != nullptr) {
      lower_block(*otherwise, frame);
    }
    return;
  }
  const bool is_chain = branches.size() > 1;
  const ConditionId condition =
      add_condition("if " + frame.text(branches[0]->condition), statement.range);
  std::vector<ast::ExprRef> conditions;
  conditions.reserve(branches.size());
  for (const ast::IfStatement::Branch *branch : branches) {
    conditions.push_back(branch->condition);
  }
  set_branch(pending_for(conditions, frame, statement.range), condition, branches, frame);
  flush("if", statement.range);
  Bodies bodies;
  for (const ast::IfStatement::Branch *branch : branches) {
    const std::string word = bodies.empty() ? "if " : "else if ";
    bodies.push_back(lower_body(
        branch->body, frame, is_chain ? word + frame.text(branch->condition) : "then", statement));
  }
  if (otherwise != nullptr) {
    bodies.push_back(lower_body(*otherwise, frame, "else", statement));
  }
  add_conditional(is_chain ? ConditionalType::Switch : ConditionalType::If, condition,
                  std::move(bodies), statement);
}

/// Of a chain each condition is looked at only if those before it do not hold; the `else` is the
/// body behind all others.
void StatementLowering::set_branch(DeviceCode &code, ConditionId condition,
                                   const std::vector<const ast::IfStatement::Branch *> &branches,
                                   Frame &frame) {
  const std::string handle = code.handle(condition);
  if (branches.size() == 1) {
    const DeviceValue value = lower_device_expr(branches[0]->condition, frame, code, context_);
    code.line("cudaGraphSetConditional(" + handle + ", " + value.truth() + " ? 1u : 0u);");
    return;
  }
  const std::string body = code.variable();
  code.line("unsigned int " + body + " = " + std::to_string(branches.size()) + "u;");
  code.line("do {");
  for (std::size_t i = 0; i < branches.size(); ++i) {
    const DeviceValue value = lower_device_expr(branches[i]->condition, frame, code, context_);
    code.line("if (" + value.truth() + ") { " + body + " = " + std::to_string(i) + "u; break; }");
  }
  code.line("} while (false);");
  code.line("cudaGraphSetConditional(" + handle + ", " + body + ");");
}

void StatementLowering::lower_action(const ast::SwitchStatement &choice,
                                     const ast::Statement &statement, Frame &frame) {
  if (!check_cases(choice, frame) || choice.cases.empty()) {
    return;
  }
  if (const auto known = constant_value(choice.value, frame, context_)) {
    const ast::Block *chosen = nullptr;
    for (const ast::SwitchStatement::Case &one : choice.cases) {
      const bool matches =
          std::any_of(one.labels.begin(), one.labels.end(), [&](ast::ExprRef label) {
            const auto value = constant_value(label, frame, context_);
            return value && value->as_wide() == known->as_wide();
          });
      chosen = matches || (one.labels.empty() && chosen == nullptr) ? &one.body : chosen;
    }
    if (chosen != nullptr) {
      lower_block(*chosen, frame);
    }
    return;
  }
  const ConditionId condition =
      add_condition("switch " + frame.text(choice.value), statement.range);
  set_case(pending_for({choice.value}, frame, statement.range), condition, choice, frame);
  flush("switch", statement.range);
  Bodies bodies;
  for (const ast::SwitchStatement::Case &one : choice.cases) {
    std::string label = one.labels.empty() ? "default" : "case ";
    for (const ast::ExprRef value : one.labels) {
      label += (value == one.labels.front() ? "" : ", ") + frame.text(value);
    }
    bodies.push_back(lower_body(one.body, frame, label, statement));
  }
  add_conditional(ConditionalType::Switch, condition, std::move(bodies), statement);
}

/// False after reporting a label that stands twice or has no value.
bool StatementLowering::check_cases(const ast::SwitchStatement &choice, Frame &frame) {
  std::map<std::pair<bool, std::uint64_t>, ast::ExprRef> seen; // negative, and the low 64 bits
  bool good = true;
  for (const ast::SwitchStatement::Case &one : choice.cases) {
    for (const ast::ExprRef label : one.labels) {
      const auto value = constant_value(label, frame, context_);
      if (!value) {
        good = false; // a fault, which has been reported
        continue;
      }
      const auto [place, added] =
          seen.emplace(std::pair(value->is_negative_integer(), value->bits()), label);
      if (!added) {
        context_.diagnostics.report(Diag::RepeatedCase, frame.range(label), value->text())
            .notes.push_back({frame.range(place->second), "the first one"});
        good = false;
      }
    }
  }
  return good;
}

/// The condition is the number of the body; without a match and a `default` it is none's.
void StatementLowering::set_case(DeviceCode &code, ConditionId condition,
                                 const ast::SwitchStatement &choice, Frame &frame) {
  const std::string handle = code.handle(condition);
  const DeviceValue value = lower_device_expr(choice.value, frame, code, context_);
  const bool is_unsigned = value.type == ScalarType::U64;
  std::size_t otherwise = choice.cases.size();
  std::string cases;
  for (std::size_t i = 0; i < choice.cases.size(); ++i) {
    otherwise = choice.cases[i].labels.empty() ? i : otherwise;
    for (const ast::ExprRef label : choice.cases[i].labels) {
      const Value number = *constant_value(label, frame, context_);
      const bool can_match = is_unsigned
                                 ? !number.is_negative_integer()
                                 : number.as_wide() <= std::numeric_limits<std::int64_t>::max();
      if (can_match) {
        cases += " case " + cpp_literal(number) + ":";
      }
    }
    cases += cases.ends_with(":") ? " return " + std::to_string(i) + "u;" : "";
  }
  code.line("const auto choose = [](" + std::string(is_unsigned ? "unsigned " : "") +
            "long long value) -> unsigned int { switch (value) {" + cases + " default: return " +
            std::to_string(otherwise) + "u; } };");
  code.line("cudaGraphSetConditional(" + handle + ", choose(" + value.text + "));");
}

void StatementLowering::lower_action(const ast::LoopStatement &loop,
                                     const ast::Statement &statement, Frame &frame) {
  const auto known = constant_value(loop.condition, frame, context_);
  if (known && !known->truthy() && !loop.limit.valid()) {
    if (loop.body_first) {
      lower_block(loop.body, frame);
    }
    return;
  }
  const std::string text = (loop.body_first ? "do while " : "while ") + frame.text(loop.condition);
  Loop made = {statement, frame,         add_condition(text, statement.range), {}, {},
               false,     loop.condition};
  if (loop.limit.valid()) {
    set_limit(made, loop.limit, loop.body_first ? 1 : 0, "'max'");
    context_.program.conditions[made.condition.index].limit = made.limit;
    made.counter = hidden("iterations", ScalarType::I64);
  }
  // A `do` in the entry graph begins once a launch, with the value that its condition then has.
  const bool begins_set = loop.body_first && !loop.limit.valid() && !target_->is_body && !stop_;
  context_.program.conditions[made.condition.index].initial = begins_set ? 1 : 0;
  if (!begins_set) {
    made.test = loop.body_first ? ast::ExprRef{} : loop.condition;
    const std::vector<ast::ExprRef> tests(loop.body_first ? 0 : 1, loop.condition);
    set_loop(pending_for(tests, frame, statement.range), made, true);
    made.test = loop.condition;
    flush("while", statement.range);
  }
  const GraphId body = lower_body(loop.body, frame, "each iteration", statement, &made);
  add_conditional(ConditionalType::While, made.condition, {body}, statement);
  warn_if_endless(made, loop, body);
}

void StatementLowering::lower_action(const ast::RepeatStatement &loop,
                                     const ast::Statement &statement, Frame &frame) {
  Loop made = {statement, frame, {}, {}, {}, true, {}};
  set_limit(made, loop.count, 0, "the count of 'repeat'");
  const auto known = context_.program.exprs.known(made.limit);
  if ((known && known->ok() && !known->value.truthy()) || loop.body.statements.empty()) {
    return;
  }
  made.condition = add_condition("repeat " + frame.text(loop.count), statement.range);
  made.counter = hidden("remaining", ScalarType::I64);
  set_loop(pending_for({}, frame, statement.range), made, true);
  flush("repeat", statement.range);
  const GraphId body = lower_body(loop.body, frame, "each iteration", statement, &made);
  add_conditional(ConditionalType::While, made.condition, {body}, statement);
}

/// How often at most; at least `least` times, since the body of a `do` runs once in any case.
void StatementLowering::set_limit(Loop &loop, ast::ExprRef limit, std::int64_t least,
                                  const std::string &what) {
  loop.limit = loop.frame.lower_as(ScalarType::I64, limit);
  const auto known = context_.program.exprs.known(loop.limit);
  if (!known) {
    context_.require(context_.integer(least), Check::Relation::LessEqual, loop.limit, "range",
                     what + " is {right}; it must be at least {left}", loop.frame.range(limit));
  } else if (known->ok() && known->value.as_wide() < least) {
    context_.diagnostics.report(Diag::CountTooSmall, loop.frame.range(limit), what,
                                known->value.text(), least);
  }
}

/// Sets the loop's condition: when it `begins`, or at the end of an iteration. Without a test it is
/// true.
void StatementLowering::set_loop(DeviceCode &code, const Loop &loop, bool begins) {
  const std::string handle = code.handle(loop.condition);
  const std::string test =
      loop.test.valid() ? lower_device_expr(loop.test, loop.frame, code, context_).truth() : "true";
  const std::string go = code.variable();
  const bool counts = !loop.counter.ranges.empty();
  const std::string counter =
      counts ? code.pointer(loop.counter, ScalarType::I64, !begins, true) + "[0]" : "";
  const std::string limit = counts ? code.scalar(loop.limit, ScalarType::I64) : "";
  if (loop.counts_down) {
    code.line(counter + " = " + (begins ? limit : counter + " - 1") + ";");
    code.line("bool " + go + " = " + counter + " > 0;");
  } else {
    code.line("bool " + go + " = " + test + ";");
  }
  const auto end_if = [&](const std::string &condition, LoopEnd why) {
    const std::string report =
        code.pointer(signal(context_.program.reports, "loops.reports", loop.condition.index),
                     ScalarType::U32, true, true);
    code.line("if (" + go + " && " + condition + ") { " + go + " = false; " + report +
              "[0] = " + number(why) + "; }");
  };
  if (counts && !loop.counts_down) {
    code.line(counter + " = " + (begins ? "0" : counter + " + 1") + ";");
    if (!begins || loop.test.valid()) { // a `do` runs at least once
      end_if(counter + " >= " + limit, LoopEnd::Limit);
    }
  }
  if (stop_) {
    const std::string stop = code.pointer(signal(context_.program.stops, "loops.stops", *stop_),
                                          ScalarType::U32, true, false);
    end_if("*static_cast<const volatile unsigned int *>(" + stop + ") != 0", LoopEnd::Stop);
  }
  code.line("cudaGraphSetConditional(" + handle + ", " + go + " ? 1u : 0u);");
}

/// Warns where nobody but its condition ends the loop and that stays true once it is.
void StatementLowering::warn_if_endless(const Loop &loop, const ast::LoopStatement &statement,
                                        GraphId body) {
  if (loop.limit.valid() || stop_ || context_.diagnostics.has_errors()) {
    return;
  }
  const SourceRange &range = loop.frame.range(statement.condition);
  if (constant_value(statement.condition, loop.frame, context_)) {
    context_.diagnostics.report(Diag::Endless, range, "this condition is never false");
    return;
  }
  const std::vector<Region> read = regions_read(statement.condition, loop.frame);
  for (const cgrt::format::Node &node : context_.program[body].nodes) {
    for (const Effect &effect : effects_of(context_.program, node)) {
      if (effect.writes && std::any_of(read.begin(), read.end(), [&](const Region &region) {
            return overlap(context_.polynomials, region, effect.region) != Overlap::No;
          })) {
        return;
      }
    }
  }
  context_.diagnostics.report(Diag::Endless, range,
                              "nothing in this loop changes what its condition reads");
}

/// One element of device memory that the program does not name.
Region StatementLowering::hidden(const std::string &name, ScalarType type) {
  const ExprId one = context_.integer(1);
  cgrt::format::Buffer buffer;
  buffer.name = context_.buffer_names.add(target_->prefix + name);
  buffer.type = type;
  buffer.shape = {one};
  const BufferId id{static_cast<std::uint32_t>(context_.program.buffers.size())};
  context_.program.buffers.push_back(std::move(buffer));
  context_.unsure_buffers.insert(id);
  return {id, {{context_.integer(0), one}}};
}

/// An element of Program::reports, stops or refusals, which is there from its first use on.
Region StatementLowering::signal(BufferId &signals, std::string_view name, std::uint32_t index) {
  const ExprId one = context_.integer(1);
  if (!signals.valid()) {
    cgrt::format::Buffer buffer;
    buffer.name = context_.buffer_names.add(std::string(name));
    buffer.type = ScalarType::U32;
    buffer.space = MemorySpace::Host;
    buffer.shape = {one}; // until finish_signals()
    buffer.mapped = true;
    signals = {static_cast<std::uint32_t>(context_.program.buffers.size())};
    context_.program.buffers.push_back(std::move(buffer));
    context_.unsure_buffers.insert(signals);
  }
  return {signals, {{context_.integer(index), one}}};
}

void StatementLowering::finish_signals() {
  cgrt::format::Program &program = context_.program;
  const auto resize = [&](BufferId signals, std::size_t elements) {
    if (signals.valid()) {
      program.buffers[signals.index].shape = {
          context_.integer(static_cast<std::int64_t>(elements))};
    }
  };
  if (stops_ != 0) { // also where no loop asks
    static_cast<void>(signal(program.stops, "loops.stops", 0));
  }
  resize(program.reports, program.conditions.size());
  resize(program.stops, stops_);
  resize(program.refusals, program.launches.size());
  resize(program.update_refusals, program.updates.size());
}

} // namespace cgc
