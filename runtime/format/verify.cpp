#include "format/problems.h"
#include "format/program.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace cgrt::format {

namespace {

/// `where` names the thing under inspection.
class Verifier {
public:
  Verifier(const Program &program, std::size_t limit) : program_(program), problems_(limit) {}

  std::vector<std::string> run() {
    verify_exprs(program_, problems_);
    // Everything below evaluates or follows expression ids, so it needs a sound table.
    if (problems_.count() == 0) {
      check_params();
      check_buffers();
      check_kernels();
      check_conditions();
      check_events_and_callables();
      check_checks();
      check_images();
    }
    if (problems_.count() == 0) {
      check_graphs();
    }
    if (problems_.count() == 0) {
      check_handles();
      verify_launches(program_, problems_);
    }
    return problems_.take();
  }

private:
  void problem(const std::string &where, const std::string &what) { problems_.add(where, what); }

  bool known(ExprId id) const { return id.index < program_.exprs.size(); }

  void need_expr(ExprId id, const std::string &where, std::string_view what) {
    if (!known(id)) {
      problem(where, std::string(what) + " is no expression");
    }
  }

  void need_integer(ExprId id, const std::string &where, std::string_view what) {
    need_expr(id, where, what);
    if (known(id) && program_.exprs[id].kind == ValueKind::Float) {
      problem(where, std::string(what) + " is not an integer");
    }
  }

  void need_index(std::size_t index, std::size_t size, const std::string &where,
                  const std::string &what) {
    if (index >= size) {
      problem(where, "it names no " + what);
    }
  }

  void need_place(const Place &place, const std::string &where) {
    if (place.line != 0 && place.file.index >= program_.files.size()) {
      problem(where, "its place names no file");
    }
  }

  template <typename Things> void check_names(const Things &things, const std::string &what) {
    std::set<std::string_view> names;
    for (const auto &thing : things) {
      if (thing.name.empty() || !names.insert(thing.name).second) {
        problem(what + " '" + thing.name + "'", "the name is empty or stands twice");
      }
    }
  }

  void check_params() {
    check_names(program_.params, "parameter");
    for (const Param &param : program_.params) {
      const std::string where = "parameter '" + param.name + "'";
      need_place(param.place, where);
      if (static_cast<std::uint8_t>(param.type) >= scalar_type_count) {
        problem(where, "unknown type");
      }
      if (param.default_value.valid() &&
          (!known(param.default_value) || !program_.exprs.known(param.default_value))) {
        problem(where, "its default is not constant");
      }
    }
  }

  void check_buffers() {
    check_names(program_.buffers, "buffer");
    for (const Buffer &buffer : program_.buffers) {
      const std::string where = "buffer '" + buffer.name + "'";
      need_place(buffer.place, where);
      if (static_cast<std::uint8_t>(buffer.type) >= scalar_type_count ||
          buffer.space > MemorySpace::Device || buffer.access > CallerAccess::InOut) {
        problem(where, "unknown type, space or access");
      }
      if (buffer.shape.empty() || buffer.shape.size() > max_dimensions) {
        problem(where, "it has " + std::to_string(buffer.shape.size()) +
                           " dimensions; 1 to 8 are allowed");
      }
      for (const ExprId extent : buffer.shape) {
        need_integer(extent, where, "an extent");
      }
      if (buffer.mapped && buffer.space != MemorySpace::Host) {
        problem(where, "only host memory is mapped");
      }
    }
  }

  void check_kernels() {
    check_names(program_.kernels, "kernel");
    for (const Kernel &kernel : program_.kernels) {
      const std::string where = "kernel '" + kernel.name + "'";
      need_place(kernel.place, where);
      if (kernel.symbol.empty() || kernel.symbol.find('\0') != std::string::npos ||
          kernel.cuda_symbol.find('\0') != std::string::npos) {
        problem(where, "it has no symbol");
      }
      if (kernel.external && (kernel.strided || !kernel.cuda_symbol.empty())) {
        problem(where, "it is external and has code of its own");
      }
      check_parameters(kernel.params, where);
    }
  }

