// A compiled program: what a bundle holds. The same structure is the compiler's Graph IR, so that
// one verifier serves the compiler's passes, the IR reader and the loader of hostile bundles.
#pragma once

#include "format/expr.h"
#include "format/ids.h"
#include "format/node_kind.h"
#include "format/scalar_type.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace cgrt::format {

struct Place {
  FileId file;
  std::uint32_t line = 0; ///< 1-based; 0: no place
  std::uint32_t column = 0;

  bool operator==(const Place &) const = default;
};

struct Param {
  std::string name;
  ScalarType type = ScalarType::I32;
  ExprId default_value; ///< constant; none: the caller must give it
  Place place;
};

inline constexpr std::size_t max_dimensions = 8;

/// Row-major and contiguous; `shape` has 1 to max_dimensions extents.
struct Buffer {
  std::string name;
  ScalarType type = ScalarType::F32;
  MemorySpace space = MemorySpace::Device;
  CallerAccess access = CallerAccess::Private;
  std::vector<ExprId> shape;
  Place place;
  bool mapped = false; ///< host memory that kernels may be given
};

enum class Mode : std::uint8_t { In, Out, InOut };
std::string_view spelling(Mode mode);

struct KernelParam {
  std::string name;
  ScalarType type = ScalarType::I32;
  bool is_buffer = false;
  Mode mode = Mode::In;  ///< of a buffer
  bool is_graph = false; ///< what a kernel launches; of type u64
};

/// A kernel as the devices find it: cuda_name() in the cubin, PTX and fatbin images, and `symbol`
/// with a prefix in the host images.
struct Kernel {
  std::string name;
  std::string symbol; ///< an identifier
  std::vector<KernelParam> params;
  Place place;
  std::string cuda_symbol = {}; ///< its name in cubin, PTX and fatbin images; empty: `symbol`
  bool inplace = false;         ///< its buffer arguments may overlap
  bool strided = false;  ///< generated: takes boxes by first element and computes strides itself
  bool external = false; ///< bound by the embedding program; images for GPUs do not hold it

  const std::string &cuda_name() const { return cuda_symbol.empty() ? symbol : cuda_symbol; }
};

/// Host code exports a kernel with the first prefix, or, if it is run once for a whole launch, with
/// the second.
inline constexpr std::string_view host_symbol_prefix = "cg_host_";
inline constexpr std::string_view host_once_symbol_prefix = "cg_host_once_";

/// Elements [begin, begin + count) along one dimension.
struct Range {
  ExprId begin;
  ExprId count;

  bool operator==(const Range &) const = default;
};

/// A box: one range for each dimension of its buffer.
struct Region {
  BufferId buffer;
  std::vector<Range> ranges;

  bool operator==(const Region &) const = default;
};

/// What decides a conditional node: CUDA's conditional handle. Kernels that are given it set its
/// value on the device.
struct Condition {
  std::string text;          ///< as the program says it: "while err[0] > tol"
  std::uint32_t initial = 0; ///< its value when a launch begins
  ExprId limit;              ///< of a loop with `max`: the most iterations; none otherwise
  Place place;
};

/// A CUDA event that nodes record or wait for: of a timing event the caller asks for the time, an
/// external one is the caller's.
struct Event {
  std::string name;
  bool external = false;
  Place place;
};

/// A callback runs on the host; what a captured function puts on a stream becomes a child graph.
enum class CallableKind : std::uint8_t { Callback, Captured };
std::string_view spelling(CallableKind kind);

/// A C++ function that the embedding program binds by name.
struct Callable {
  std::string name;
  CallableKind kind = CallableKind::Callback;
  std::vector<KernelParam> params;
  bool concurrent = false; ///< its calls may run side by side
  Place place;
};

/// When what a kernel launches runs (CUDA C++ Programming Guide, "Device Graph Launch"): when the
/// launching graph has ended; at once, before it ends; at once, whenever it ends.
enum class LaunchKind : std::uint8_t { Tail, Detach, Sibling };
inline constexpr std::uint8_t launch_kind_count = 3;
std::string_view spelling(LaunchKind kind);

/// A graph that a kernel launches. Each has an executable of its own; one whose target is the
/// launching entry graph, which is a Tail, is that graph's.
struct DeviceLaunch {
  std::string text; ///< as the program says it: "tail step"
  LaunchKind kind = LaunchKind::Tail;
  GraphId target; ///< for device launch
  Place place;
};

/// A kernel node that kernels change (CUDA C++ Programming Guide, "Device Node Update").
struct Updatable {
  std::string name; ///< the program's label
  Place place;
};

/// What a kernel does to one, so that a change that is refused can be told.
struct DeviceUpdate {
  std::string text; ///< as the program says it: "grid(L)"
  GraphId graph;    ///< the entry graph in which it happens
  Place place;
};

/// How a Condition's value chooses: If runs body 0 when it is not 0, else body 1 if there is one;
/// While runs body 0 again and again until it is 0; Switch runs the body of that number, if any.
enum class ConditionalType : std::uint8_t { If, While, Switch };
inline constexpr std::uint8_t conditional_type_count = 3;
std::string_view spelling(ConditionalType type);

