// The statements of a graph to its nodes, in program order: loops unrolled, defs inlined.
#pragma once

#include "ir/device_code.h"
#include "ir/device_expr.h"
#include "ir/frame.h"
#include "ir/kernel_instances.h"
#include "ir/launch_lowering.h"
#include "ir/memory_lowering.h"
#include "ir/stream_order.h"

#include <map>
#include <unordered_map>
#include <vector>

namespace cgc {

class StatementLowering {
public:
  StatementLowering(LoweringContext &context, KernelInstances &kernels,
                    std::uint64_t max_statements)
      : context_(context), kernels_(kernels), max_statements_(max_statements),
        launches_(context, kernels), memory_(context, kernels) {}

  /// Adds the C++ functions of the main file, so that a program may bind those that nothing calls.
  void add_functions();
  /// Adds the graph to the program, behind its child graphs.
  void lower(const ast::Graph &graph);

  /// Whether the program has become too large, which has been reported.
  bool too_many() const { return statements_ >= max_statements_; }

  /// Gives the buffers of reports and stops their sizes, once all graphs are lowered.
  void finish_signals();
  /// Likewise the launches their targets.
  void finish_launches();

private:
  /// A `sync`: it stands before the node of that number.
  struct Sync {
    std::uint32_t position;
    SourceRange range;
  };

  /// A graph under construction.
  struct Target {
    cgrt::format::Graph graph;
    NodeOrigins origins; ///< of its nodes
    std::string prefix;  ///< of the names of its buffers: "main."
    std::vector<AfterEdge> after;
    bool is_body = false;                  ///< of a branch or loop: entered any number of times
    bool is_child = false;                 ///< or in one
    StreamOrder stream_order;              ///< once there is a node on a stream
    std::map<std::uint32_t, Front> fronts; ///< by stream
    std::vector<Sync> syncs;
    std::optional<DeviceCode> pending; ///< to become the next node
    std::uint32_t pending_call = 0;    ///< the one that it began in
  };

  /// A block while its statements are lowered; one for each iteration and call.
  struct OpenBlock {
    const ast::Block *block = nullptr;
    std::unordered_map<const ast::Statement *, NodeRange> labels;
    /// The launches that the device changes, of which some may still be to come.
    std::unordered_map<const ast::Statement *, cgrt::format::UpdatableId> updatables;
    struct Waiting {
      const ast::Statement *label;
      NodeRange nodes;
      SourceRange range;
    };
    std::vector<Waiting> waiting;
    /// What is recorded stands for the nodes from `begin` on: all before it come before those, or
    /// will from the node `next_from` on, with `next_begin` for `begin`.
    std::uint32_t begin = 0;
    std::uint32_t next_begin = 0, next_from = 0;
    /// What the block's nodes from `position` on come after, all that stands before it included.
    struct Later {
      Mark mark;
      std::uint32_t position;
      SourceRange range;
    };
    std::vector<Later> later;
  };

  /// One stream of the text; it orders the nodes of each graph by themselves.
  struct Stream {
    std::string name;
    std::optional<std::int64_t> priority;
  };

  /// One event of the text.
  struct Event {
    std::string name;
    const Target *owner; ///< the graph it is declared in
    bool external;
    cgrt::format::EventId node{}; ///< of one that is recorded by nodes
    std::optional<Mark> mark{};   ///< what it stands for since its last record
  };

  void lower_block(const ast::Block &block, Frame &frame);
  void lower_statement(const ast::Statement &statement, Frame &frame);
  void connect(const OpenBlock &open);
  void add_node(cgrt::format::Work work, const ast::Statement &statement);
  void push_node(cgrt::format::Node node, const SourceRange &range);
  void order(NodeRange from, NodeRange to, const SourceRange &range);
  void order(const Mark &from, NodeRange to, const SourceRange &range);
  std::vector<NodeRange> acting_in(NodeRange part) const;
  void order_syncs();
  std::optional<std::uint32_t> instance(ast::ExprRef reference, Frame &frame);
  void add_handle(const ast::Handle &handle, const ast::HandleStatement &declared,
                  std::uint32_t index, Frame &frame);
  bool check_crossing(const Event &event, const SourceRange &range);
  Mark so_far();
  void wait_in_block(const Mark &mark, const SourceRange &range);
  bool refuse_in_body(const std::string &what, const SourceRange &range);
  std::uint32_t add_event_node(cgrt::format::Work work, const ast::Statement &statement);
  std::uint32_t node_count() const;
  bool spend(std::uint64_t statements, const SourceRange &range);

