#include "ir/read.h"

#include "ir/code_files.h"
#include "ir/code_reader.h"
#include "ir/ir_constant.h"
#include "ir/ir_names.h"
#include "ir/ir_parser.h"
#include "ir/request_reader.h"

#include "format/node_kind.h"

#include <algorithm>
#include <array>

namespace cgc {

using cgrt::CallerAccess;
using cgrt::MemorySpace;
using cgrt::format::Arguments;
using cgrt::format::Bodies;
using cgrt::format::BufferId;
using cgrt::format::ConditionalType;
using cgrt::format::ConditionId;
using cgrt::format::Expr;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::Extents;
using cgrt::format::GraphId;
using cgrt::format::KernelId;
using cgrt::format::Mode;
using cgrt::format::OptionalExtents;
using cgrt::format::ParamId;
using cgrt::format::Quantity;
using cgrt::format::Region;
using cgrt::format::Value;
using cgrt::format::ValueKind;

namespace {

class Reader {
public:
  Reader(SourceFiles &files, FileId file, Diagnostics &diagnostics)
      : parser_(files[file].text(), file, diagnostics), files_(files), file_(file) {}

  std::optional<Module> run() {
    module_.first_file = static_cast<std::uint32_t>(files_.size());
    module_.is_text = true;
    while (!parser_.at_end()) {
      read_line();
    }
    requests_.find_graphs(graphs_);
    if (!parser_.failed()) {
      code_.finish(files_);
    }
    if (!parser_.failed()) {
      const auto problems = cgrt::format::verify(program_, 1);
      if (!problems.empty()) {
        parser_.fail(Diag::IrBroken, {file_, 0, 0}, problems.front());
      }
    }
    return parser_.failed() ? std::nullopt : std::optional(std::move(module_));
  }

private:
  void read_line() {
    if (parser_.token().kind == IrTokenKind::Expression) {
      read_expr();
    } else if (parser_.accept_word("param")) {
      read_param();
    } else if (parser_.accept_word("buffer")) {
      read_buffer();
    } else if (parser_.accept_word("kernel")) {
      read_kernel();
    } else if (parser_.accept_word("condition")) {
      read_condition();
    } else if (parser_.accept_word("event")) {
      read_event();
    } else if (parser_.accept_word("function")) {
      read_function();
    } else if (parser_.accept_word("launch")) {
      requests_.read_launch();
    } else if (parser_.accept_word("updatable")) {
      requests_.read_updatable();
    } else if (parser_.accept_word("update")) {
      requests_.read_update();
    } else if (read_signals("reports", program_.reports) || read_signals("stops", program_.stops) ||
               read_signals("refusals", program_.refusals) ||
               read_signals("update_refusals", program_.update_refusals)) {
      return;
    } else if (parser_.accept_word("check")) {
      read_check();
    } else if (parser_.accept_word("child")) {
      parser_.expect_word("graph");
      read_graph(false);
    } else if (parser_.accept_word("graph")) {
      read_graph(true);
    } else if (!code_.read_line()) {
      parser_.fail(
          "file, param, buffer, scope, kernel, condition, event, function, launch, updatable, "
          "update, check, graph or an expression");
    }
  }

  bool read_signals(std::string_view word, BufferId &signals) {
    if (!parser_.accept_word(word)) {
      return false;
    }
    signals = buffers_.read(parser_);
    parser_.expect_line_end();
    return true;
  }

  /// The end of a line, before it the place if there is one.
  Place end() {
    const Place place = code_.read_place();
    parser_.expect_line_end();
    return place;
  }

  /// An expression that stands above.
  ExprId expr() {
    const SourceRange range = parser_.token().range;
    const ExprId id{parser_.index(IrTokenKind::Expression, "an expression such as %3")};
    if (id.index >= program_.exprs.size()) {
      parser_.fail(Diag::IrUnknown, range, "expression %" + std::to_string(id.index));
      return {0};
    }
    return id;
  }

  void read_expr() {
    const SourceRange range = parser_.token().range;
    const std::uint32_t number = parser_.index(IrTokenKind::Expression, "an expression");
    if (number != program_.exprs.size()) {
      parser_.fail(Diag::IrExpected, range, "%" + std::to_string(program_.exprs.size()));
    }
    parser_.expect_symbol("=");
    const SourceRange op_range = parser_.token().range;
    const auto op = cgrt::format::parse_expr_op(parser_.name());
    if (!op) {
      parser_.fail(Diag::IrExpected, op_range, "an operator such as add");
      return;
    }
    Expr expr;
    expr.op = *op;
    if (expr.op == ExprOp::Const) {
      const Value value = read_constant(parser_);
      expr.kind = value.kind();
      expr.bits = value.bits();
    } else if (expr.op == ExprOp::Param) {
      const ParamId param = params_.read(parser_);
      expr.bits = param.index;
      expr.type = param.valid() ? program_.params[param.index].type : expr.type;
      expr.kind = cgrt::format::kind_of(expr.type);
    } else {
      read_operation(expr, op_range);
    }
    parser_.expect_line_end();
    if (!parser_.failed()) {
      append(expr);
    }
  }

