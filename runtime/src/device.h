// What a device must offer. graph_builder validates and resolves; a device only does as it is told,
// so both devices accept and refuse the same programs.
#pragma once

#include "format/program.h"
#include "node_label.h"

#include <cgrt/callable.h>
#include <cgrt/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace cgrt {

/// A kernel as loaded on one device. Owned by its LoadedCode.
class Function {
public:
  virtual ~Function() = default;
};

/// The kernels of one program, loaded.
class LoadedCode {
public:
  virtual ~LoadedCode() = default;
  /// Parallel to Program::kernels; valid as long as this object. Only where it holds the kernel.
  virtual const Function &function(format::KernelId kernel) const = 0;
  /// Only external kernels may be missing.
  virtual bool holds(format::KernelId kernel) const = 0;
};

/// A block of memory on one device; freed by its destructor, which must not run while a launch
/// uses it.
class Memory {
public:
  virtual ~Memory() = default;
  /// A device address for MemorySpace::Device, a host address for MemorySpace::Host.
  virtual std::byte *data() const = 0;
  virtual std::size_t size() const = 0;
};

class DeviceGraph;

/// A point in a launch, or an event of the caller's.
class DeviceEvent {
public:
  virtual ~DeviceEvent() = default;
  /// Milliseconds from this to `end`; both are timing events that finished launches have recorded.
  virtual double milliseconds_to(const DeviceEvent &end) const = 0;
};

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

// Resolved forms of the node kinds: numbers and addresses instead of expressions and ids. All are
// legal for CUDA as they stand: no zero sizes, no geometry beyond format/geometry.h.

struct KernelParams {
  const Function *function = nullptr;
  Dim3 grid, block;
  std::uint32_t shared_bytes = 0;
  /// One slot for each kernel parameter; its low bytes hold the scalar or the address.
  std::vector<std::uint64_t> arguments;
  Dim3 cluster = {};
  bool cooperative = false;
  int priority = 0;       ///< CUDA's: the lower, the sooner; beyond the device's range is its end
  bool updatable = false; ///< kernels change the node; then it is in no child graph
};

/// How the rows of one side of a copy lie in memory.
struct Rows {
  std::size_t pitch = 0;     ///< bytes from one row to the next; no part of a single row's address
  std::size_t per_plane = 1; ///< rows from one plane to the next
};

/// `depth` planes of `height` rows of `width` bytes, each at least 1. The sides do not overlap.
struct CopyParams {
  std::byte *destination = nullptr;
  const std::byte *source = nullptr;
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
  Rows destination_rows = {};
  Rows source_rows = {};
};

/// `height` rows of `width` elements, each at least 1.
struct FillParams {
  std::byte *destination = nullptr;
  std::uint32_t pattern = 0;       ///< the low element_bytes bytes are repeated
  std::uint32_t element_bytes = 1; ///< 1, 2 or 4
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t pitch = 0; ///< bytes from one row to the next; no part of a single row's address
};

/// Nothing is added to the graph any more, and it lives until all graphs that contain it are
/// instantiated. One graph may be the child of several nodes.
struct ChildParams {
  const DeviceGraph *graph = nullptr;
};

/// Runs the graphs that DeviceGraph::body() then gives, `bodies` of them.
struct ConditionalParams {
  format::ConditionalType type = format::ConditionalType::If;
  std::uint64_t handle = 0; ///< of DeviceGraph::create_condition()
  std::uint32_t bodies = 1;
};

/// The event outlives the executables.
struct EventRecordParams {
  DeviceEvent *event = nullptr;
};

struct EventWaitParams {
  DeviceEvent *event = nullptr;
};

/// Has its arguments bound, and throws nothing.
struct CallbackParams {
  std::shared_ptr<const std::function<void()>> call;
};

/// Has its arguments bound. A CUDA device calls it while the node is added, with a stream that
/// captures; the host device at each launch, with none.
struct CapturedParams {
  std::shared_ptr<const std::function<void(CUstream_st *)>> call;
};

using NodeParams =
    std::variant<KernelParams, CopyParams, FillParams, ChildParams, ConditionalParams,
                 EventRecordParams, EventWaitParams, CallbackParams, CapturedParams>;