  void check_parameters(const std::vector<KernelParam> &params, const std::string &where) {
    for (const KernelParam &param : params) {
      if (static_cast<std::uint8_t>(param.type) >= scalar_type_count || param.mode > Mode::InOut) {
        problem(where, "parameter '" + param.name + "' has an unknown type or mode");
      }
      if (param.is_graph && (param.is_buffer || param.type != ScalarType::U64)) {
        problem(where, "parameter '" + param.name + "' is a graph of another type than u64");
      }
    }
  }

  void check_events_and_callables() {
    for (const Event &event : program_.events) {
      need_place(event.place, "event '" + event.name + "'");
    }
    check_names(program_.callables, "function");
    for (const Callable &callable : program_.callables) {
      const std::string where = "function '" + callable.name + "'";
      need_place(callable.place, where);
      if (callable.kind > CallableKind::Captured) {
        problem(where, "it is of an unknown kind");
      }
      check_parameters(callable.params, where);
    }
  }

  void check_conditions() {
    for (const Condition &condition : program_.conditions) {
      need_place(condition.place, "a condition");
      if (condition.limit.valid()) {
        need_integer(condition.limit, "a condition", "its limit");
        if (!program_.reports.valid()) {
          problem("a condition", "it has a limit and no report");
        }
      }
    }
    std::set<BufferId> signals;
    for (const BufferId id :
         {program_.reports, program_.stops, program_.refusals, program_.update_refusals}) {
      if (id.valid() && !signals.insert(id).second) {
        problem("the reports, stops and refusals", "two of them are the same buffer");
      }
    }
    check_signals(program_.reports, program_.conditions.size(), "reports");
    std::size_t stops = 0;
    for (const Graph &graph : program_.graphs) {
      if (graph.stop && !graph.entry) {
        problem("graph '" + graph.name + "'", "only an entry graph is asked to stop");
      }
      stops = std::max(stops, graph.stop ? std::size_t{*graph.stop} + 1 : 0);
    }
    if (stops != 0 && !program_.stops.valid()) {
      problem("the stops", "there is no buffer for them");
    }
    check_signals(program_.stops, stops, "stops");
    check_signals(program_.refusals, program_.launches.size(), "refusals");
    check_signals(program_.update_refusals, program_.updates.size(), "refusals of updates");
  }

  /// One of the two buffers through which graphs and cgrt talk.
  void check_signals(BufferId id, std::size_t elements, const std::string &what) {
    if (!id.valid()) {
      return;
    }
    if (id.index >= program_.buffers.size()) {
      problem("the " + what, "they name no buffer");
      return;
    }
    const Buffer &buffer = program_[id];
    const bool has_extent = buffer.shape.size() == 1 && known(buffer.shape[0]);
    const auto extent = has_extent ? program_.exprs.known(buffer.shape[0]) : std::nullopt;
    if (buffer.type != ScalarType::U32 || buffer.space != MemorySpace::Host || !buffer.mapped ||
        buffer.access != CallerAccess::Private || !extent || !extent->ok() ||
        extent->value.as_wide() < static_cast<std::int64_t>(elements)) {
      problem("the " + what, "'" + buffer.name + "' is not private mapped u32 host memory of " +
                                 std::to_string(elements) + " elements");
    }
  }

  void check_checks() {
    for (const Check &check : program_.checks) {
      need_place(check.place, "a check");
      need_integer(check.left, "a check", "its left side");
      need_integer(check.right, "a check", "its right side");
      if (check.relation > Check::Relation::LessEqual) {
        problem("a check", "unknown relation");
      }
    }
  }

  void check_images() {
    for (const Image &image : program_.images) {
      if (image.kind > ImageKind::Fatbin || image.bytes.empty()) {
        problem("an image", "it is empty or of an unknown kind");
      }
      const bool is_for_gpus = image.kind != ImageKind::HostSharedObject;
      std::uint32_t next = 0;
      for (const KernelId kernel : image.kernels) {
        if (kernel.index < next || kernel.index >= program_.kernels.size()) {
          problem("an image", "its kernels are not ascending kernels of the program");
          break;
        }
        if (is_for_gpus && program_[kernel].external) {
          problem("an image", "it is for GPUs and holds external kernels");
        }
        next = kernel.index + 1;
      }
    }
  }