  ExprId append(const Expr &expr) {
    const ExprId id = program_.exprs.append(expr);
    neutral_.see(id, expr);
    return id;
  }

  void read_operation(Expr &operation, const SourceRange &op_range) {
    if (operation.op == ExprOp::Cast) {
      operation.type = parser_.type();
    }
    const std::array<ExprId *, 3> operands = {&operation.a, &operation.b, &operation.c};
    std::array<ValueKind, 3> kinds = {ValueKind::Int, ValueKind::Int, ValueKind::Int};
    for (std::uint32_t i = 0; i < operand_count(operation.op); ++i) {
      *operands[i] = expr();
      kinds[i] = parser_.failed() ? ValueKind::Int : program_.exprs[*operands[i]].kind;
    }
    const auto kind = operation.op == ExprOp::Cast
                          ? cgrt::format::kind_of(operation.type)
                          : result_kind(operation.op, kinds[0], kinds[1], kinds[2]);
    if (!kind) {
      parser_.fail(Diag::IrBroken, op_range, "the operator takes no floats");
      return;
    }
    operation.kind = *kind;
  }

  void read_param() {
    cgrt::format::Param param;
    param.name = parser_.name();
    parser_.expect_symbol(":");
    param.type = parser_.type();
    if (parser_.accept_symbol("=")) {
      // Expressions stand below, since they name the params; verify() looks for this one.
      param.default_value = {parser_.index(IrTokenKind::Expression, "an expression such as %3")};
    }
    param.place = end();
    params_.add(program_.params, std::move(param));
  }

  void read_buffer() {
    cgrt::format::Buffer buffer;
    if (parser_.accept_word("host")) {
      buffer.space = MemorySpace::Host;
    } else {
      parser_.expect_word("device");
    }
    buffer.mapped = parser_.accept_attribute("mapped");
    constexpr std::array<std::string_view, 4> accesses = {"", "in", "out", "inout"};
    for (std::size_t i = 1; i < accesses.size(); ++i) {
      if (parser_.accept_attribute(accesses[i])) {
        buffer.access = static_cast<CallerAccess>(i);
        break;
      }
    }
    buffer.name = parser_.name();
    parser_.expect_symbol(":");
    buffer.type = parser_.type();
    read_list("[", "]", [&] { buffer.shape.push_back(expr()); });
    buffer.place = end();
    buffers_.add(program_.buffers, std::move(buffer));
  }

  /// Things with `,` between them.
  template <typename ReadThing>
  void read_list(std::string_view open, std::string_view close, const ReadThing &read_thing) {
    parser_.expect_symbol(open);
    if (parser_.accept_symbol(close)) {
      return;
    }
    do {
      read_thing();
    } while (parser_.accept_symbol(","));
    parser_.expect_symbol(close);
  }

  void read_kernel() {
    cgrt::format::Kernel kernel;
    kernel.name = parser_.name();
    parser_.expect_word("symbol");
    kernel.symbol = parser_.identifier();
    read_list("(", ")", [&] { kernel.params.push_back(kernel_param()); });
    kernel.inplace = parser_.accept_word("inplace");
    kernel.strided = parser_.accept_word("strided");
    kernel.external = parser_.accept_word("external");
    if (parser_.accept_word("cuda_symbol")) {
      kernel.cuda_symbol = parser_.string();
    }
    const SourceRange line = parser_.token().range;
    kernel.place = end();
    if (kernel.place.line == 0) {
      parser_.fail(Diag::IrExpected, line, "the kernel's place");
      return;
    }
    code_.read_kernel_code(kernel);
    kernels_.add(program_.kernels, std::move(kernel));
  }

  cgrt::format::KernelParam kernel_param() {
    cgrt::format::KernelParam param;
    param.name = parser_.identifier();
    parser_.expect_symbol(":");
    for (const Mode mode : {Mode::In, Mode::Out, Mode::InOut}) {
      if (!param.is_buffer && parser_.accept_word(spelling(mode))) {
        param.is_buffer = true;
        param.mode = mode;
      }
    }
    param.is_graph = !param.is_buffer && parser_.accept_word("graph");
    param.type = param.is_graph ? cgrt::ScalarType::U64 : parser_.type();
    if (param.is_buffer) {
      parser_.expect_symbol("[");
      parser_.expect_symbol("]");
    }
    return param;
  }