/// A kernel argument: a scalar, converted to the parameter's type, a region's first element, a
/// condition's handle, for a parameter of type u64, the executable that it may launch, or a node
/// that it changes, for a parameter of type u64.
using Argument = std::variant<ExprId, Region, ConditionId, LaunchId, UpdatableId>;

// The types of a node's fields. Each has its overloads where fields are printed, verified, encoded
// and decoded; a new node kind made of them needs none.
using Extents = std::array<ExprId, 3>;

/// An integer expression that means nothing where it is constant 0.
struct Quantity : ExprId {
  Quantity() = default;
  Quantity(ExprId expr) : ExprId(expr) {} // NOLINT: an expression is what it is
};

/// Extents of which all constant 1 means nothing.
struct OptionalExtents : Extents {
  OptionalExtents() = default;
  OptionalExtents(const Extents &extents) : Extents(extents) {} // NOLINT: extents are what they are
  OptionalExtents(ExprId x, ExprId y, ExprId z) : Extents{x, y, z} {}
};

using Arguments = std::vector<Argument>;
using Bodies = std::vector<GraphId>;

// KernelWork: `shared_bytes` is the dynamic shared memory; `cooperative` is 0 or 1; the arguments
// match the kernel's parameters, and no external kernel is given a condition. CopyWork: both
// regions have the same element type, and the same extents but for those that are 1. FillWork:
// `value` is converted to the destination's element type, which has 1, 2 or 4 bytes (memset's).
// ChildWork: `graph` is no entry, stands before the graph that uses it and has no ConditionalWork.
// ConditionalWork: a While has one body, an If one or two; a body is no entry, stands before its
// user, and has no other; no other node has this condition, and kernels of the same entry graph and
// its bodies alone are given it. A launch is given to kernels of one entry graph and its
// children, which have no ConditionalWork. An updatable is one node of an entry graph or of its
// bodies, and kernels of those alone are given it. EventWaitWork: the event is external.
// CallbackWork and CapturedWork: the function is of that kind, the arguments match its parameters;
// a callback's buffers are host memory.
#define CGRT_NODE_KIND(name, ...) struct name##Work {
#define CGRT_NODE_FIELD(kind, type, member, ...) type member;
#define CGRT_NODE_END(name)                                                                        \
  }                                                                                                \
  ;
#include "format/node_kinds.def"

/// In the table's order, which is checked below.
using Work = std::variant<KernelWork, CopyWork, FillWork, ChildWork, ConditionalWork,
                          EventRecordWork, EventWaitWork, CallbackWork, CapturedWork>;