#define CGRT_NODE_KIND(name, id, ...)                                                              \
  static_assert(std::is_same_v<std::variant_alternative_t<id, NodeParams>, name##Params>);
#include "format/node_kinds.def"

/// An order of work on a device, a CUDA stream. The caller's streams must outlive its use.
class DeviceQueue {
public:
  virtual ~DeviceQueue() = default;
  /// What is queued from now on runs after all that `earlier` has now.
  virtual void follow(DeviceQueue &earlier) = 0;
  /// Returns when everything is done; reports what went wrong on a GPU.
  virtual void wait() = 0;
};

/// Kernels of an executable whose arguments change again and again, and nothing else of them.
class PreparedKernels {
public:
  virtual ~PreparedKernels() = default;
  /// Later launches run with what stands in the arguments now. False: the device cannot, and some
  /// may be changed.
  virtual bool apply() noexcept = 0;
};

/// An instantiated graph. What is in flight when it is destroyed still runs to its end.
class DeviceExecutable {
public:
  virtual ~DeviceExecutable() = default;
  /// Queues one run and returns; without a queue after what the device's own has.
  virtual void launch(DeviceQueue *queue = nullptr) = 0;
  /// For update(): a node of `graph`, in every place where that graph stands in this executable.
  /// `entry` is the graph that this was instantiated from; it and all graphs in it are still there.
  virtual std::uint32_t place(const DeviceGraph &entry, const DeviceGraph &graph,
                              std::uint32_t node) = 0;
  /// New params of a place.
  struct Update {
    std::uint32_t place = 0;
    const NodeParams *params = nullptr;
    bool enabled = true;
  };
  /// Changes what later launches do. The params are of the same kind as those that the node was
  /// added with; those of a kernel differ in geometry and arguments alone. Returns how many it has
  /// changed: at the one behind these the device cannot do it in an executable, which must then be
  /// made anew.
  virtual std::size_t update(std::span<const Update> updates) = 0;
  /// The same for kernels that no kernel changes. What comes back is used only while the executable
  /// lives and the arguments stand where they do now; to destroy it touches neither.
  virtual std::unique_ptr<PreparedKernels> prepare(std::span<const Update> kernels) = 0;
  /// What a kernel is given to launch this in that way; it was instantiated for that, and no update
  /// runs at the same time as what may launch it.
  virtual std::uint64_t device_handle(format::LaunchKind kind) const = 0;
  /// Throws what went wrong on the host device since the last report; a GPU tells by its queues.
  virtual void report() = 0;
  /// Returns when every launch on the device's own queue is done, and reports.
  virtual void wait() = 0;
};

/// A graph under construction: conditions and nodes first, then one instantiate(). A graph with
/// conditions is nobody's child.
class DeviceGraph {
public:
  virtual ~DeviceGraph() = default;
  /// Adds a node that runs after `dependencies` (indices of nodes added before) and returns its
  /// index, counted from 0. A node that is not `enabled` does nothing but keeps its place in the
  /// order; its params must still be legal. Child graphs and conditionals are always enabled.
  virtual std::uint32_t add_node(const NodeParams &params,
                                 std::span<const std::uint32_t> dependencies, NodeLabel label,
                                 bool enabled) = 0;
  /// What kernels change a node by, whose params said `updatable`.
  virtual std::uint64_t updatable_handle(std::uint32_t node) const = 0;
  /// A handle whose value is `initial` when a launch begins, for one conditional node of this graph
  /// or of its bodies, and as an argument of their kernels.
  virtual std::uint64_t create_condition(std::uint32_t initial) = 0;
  /// To fill: a body of a conditional node; belongs to this graph and is not instantiated.
  virtual DeviceGraph &body(std::uint32_t node, std::uint32_t index) = 0;
  /// Call once. The executable does not need this object any more. `for_device`: kernels may launch
  /// it, too; then the graph has no conditions and no priorities.
  virtual std::unique_ptr<DeviceExecutable> instantiate(bool for_device = false) = 0;
};

/// One device. Several threads may use it, each with objects of its own.
class DeviceBackend {
public:
  virtual ~DeviceBackend() = default;
  /// "host" or "cuda:0 NVIDIA H200".
  virtual std::string name() const = 0;
  /// Memory filled with bytes 0xFF on the host device (NaN, -1), so that reading what nothing has
  /// written shows; undefined on the CUDA device. `bytes` may be 0. Aligned to 256 bytes.
  virtual std::unique_ptr<Memory> allocate(MemorySpace space, std::size_t bytes) = 0;
  /// Copies between any two spaces and returns when done, after all work queued before.
  virtual void copy(std::byte *destination, const std::byte *source, std::size_t bytes) = 0;
  /// Loads the program's images that fit this device; throws Error{Device} where none does.
  virtual std::unique_ptr<LoadedCode> load(const format::Program &program) = 0;
  virtual std::unique_ptr<DeviceGraph> create_graph() = 0;
  /// That takes the time.
  virtual std::unique_ptr<DeviceEvent> create_event() = 0;
  /// The caller's, who keeps it.
  virtual std::unique_ptr<DeviceEvent> wrap_event(CUevent_st *event) = 0;
  virtual std::unique_ptr<DeviceQueue> create_queue() = 0;
  /// The caller's, who keeps it.
  virtual std::unique_ptr<DeviceQueue> wrap_queue(CUstream_st *stream) = 0;
  /// Why memory of the caller's cannot be a buffer in this space; empty if it can. `mapped`:
  /// kernels read it, too.
  virtual std::string why_not_usable(MemorySpace space, const std::byte *data, std::size_t bytes,
                                     bool mapped) const = 0;
  /// The caller's code for an external kernel, who keeps it: the address of a `__global__` function
  /// or a cudaKernel_t. Null on the host device, which cannot run it. Error{Usage} where it is
  /// neither or its parameters are not those that `kernel` declares.
  virtual std::unique_ptr<Function> wrap_kernel(const format::Kernel &kernel, const void *function,
                                                const NodeLabel &label) = 0;
};

struct HostDeviceOptions {
  std::uint64_t seed = 0;    ///< of the order in which ready nodes run
  std::uint32_t threads = 0; ///< that run the blocks of a kernel; 0: one for each core, at most 16
};

std::unique_ptr<DeviceBackend> make_host_device(const HostDeviceOptions &options);

/// Throws Error{Device} when there is no driver, no such GPU, or this build has no CUDA part.
std::unique_ptr<DeviceBackend> make_cuda_device(int ordinal);

/// How many GPUs can be used; 0 with the reason in `why_none` otherwise. Never throws.
int cuda_device_count(std::string *why_none = nullptr);

/// "sm_90" for a device that exists.
std::string cuda_device_architecture(int ordinal);

} // namespace cgrt