  void lower_action(const ast::CopyStatement &copy, const ast::Statement &statement, Frame &frame);
  void lower_action(const ast::FillStatement &fill, const ast::Statement &statement, Frame &frame);
  void lower_action(const ast::LaunchStatement &launch, const ast::Statement &statement,
                    Frame &frame);
  void lower_action(const ast::AssignStatement &assignment, const ast::Statement &statement,
                    Frame &frame);
  void lower_action(const ast::ForStatement &loop, const ast::Statement &statement, Frame &frame);
  void lower_action(const ast::IfStatement &branching, const ast::Statement &statement,
                    Frame &frame);
  void lower_action(const ast::LoopStatement &loop, const ast::Statement &statement, Frame &frame);
  void lower_action(const ast::RepeatStatement &loop, const ast::Statement &statement,
                    Frame &frame);
  void lower_action(const ast::SwitchStatement &choice, const ast::Statement &statement,
                    Frame &frame);
  void lower_action(const ast::SyncStatement &, const ast::Statement &, Frame &);
  void lower_action(const ast::HandleStatement &declared, const ast::Statement &statement,
                    Frame &frame);
  void lower_action(const ast::OnStatement &placed, const ast::Statement &statement, Frame &frame);
  void lower_action(const ast::RecordStatement &recorded, const ast::Statement &statement,
                    Frame &frame);
  void lower_action(const ast::WaitStatement &awaited, const ast::Statement &statement,
                    Frame &frame);
  void lower_action(const ast::StartStatement &start, const ast::Statement &statement,
                    Frame &frame);
  void lower_action(const ast::UpdateStatement &update, const ast::Statement &statement,
                    Frame &frame);
  void name_last_node(const std::string &text, const ast::Statement &statement);
  cgrt::format::UpdatableId updatable(const LabelTarget &label);
  void mark_updatable(const ast::Statement &statement);
  std::string change_grid(const ast::UpdateStatement &update, const std::string &node, Frame &frame,
                          DeviceCode &code);
  void check_extent(const ast::UpdateStatement &update, std::size_t axis, Frame &frame);
  std::string change_argument(const ast::UpdateStatement &update, const ast::Statement &launch,
                              const std::string &node, Frame &frame, DeviceCode &code);
  void lower_action(const ast::ScopeStatement &scope, const ast::Statement &statement,
                    Frame &frame);
  void lower_action(const ast::BufferStatement &declared, const ast::Statement &statement,
                    Frame &frame);
  void lower_action(const ast::ConstStatement &declared, const ast::Statement &statement,
                    Frame &frame);

  /// A loop whose nodes are being made.
  struct Loop {
    const ast::Statement &statement;
    Frame &frame;
    cgrt::format::ConditionId condition;
    cgrt::format::Region counter; ///< of one that counts; else without ranges
    cgrt::format::ExprId limit;   ///< its `max`, or the count of a `repeat`
    bool counts_down = false;     ///< it is a `repeat`
    ast::ExprRef test;            ///< none for a `repeat`
  };

  /// The code that runs before the next node: assignments and what sets conditions.
  DeviceCode &pending(const SourceRange &range);
  /// The same for what sets a condition: assignments that do not feed these expressions go before,
  /// for what waits for them need not wait for the condition.
  DeviceCode &pending_for(const std::vector<ast::ExprRef> &expressions, Frame &frame,
                          const SourceRange &range);
  /// Makes a node of the pending code, if there is any.
  void flush();
  /// The same for code that is for a statement; `what` and its line name a new kernel.
  void flush(std::string_view what, const SourceRange &range);
  cgrt::format::ConditionId add_condition(const std::string &text, const SourceRange &range);
  cgrt::format::GraphId lower_body(const ast::Block &block, Frame &frame, const std::string &label,
                                   const ast::Statement &statement, const Loop *loop = nullptr);
  void add_conditional(cgrt::format::ConditionalType type, cgrt::format::ConditionId condition,
                       cgrt::format::Bodies bodies, const ast::Statement &statement);
  void set_branch(DeviceCode &code, cgrt::format::ConditionId condition,
                  const std::vector<const ast::IfStatement::Branch *> &branches, Frame &frame);
  void set_case(DeviceCode &code, cgrt::format::ConditionId condition,
                const ast::SwitchStatement &choice, Frame &frame);
  bool check_cases(const ast::SwitchStatement &choice, Frame &frame);
  void set_loop(DeviceCode &code, const Loop &loop, bool begins);
  void set_limit(Loop &loop, ast::ExprRef limit, std::int64_t least, const std::string &what);
  void warn_if_endless(const Loop &loop, const ast::LoopStatement &statement,
                       cgrt::format::GraphId body);
  cgrt::format::Region hidden(const std::string &name, cgrt::ScalarType type);
  cgrt::format::Region signal(cgrt::format::BufferId &signals, std::string_view name,
                              std::uint32_t index);

  void inline_def(const ast::LaunchStatement &call, const Symbol &callee, Frame &frame);
  void add_child(const ast::LaunchStatement &call, const Symbol &callee,
                 const ast::Statement &statement, Frame &frame);
  std::vector<Bound> bind(const ast::LaunchStatement &call, const CheckedFile &callee,
                          const ast::Def &def, Frame &frame);
  void check_def_shape(const ast::LaunchStatement &call, const ast::Def &def, std::size_t index,
                       const View &view, Frame &frame, Frame &callee);
  cgrt::format::GraphId finish(Target target);

  LoweringContext &context_;
  KernelInstances &kernels_;
  std::uint64_t max_statements_;
  LaunchLowering launches_;
  MemoryLowering memory_;
  Target *target_ = nullptr;
  LaunchAttributes attributes_; ///< of the blocks around
  std::vector<OpenBlock> blocks_;
  std::uint32_t call_ = 0;              ///< the one that is being lowered
  std::uint64_t statements_ = 0;        ///< lowered so far
  std::optional<std::uint32_t> stop_;   ///< of the entry graph being lowered
  std::uint32_t stops_ = 0;             ///< graphs that can be asked to stop
  std::vector<Stream> streams_;         ///< by instance
  std::vector<Event> events_;           ///< likewise
  std::optional<std::uint32_t> stream_; ///< the one that statements are put on
  std::vector<bool> acts_;              ///< of each graph: whether it has effects beyond memory
  std::vector<cgrt::format::GraphId> entries_; ///< by the graph's number in the main file
};

/// Adds a buffer to the program; reports extents and sizes that are known to be wrong.
cgrt::format::BufferId lower_buffer(const ast::Buffer &buffer, const std::string &name,
                                    Frame &frame, LoweringContext &context);

} // namespace cgc