#define CGRT_NODE_KIND(name, id, ...)                                                              \
  static_assert(std::is_same_v<std::variant_alternative_t<id, Work>, name##Work>);
#include "format/node_kinds.def"

/// Calls `visit(NodeField, member)` for each field, in wire order; `work` may be const.
#define CGRT_NODE_KIND(name, ...)                                                                  \
  template <typename WorkType, typename Visit>                                                     \
  requires std::is_same_v<std::remove_const_t<WorkType>, name##Work> void for_each_field(          \
      WorkType &work, Visit &&visit) {
#define CGRT_NODE_FIELD(kind, type, member, access, update)                                        \
  visit(NodeField{#member, FieldAccess::access, FieldUpdate::update}, work.member);
#define CGRT_NODE_END(name) }
#include "format/node_kinds.def"

/// An edge, and why it is there.
struct Dependency {
  NodeId node;     ///< an earlier node of the same graph
  BufferId buffer; ///< whose conflicting accesses ask for it; none: the program does (`after`)

  bool operator==(const Dependency &) const = default;
};

struct Node {
  Work work;
  std::vector<Dependency> dependencies; ///< ascending by node, each node once
  Place place;
  std::string name{};      ///< the program's own (`@name`); empty: none
  std::string stream{};    ///< the one it was put on, for people to see; empty: none
  UpdatableId updatable{}; ///< what kernels change it as; none: they do not

  NodeKind kind() const { return static_cast<NodeKind>(work.index()); }
};

/// Nodes stand in program order: every dependency points backwards.
struct Graph {
  std::string name;
  std::vector<Node> nodes;
  Place place;
  bool entry = true;   ///< false: only a child or a body of others
  std::string label{}; ///< of a body: "case 1, 2"
  /// The element of Program::stops that ends the loops of this entry graph; none: nothing does.
  std::optional<std::uint32_t> stop{};
  bool explicit_order = false; ///< the program gave all edges; conflicts asked for none
  /// This entry graph can be launched from the device: it has no ConditionalWork, and no other
  /// nodes than the table allows there.
  bool device_launch = false;

  std::size_t edge_count() const;
};

/// A condition on the parameters that every launch rests on and the compiler could not decide.
struct Check {
  enum class Relation : std::uint8_t { Equal, LessEqual };
  ExprId left;
  Relation relation = Relation::Equal;
  ExprId right;
  std::string slug;    ///< the diagnostic it would have been
  std::string message; ///< `{left}` and `{right}` stand for the values
  Place place;
};

enum class ImageKind : std::uint8_t { Cubin, Ptx, HostSharedObject, Fatbin };
std::string_view spelling(ImageKind kind);

/// Machine code for some of the program's kernels.
struct Image {
  ImageKind kind = ImageKind::Cubin;
  std::string architecture; ///< "sm_90" for Cubin, "compute_90" for Ptx, "x86_64" for host code,
                            ///< empty for Fatbin, which says itself what it holds
  std::vector<KernelId> kernels; ///< those it holds code for, ascending
  std::vector<std::byte> bytes;
};

/// Why a loop ended before its condition did.
enum class LoopEnd : std::uint32_t { Condition, Limit, Stop };

struct Program {
  std::vector<std::string> files; ///< source file names as given to the compiler
  ExprTable exprs;
  std::vector<Param> params;
  std::vector<Buffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<Graph> graphs;
  std::vector<Condition> conditions;
  std::vector<Event> events;
  std::vector<Callable> callables;
  std::vector<DeviceLaunch> launches;
  std::vector<Updatable> updatables;
  std::vector<DeviceUpdate> updates;
  /// Private mapped host memory of u32, none where nothing needs it: one element for each condition
  /// in which a loop that was ended says why (a LoopEnd), one for each entry graph that can be
  /// asked to stop, which it is while that is not 0, and one for each launch and one for each
  /// update, the cudaError_t of one that was refused. cgrt keeps them 0.
  BufferId reports;
  BufferId stops;
  BufferId refusals;
  BufferId update_refusals;
  std::vector<Check> checks;
  std::vector<Image> images;

  const Buffer &operator[](BufferId id) const { return buffers[id.index]; }
  const Kernel &operator[](KernelId id) const { return kernels[id.index]; }
  const Graph &operator[](GraphId id) const { return graphs[id.index]; }
  const Condition &operator[](ConditionId id) const { return conditions[id.index]; }
  const Event &operator[](EventId id) const { return events[id.index]; }
  const Callable &operator[](CallableId id) const { return callables[id.index]; }
  const DeviceLaunch &operator[](LaunchId id) const { return launches[id.index]; }
  const Updatable &operator[](UpdatableId id) const { return updatables[id.index]; }
  SourceLocation locate(const Place &place) const;
};

/// Whether the region is its whole buffer whatever the parameters are.
bool is_whole(const Program &program, const Region &region);

/// The conditions of an entry graph's nodes and of those in its bodies, ascending.
std::vector<ConditionId> conditions_of(const Program &program, GraphId graph);

/// The C++ function that a node calls; none if it is neither a callback nor a captured function.
CallableId callable_of(const Node &node);
/// The external kernel that a node launches; none if it does nothing of the kind.
KernelId external_kernel_of(const Program &program, const Node &node);
/// The event that a node records or waits for; none if it does neither.
EventId event_of(const Node &node);

/// Calls `visit(node)` for each node of a graph and of those in it, each graph once.
template <typename Visit>
void for_each_node_in(const Program &program, GraphId graph, const Visit &visit) {
  std::vector<GraphId> open = {graph};
  std::set<GraphId> seen = {graph};
  while (!open.empty()) {
    const Graph &next = program[open.back()];
    open.pop_back();
    for (const Node &node : next.nodes) {
      visit(node);
      if (const auto *child = std::get_if<ChildWork>(&node.work)) {
        if (seen.insert(child->graph).second) {
          open.push_back(child->graph);
        }
      } else if (const auto *branch = std::get_if<ConditionalWork>(&node.work)) {
        open.insert(open.end(), branch->bodies.begin(), branch->bodies.end());
      }
    }
  }
}

/// What a node's kernel may launch.
std::vector<LaunchId> launches_of(const Node &node);
/// The same of all nodes of a graph and of those in it, ascending.
std::vector<LaunchId> launches_of(const Program &program, GraphId graph);
/// What a node's kernel changes.
std::vector<UpdatableId> updatables_of(const Node &node);
/// The graphs that run when this entry graph does: itself and what it launches, and so on, each
/// once.
std::vector<GraphId> graphs_run_by(const Program &program, GraphId graph);

/// Events without a name, or with that of another one in the same entry graph, its bodies and
/// children.
std::vector<EventId> misnamed_events(const Program &program);

/// What a node does to memory, one entry for each region it touches.
struct Effect {
  Region region;
  bool reads = false;
  bool writes = false;
};
/// A child node does what the nodes of its graph do, a conditional what those of its bodies do.
std::vector<Effect> effects_of(const Program &program, const Node &node);

/// The name people know a node by: its own, else "kernel saxpy", "copy x[3, 0:4] <- hx", "fill x".
std::string describe(const Program &program, const Node &node);

/// Everything that is wrong with a program's structure: indices out of range, operands after their
/// users, arguments that do not match their kernel, dependencies that point forward. Empty: sound.
/// At most `limit` problems are listed.
std::vector<std::string> verify(const Program &program, std::size_t limit = 20);

} // namespace cgrt::format