  ConditionId condition() {
    return {parser_.index(IrTokenKind::Condition, "a condition such as ?3")};
  }

  void read_condition() {
    const SourceRange range = parser_.token().range;
    if (condition().index != program_.conditions.size()) {
      parser_.fail(Diag::IrExpected, range, "?" + std::to_string(program_.conditions.size()));
    }
    cgrt::format::Condition condition;
    condition.text = parser_.string();
    parser_.expect_word("initial");
    condition.initial = parser_.index(IrTokenKind::Number, "a u32");
    if (parser_.accept_word("limit")) {
      condition.limit = expr();
    }
    condition.place = end();
    program_.conditions.push_back(std::move(condition));
  }

  void read_event() {
    cgrt::format::Event event;
    const std::string name = parser_.name();
    event.name = parser_.accept_word("named") ? parser_.string() : name;
    event.external = parser_.accept_word("external");
    if (!event.external) {
      parser_.expect_word("timing");
    }
    event.place = end();
    events_.add(program_.events, std::move(event), name);
  }

  void read_function() {
    cgrt::format::Callable callable;
    callable.name = parser_.name();
    if (parser_.accept_word("captured")) {
      callable.kind = cgrt::format::CallableKind::Captured;
    } else {
      parser_.expect_word("callback");
    }
    read_list("(", ")", [&] { callable.params.push_back(kernel_param()); });
    callable.concurrent = parser_.accept_word("concurrent");
    callable.place = end();
    callables_.add(program_.callables, std::move(callable));
  }

  void read_check() {
    cgrt::format::Check check;
    check.left = expr();
    if (parser_.accept_symbol("<=")) {
      check.relation = cgrt::format::Check::Relation::LessEqual;
    } else {
      parser_.expect_symbol("==");
    }
    check.right = expr();
    parser_.expect_symbol("[");
    check.slug = parser_.name();
    parser_.expect_symbol("]");
    check.message = parser_.string();
    check.place = end();
    program_.checks.push_back(std::move(check));
  }

  void read_graph(bool entry) {
    cgrt::format::Graph graph;
    graph.entry = entry;
    graph.name = parser_.name();
    if (parser_.accept_word("label")) {
      graph.label = parser_.string();
    }
    if (parser_.accept_word("stop")) {
      graph.stop = parser_.index(IrTokenKind::Number, "a u32");
    }
    graph.explicit_order = parser_.accept_word("explicit");
    graph.device_launch = parser_.accept_word("device_launch");
    parser_.expect_symbol("{");
    graph.place = end();
    module_.origins.emplace_back();
    while (!parser_.failed() && !parser_.accept_symbol("}")) {
      graph.nodes.push_back(read_node(graph.nodes.size()));
    }
    parser_.expect_line_end();
    graphs_.add(program_.graphs, std::move(graph));
  }

  cgrt::format::Node read_node(std::size_t number) {
    const SourceRange range = parser_.token().range;
    if (parser_.token().text != std::to_string(number)) {
      parser_.fail("'#" + std::to_string(number) + "' or '}'");
    }
    parser_.index(IrTokenKind::Node, "a node such as #3");
    parser_.expect_symbol("=");
    cgrt::format::Node node;
    module_.origins.back().push_back({range, static_cast<std::uint32_t>(number), 0});
    node.work = read_work();
    if (parser_.accept_word("named")) {
      node.name = parser_.string();
    }
    if (parser_.accept_word("stream")) {
      node.stream = parser_.string();
    }
    if (parser_.accept_word("updatable")) {
      node.updatable = requests_.updatable();
    }
    if (parser_.accept_word("after")) {
      do {
        node.dependencies.push_back(read_dependency());
      } while (parser_.accept_symbol(","));
    }
    node.place = end();
    return node;
  }

  cgrt::format::Dependency read_dependency() {
    cgrt::format::Dependency dependency;
    dependency.node = {parser_.index(IrTokenKind::Node, "a node such as #3")};
    if (parser_.accept_symbol("(")) {
      dependency.buffer = buffers_.read(parser_);
      parser_.expect_symbol(")");
    }
    return dependency;
  }