  void check_region(const Region &region, const std::string &where) {
    if (region.buffer.index >= program_.buffers.size()) {
      problem(where, "it names no buffer");
      return;
    }
    const Buffer &buffer = program_[region.buffer];
    if (region.ranges.size() != buffer.shape.size()) {
      problem(where, "it gives " + std::to_string(region.ranges.size()) + " ranges for the " +
                         std::to_string(buffer.shape.size()) + " dimensions of '" + buffer.name +
                         "'");
    }
    for (const Range &range : region.ranges) {
      need_integer(range.begin, where, "a range's begin");
      need_integer(range.count, where, "a range's count");
    }
  }

  void check_field(KernelId kernel, const NodeField &, const std::string &where) {
    need_index(kernel.index, program_.kernels.size(), where, "kernel");
  }

  void check_field(EventId event, const NodeField &, const std::string &where) {
    need_index(event.index, program_.events.size(), where, "event");
  }

  void check_field(CallableId function, const NodeField &, const std::string &where) {
    need_index(function.index, program_.callables.size(), where, "function");
  }

  // So no graph can contain itself, and whoever goes through the graphs in order knows a child or a
  // body before its users.
  bool stands_before(GraphId graph) const {
    return graph.index < graph_.index && !program_[graph].entry;
  }

  void check_field(GraphId graph, const NodeField &, const std::string &where) {
    if (!stands_before(graph)) {
      problem(where, "its graph is not a child graph that stands before it");
    } else if (user_[graph.index].valid()) {
      problem(where, "its graph is the body of another node");
    } else {
      is_child_[graph.index] = true;
    }
  }

  void check_field(const Bodies &bodies, const NodeField &, const std::string &where) {
    for (const GraphId body : bodies) {
      if (!stands_before(body)) {
        problem(where, "a body is not a graph that stands before it");
      } else if (user_[body.index].valid() || is_child_[body.index]) {
        problem(where, "a body is used elsewhere, too");
      } else {
        user_[body.index] = graph_;
      }
    }
  }

  void check_field(ConditionId condition, const NodeField &, const std::string &where) {
    if (condition.index >= program_.conditions.size()) {
      problem(where, "it names no condition");
    } else if (decided_in_[condition.index].valid()) {
      problem(where, "its condition decides another node");
    } else {
      decided_in_[condition.index] = graph_;
    }
  }

  void check_field(ConditionalType type, const NodeField &, const std::string &where) {
    if (static_cast<std::uint8_t>(type) >= conditional_type_count) {
      problem(where, "it is of an unknown type");
    }
  }

  void check_field(ExprId id, const NodeField &field, const std::string &where) {
    need_expr(id, where, field.name);
  }

  void check_field(Quantity quantity, const NodeField &field, const std::string &where) {
    need_integer(quantity, where, field.name);
  }

  void check_field(const Extents &extents, const NodeField &field, const std::string &where) {
    for (const ExprId extent : extents) {
      need_integer(extent, where, field.name);
    }
  }

  void check_field(const Region &region, const NodeField &, const std::string &where) {
    check_region(region, where);
  }

  void check_field(const Arguments &arguments, const NodeField &, const std::string &where) {
    for (const Argument &argument : arguments) {
      if (const auto *region = std::get_if<Region>(&argument)) {
        check_region(*region, where);
      } else if (const auto *expr = std::get_if<ExprId>(&argument)) {
        need_expr(*expr, where, "an argument");
      } else if (const auto *condition = std::get_if<ConditionId>(&argument)) {
        given_.emplace_back(*condition, graph_);
      } else if (const auto *launch = std::get_if<LaunchId>(&argument)) {
        need_index(launch->index, program_.launches.size(), where, "launch");
      } else {
        need_index(std::get<UpdatableId>(argument).index, program_.updatables.size(), where,
                   "node to be changed");
      }
    }
  }

  /// How a node's fields must fit together, once each is sound by itself.
  template <typename AnyWork> void check_relations(const AnyWork &, const std::string &) {}

  void check_relations(const KernelWork &work, const std::string &where) {
    const Kernel &kernel = program_[work.kernel];
    check_arguments(work.arguments, kernel.params, where);
    const bool is_given_handle =
        std::any_of(work.arguments.begin(), work.arguments.end(), [](const Argument &argument) {
          return std::holds_alternative<ConditionId>(argument) ||
                 std::holds_alternative<UpdatableId>(argument);
        });
    if (kernel.external && is_given_handle) {
      problem(where, "an external kernel is given a condition or a node");
    }
  }

  void check_relations(const EventWaitWork &work, const std::string &where) {
    if (!program_[work.event].external) {
      problem(where, "it waits for an event that is not the caller's");
    }
  }

  template <typename CallWork>
  requires requires(const CallWork &work) { work.function; }
  void check_relations(const CallWork &work, const std::string &where) {
    constexpr bool is_callback = std::is_same_v<CallWork, CallbackWork>;
    if ((program_[work.function].kind == CallableKind::Callback) != is_callback) {
      problem(where, "its function is of another kind");
    }
    check_arguments(work.arguments, program_[work.function].params, where);
    for (const Argument &argument : work.arguments) {
      const auto *region = std::get_if<Region>(&argument);
      if (region == nullptr && !std::holds_alternative<ExprId>(argument)) {
        problem(where, "a function is given a condition, a graph or a node");
      } else if (region != nullptr && is_callback &&
                 program_[region->buffer].space != MemorySpace::Host) {
        problem(where, "a callback is given device memory");
      }
    }
  }

  void check_arguments(const Arguments &arguments, const std::vector<KernelParam> &params,
                       const std::string &where) {
    if (arguments.size() != params.size()) {
      problem(where, "it has " + std::to_string(arguments.size()) + " arguments instead of " +
                         std::to_string(params.size()));
      return;
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      check_argument(arguments[i], params[i], where);
    }
  }

  void check_relations(const CopyWork &work, const std::string &where) {
    if (program_[work.destination.buffer].type != program_[work.source.buffer].type) {
      problem(where, "its sides differ in type");
    }
  }

  void check_relations(const FillWork &work, const std::string &where) {
    if (size_of(program_[work.destination.buffer].type) > 4) {
      problem(where, "a fill's elements have at most 4 bytes");
    }
  }

  void check_relations(const ConditionalWork &work, const std::string &where) {
    const std::size_t most = work.type == ConditionalType::If      ? 2
                             : work.type == ConditionalType::While ? 1
                                                                   : work.bodies.size();
    if (work.bodies.empty() || work.bodies.size() > most) {
      problem(where, "it has " + std::to_string(work.bodies.size()) + " bodies");
    } else if (work.type == ConditionalType::While) {
      loop_of_[work.bodies[0].index] = work.condition;
    }
  }

  void check_argument(const Argument &argument, const KernelParam &param,
                      const std::string &where) {
    if (std::holds_alternative<LaunchId>(argument) != param.is_graph) {
      problem(where, "argument '" + param.name + "' is a graph where none is asked for, or none");
      return;
    }
    if (param.is_graph) {
      return;
    }
    if (std::holds_alternative<ConditionId>(argument) ||
        std::holds_alternative<UpdatableId>(argument)) {
      if (param.is_buffer || param.type != ScalarType::U64) {
        problem(where, "argument '" + param.name + "' is a handle for another type than u64");
      }
      return;
    }
    const auto *region = std::get_if<Region>(&argument);
    if ((region != nullptr) != param.is_buffer) {
      problem(where,
              "argument '" + param.name + "' is a scalar for a buffer or a buffer for a scalar");
    } else if (region != nullptr && program_[region->buffer].type != param.type) {
      // Host memory is fine here: it is pinned, and kernels reach it. The language lets only
      // generated kernels do so.
      problem(where, "argument '" + param.name + "' has the wrong type");
    }
  }

  void check_node(const Graph &graph, std::size_t index) {
    const Node &node = graph.nodes[index];
    const std::string where = "graph '" + graph.name + "' node " + std::to_string(index);
    need_place(node.place, where);
    if (node.updatable.valid()) {
      need_index(node.updatable.index, program_.updatables.size(), where, "node to be changed");
      if (node.kind() != NodeKind::Kernel) {
        problem(where, "only a kernel can be changed by kernels");
      }
    }
    const std::size_t found_before = problems_.count();
    std::visit(
        [&](const auto &work) {
          for_each_field(work, [&](const NodeField &field, const auto &value) {
            check_field(value, field, where);
          });
          if (problems_.count() == found_before) {
            check_relations(work, where);
          }
        },
        node.work);
    std::uint32_t next = 0;
    for (const Dependency &dependency : node.dependencies) {
      if (dependency.node.index < next || dependency.node.index >= index) {
        problem(where, "its dependencies are not ascending earlier nodes");
        return;
      }
      if (dependency.buffer.valid() && dependency.buffer.index >= program_.buffers.size()) {
        problem(where, "a dependency names no buffer");
      }
      next = dependency.node.index + 1;
    }
  }