  /// The kind, then its fields in the table's order, each with its name.
  cgrt::format::Work read_work() {
    cgrt::format::Work work;
    const auto kind = cgrt::format::parse_node_kind(parser_.token().text);
    if (parser_.token().kind != IrTokenKind::Word || !kind) {
      parser_.fail("a kind of node such as copy");
      return work;
    }
    parser_.advance();
    const auto read = [this](const cgrt::format::NodeField &field, auto &value) {
      if (!parser_.at_word(field.name) && set_neutral(value)) {
        return;
      }
      parser_.expect_word(field.name);
      parser_.expect_symbol("(");
      read_field(value);
      parser_.expect_symbol(")");
    };
    switch (*kind) {
#define CGRT_NODE_KIND(name, ...)                                                                  \
  case cgrt::format::NodeKind::name:                                                               \
    for_each_field(work.emplace<cgrt::format::name##Work>(), read);                                \
    break;
#include "format/node_kinds.def"
    }
    return work;
  }

  /// Gives a field that may be left out the value that says nothing.
  template <typename Field> bool set_neutral(Field &) {
    return false;
  }
  bool set_neutral(Quantity &quantity) {
    quantity = neutral(neutral_.zero, 0);
    return true;
  }
  bool set_neutral(OptionalExtents &extents) {
    extents.fill(neutral(neutral_.one, 1));
    return true;
  }

  /// The constant of which `known` is the first in the table; it comes into the table if it must.
  ExprId neutral(const ExprId &known, std::uint64_t value) {
    if (!known.valid()) {
      Expr expr;
      expr.kind = ValueKind::Int;
      expr.bits = value;
      append(expr);
    }
    return known;
  }

  void read_field(KernelId &kernel) {
    kernel = kernels_.read(parser_);
  }
  void read_field(GraphId &graph) {
    graph = graphs_.read(parser_);
  }
  void read_field(cgrt::format::EventId &event) {
    event = events_.read(parser_);
  }
  void read_field(cgrt::format::CallableId &function) {
    function = callables_.read(parser_);
  }
  void read_field(ConditionId &id) {
    id = condition();
  }
  void read_field(ConditionalType &type) {
    const SourceRange range = parser_.token().range;
    const std::string word = parser_.name();
    for (const auto known :
         {ConditionalType::If, ConditionalType::While, ConditionalType::Switch}) {
      if (spelling(known) == word) {
        type = known;
        return;
      }
    }
    parser_.fail(Diag::IrExpected, range, "if, while or switch");
  }
  void read_field(Bodies &bodies) {
    do {
      bodies.push_back(graphs_.read(parser_));
    } while (parser_.accept_symbol(","));
  }
  void read_field(ExprId &id) {
    id = expr();
  }
  void read_field(Extents &extents) {
    std::size_t count = 0;
    do {
      extents[count++] = expr();
    } while (count < extents.size() && parser_.accept_symbol(","));
    while (count < extents.size()) {
      extents[count++] = neutral(neutral_.one, 1);
    }
  }
  void read_field(Region &region) {
    region.buffer = buffers_.read(parser_);
    if (parser_.at_symbol("[")) {
      read_list("[", "]", [&] {
        const ExprId begin = expr();
        parser_.expect_symbol("+");
        region.ranges.push_back({begin, expr()});
      });
    } else if (region.buffer.valid()) {
      for (const ExprId extent : program_[region.buffer].shape) {
        region.ranges.push_back({neutral(neutral_.zero, 0), extent});
      }
    }
  }
  void read_field(Arguments &arguments) {
    if (parser_.at_symbol(")")) {
      return;
    }
    do {
      if (parser_.token().kind == IrTokenKind::Expression) {
        arguments.emplace_back(expr());
      } else if (parser_.token().kind == IrTokenKind::Condition) {
        arguments.emplace_back(condition());
      } else if (parser_.token().kind == IrTokenKind::Launch) {
        arguments.emplace_back(requests_.launch());
      } else if (parser_.token().kind == IrTokenKind::Updatable) {
        arguments.emplace_back(requests_.updatable());
      } else {
        read_field(std::get<Region>(arguments.emplace_back(Region{})));
      }
    } while (parser_.accept_symbol(","));
  }

  IrParser parser_;
  SourceFiles &files_;
  FileId file_;
  Module module_;
  cgrt::format::Program &program_ = module_.program;
  IrNames<ParamId> params_{"param"};
  IrNames<BufferId> buffers_{"buffer"};
  IrNames<KernelId> kernels_{"kernel"};
  IrNames<GraphId> graphs_{"graph"};
  IrNames<cgrt::format::EventId> events_{"event"};
  IrNames<cgrt::format::CallableId> callables_{"function"};
  CodeReader code_{parser_, module_};
  RequestReader requests_{parser_, program_, code_};
  NeutralExprs neutral_;
};

} // namespace

std::optional<Module> read_ir(SourceFiles &files, FileId file, Diagnostics &diagnostics) {
  return Reader(files, file, diagnostics).run();
}

} // namespace cgc