  void check_graphs() {
    check_names(program_.graphs, "graph");
    user_.resize(program_.graphs.size());
    is_child_.resize(program_.graphs.size(), false);
    loop_of_.resize(program_.graphs.size());
    decided_in_.resize(program_.conditions.size());
    for (graph_ = {0}; graph_.index < program_.graphs.size(); ++graph_.index) {
      const Graph &graph = program_[graph_];
      need_place(graph.place, "graph '" + graph.name + "'");
      for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        check_node(graph, i);
      }
    }
  }

  /// CUDA takes a handle for that of the same number in another graph, and hangs or worse where a
  /// child graph has one: each belongs to one entry graph.
  void check_handles() {
    // The entry graph that a graph's nodes run in; none for a child, which may run in several.
    std::vector<GraphId> entry(program_.graphs.size());
    for (std::uint32_t index = static_cast<std::uint32_t>(entry.size()); index-- > 0;) {
      entry[index] = program_.graphs[index].entry ? GraphId{index}
                     : user_[index].valid()       ? entry[user_[index].index]
                                                  : GraphId{};
    }
    check_bodies();
    for (const EventId event : misnamed_events(program_)) {
      problem("event '" + program_[event].name + "'", "the name is empty or stands twice");
    }
    for (const GraphId graph : decided_in_) {
      if (!graph.valid() || !entry[graph.index].valid()) {
        problem("a condition", "it decides no node of an entry graph or of its bodies");
        return;
      }
    }
    check_loops();
    for (const auto &[condition, user] : given_) {
      if (condition.index >= decided_in_.size() ||
          entry[user.index] != entry[decided_in_[condition.index].index]) {
        problem("graph '" + program_[user].name + "'",
                "a kernel is given a condition of another graph");
      }
    }
  }

  /// What no body can hold; neither can a child graph in one.
  void check_bodies() {
    std::vector<bool> in_body(program_.graphs.size(), false);
    for (std::uint32_t index = static_cast<std::uint32_t>(in_body.size()); index-- > 0;) {
      in_body[index] = in_body[index] || user_[index].valid();
      for (const Node &node : program_.graphs[index].nodes) {
        if (in_body[index] && (info(node.kind()).legal_in & ConditionalBody) == 0) {
          problem("graph '" + program_.graphs[index].name + "'",
                  "a body cannot hold this kind of node");
        } else if (const auto *child = std::get_if<ChildWork>(&node.work)) {
          in_body[child->graph.index] = in_body[child->graph.index] || in_body[index];
        }
      }
    }
  }

  /// A loop whose condition nothing in it sets would never end.
  void check_loops() {
    std::vector<bool> set(program_.graphs.size(), false); // bodies in which their loop's is
    for (const auto &[condition, user] : given_) {
      for (GraphId graph = user; graph.valid(); graph = user_[graph.index]) {
        set[graph.index] = set[graph.index] || loop_of_[graph.index] == condition;
      }
    }
    for (std::uint32_t index = 0; index < loop_of_.size(); ++index) {
      if (loop_of_[index].valid() && !set[index]) {
        problem("graph '" + program_.graphs[index].name + "'",
                "nothing in it sets the condition of its loop");
      }
    }
  }

  const Program &program_;
  Problems problems_;
  GraphId graph_;                    ///< under inspection
  std::vector<GraphId> user_;        ///< of a body: the graph of its node
  std::vector<ConditionId> loop_of_; ///< of a While's body: its condition
  std::vector<bool> is_child_;       ///< parallel to the graphs
  std::vector<GraphId> decided_in_;  ///< the graph of each condition's node
  /// Conditions as kernels' arguments, with the graphs of the nodes.
  std::vector<std::pair<ConditionId, GraphId>> given_;
};

} // namespace

std::vector<std::string> verify(const Program &program, std::size_t limit) {
  return Verifier(program, limit).run();
}

} // namespace cgrt::format
