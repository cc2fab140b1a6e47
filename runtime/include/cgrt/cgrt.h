// cgrt: load a compiled .cgraph program, give it memory on a device, and replay its graphs.
//
//   cgrt::Program program = cgrt::Program::from_file("saxpy.cgb");
//   cgrt::Instance instance(program, cgrt::Device::automatic(), {{"n", 1024}});
//   std::span<float> x = instance.host<float>("hx");   // pinned host memory, row-major
//   ... fill it ...
//   cgrt::Executable graph = instance.executable("main");
//   graph.launch();
//   graph.wait();
//
// Errors: every function may throw cgrt::Error; its code says whose fault it is. After a throw the
// object is as it was before the call. Once a kernel has left a GPU unusable, every later call that
// needs it is Error{Device} and says so.
// Threads: all objects may be used from several threads; calls for one instance and its executables
// come one after the other, but for wait(), beside which others go on, and Executable::stop().
// Memory of buffers is yours to guard. Callbacks run on threads of their own and may not call cgrt.
// Ownership: Program, Device and Executable are cheap handles that keep what they need alive;
// Instance owns its memory, and spans into it live until an update resizes or binds the buffer.
// What is asked of an Instance or Executable that was moved from is Error{Usage}; moving a Program
// or a Device copies it. CUDA: the caller's current device, last error and streams stay what they
// were. Cost: loading a program, making an instance or an executable takes milliseconds; a launch
// what cudaGraphLaunch takes; an update what cudaGraphExecNodeSetParams takes for each node that
// changes.
#pragma once

#include <cgrt/callable.h>
#include <cgrt/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cgrt {

namespace format {
struct Program;
}
class DeviceBackend;
struct ExecutableState;
struct InstanceState;

/// The type's spelling in the language: "f32".
std::string_view spelling(ScalarType type);
/// Bytes of one element.
std::size_t size_of(ScalarType type);

struct ParamInfo {
  std::string name;
  ScalarType type;
  bool required; ///< it has no default
};

struct BufferInfo {
  std::string name;
  ScalarType type;
  MemorySpace space;
  CallerAccess access;
};

struct GraphInfo {
  std::string name;
  std::size_t nodes;
  std::size_t edges;
  bool device_launch; ///< kernels can launch it, too
};

/// A C++ function that the program calls; its parameters by name, in order.
struct FunctionInfo {
  std::string name;
  bool is_captured; ///< else a callback
  std::vector<std::string> parameters;
};

/// A kernel that the caller binds; its parameters by name, in order.
struct KernelInfo {
  std::string name;
  std::vector<std::string> parameters;
};

/// An event that nodes of a graph record or wait for; another graph may have one of that name.
struct EventInfo {
  std::string name;
  bool is_external; ///< else a timing event
};

/// A compiled program: code and graphs, no memory.
class Program {
public:
  /// Reads and checks a bundle. Error{InvalidProgram} says what is wrong with it; Error{Usage} that
  /// the file cannot be read.
  static Program from_file(const std::string &path);
  /// `name` is what errors call the bundle. The bytes are not needed afterwards.
  static Program from_bytes(std::span<const std::byte> bytes, const std::string &name = "bundle");
  Program(const Program &) = default; // there is no other move: none is ever without contents
  Program &operator=(const Program &) = default;
  ~Program() = default;

  std::vector<ParamInfo> params() const;
  std::vector<BufferInfo> buffers() const;
  std::vector<GraphInfo> graphs() const;
  std::vector<FunctionInfo> functions() const;
  std::vector<KernelInfo> external_kernels() const;
  std::vector<EventInfo> events() const;

  /// For cgrt's own parts.
  const format::Program &contents() const { return *contents_; }
  const std::shared_ptr<const format::Program> &shared_contents() const { return contents_; }
  explicit Program(std::shared_ptr<const format::Program> contents);

private:
  std::shared_ptr<const format::Program> contents_;
};

struct HostOptions {
  std::uint64_t seed = 0;    ///< of the random order in which independent nodes run
  std::uint32_t threads = 0; ///< for the blocks of one kernel; 0: one for each core, at most 16
};

/// A place to run: the host device (always there) or one CUDA device.
class Device {
public:
  static Device host(const HostOptions &options = {});
  /// Error{Device} with the reason where that GPU cannot be used.
  static Device cuda(int ordinal = 0);
  /// The first CUDA device, or the host device; `why_host` then receives the reason.
  static Device automatic(const HostOptions &options = {}, std::string *why_host = nullptr);
  Device(const Device &) = default; // as of Program
  Device &operator=(const Device &) = default;
  ~Device() = default;

  /// "host" or "cuda:0 NVIDIA H200".
  std::string name() const;
  bool is_cuda() const;

  DeviceBackend &backend() const { return *backend_; }
  const std::shared_ptr<DeviceBackend> &shared_backend() const { return backend_; }

private:
  Device(std::shared_ptr<DeviceBackend> backend, bool is_cuda);

  std::shared_ptr<DeviceBackend> backend_;
  bool is_cuda_ = false;
};

/// How long the parts of making an executable took, in microseconds.
struct BuildTimes {
  double build_us = 0;       ///< adding the nodes
  double instantiate_us = 0; ///< making them executable, upload included
};

/// A buffer of an instance: where it is and what it holds.
struct BufferView {
  ScalarType type = ScalarType::F32;
  MemorySpace space = MemorySpace::Device;
  std::vector<std::size_t> shape;
  std::size_t bytes = 0;
};

/// A kernel that did to memory what its parameters do not declare.
struct EffectFault {
  enum class Kind : std::uint8_t {
    WroteIn,    ///< it changed what an `in` parameter names
    WroteOther, ///< it changed memory that it is not given
    LeftOut,    ///< it left a part of an `out` parameter as it was
    ReadOut,    ///< what it wrote depends on what its `out` parameters held before
  };

  Kind kind = Kind::WroteIn;
  std::string kernel;
  std::string parameter; ///< none of WroteOther
  std::string buffer;
  std::vector<std::int64_t> element; ///< of the buffer, the first that shows it
  std::uint64_t elements = 0;        ///< how many show it
  std::string message;               ///< "kernel scale wrote x[3], but declares v in"
  SourceLocation where;              ///< of the launch
};

/// "wrote-in", "wrote-other", "left-out", "read-out"
std::string_view spelling(EffectFault::Kind kind);

struct EffectReport {
  /// For each statement the first of a kind, a kernel and a parameter.
  std::vector<EffectFault> faults;
  std::uint64_t launches = 0;   ///< of kernels, that were checked
  std::optional<Error> stopped; ///< of loops that ended before their conditions did
};

/// What a launch is ordered after.
enum class Order : std::uint8_t {
  AfterEarlier, ///< all earlier launches of the instance; on another stream that costs an event
  OfItsStream,  ///< what is on its stream; the program sees to it that nothing conflicts
};

/// How an update reached the executables.
enum class UpdateKind : std::uint8_t {
  None,    ///< nothing in them depends on what has changed
  InPlace, ///< nodes have new parameters (CUDA C++ Programming Guide, "Individual Node Update")
  Rebuilt, ///< at least one executable has been made anew
};

struct UpdateReport {
  UpdateKind kind = UpdateKind::None;
  std::size_t nodes = 0;   ///< that were changed in place
  std::size_t rebuilt = 0; ///< executables that were made anew
  std::string reason;      ///< why the first of these was
};

/// "none", "in place", "rebuilt"
std::string_view spelling(UpdateKind kind);

/// Memory of the caller's that is to be a buffer: host memory for a `host` buffer, on a GPU pinned
/// (cudaHostAlloc or cudaHostRegister); device memory for a `device` buffer, as a span of device
/// pointers. Elements of f16 and bf16 are std::uint16_t.
struct BoundMemory {
  BoundMemory() = default;
  /// `owner` is kept as long as the memory may be used; without one the caller sees to that.
  template <typename T, std::size_t extent>
  BoundMemory(std::span<T, extent> elements, std::shared_ptr<void> keep = {}) // NOLINT: it is that
      : type(scalar_type_of<std::remove_const_t<T>>()), writable(!std::is_const_v<T>),
        data(reinterpret_cast<std::byte *>(const_cast<std::remove_const_t<T> *>(elements.data()))),
        bytes(elements.size_bytes()), owner(std::move(keep)) {}

  ScalarType type = ScalarType::F32;
  bool writable = true;
  std::byte *data = nullptr;
  std::size_t bytes = 0; ///< at least the buffer's
  std::shared_ptr<void> owner;
};

/// Params and buffers by their names.
struct Changes {
  std::map<std::string, Scalar> params = {};
  std::map<std::string, BoundMemory> memory = {};
};

/// A graph ready to run on its instance's memory. Keeps the instance's memory alive.
class Executable {
public:
  /// Queues one run and returns. Runs of one instance take effect in the order in which they were
  /// queued, whatever graphs and streams they are of. The host device has finished it when the call
  /// returns. Error{Usage}: a buffer has been unbound.
  void launch() { launch(nullptr); }
  /// The same on a stream of the caller's, a cudaStream_t, which must outlive the next launch in
  /// order or wait; null: on one of the instance's own.
  void launch(CUstream_st *stream, Order order = Order::AfterEarlier);
  /// Returns when all launches of the instance so far are done, and throws what went wrong in those
  /// of this executable. Error{Stopped} names the loops that ended before their conditions did,
  /// with their `max` as it is now; Error{Callback} carries the message of the first callback that
  /// threw; Error{Device} names a launch or a change by a kernel that the device has refused, of
  /// which the first wait() hears whose graph comes to it; everything else has run.
  void wait();

  /// Asks the loops of a `@cancellable` graph to end at their next check, in all launches up to the
  /// return of the next wait(), which reports it. May be called from any thread and from a signal
  /// handler. Does nothing for other graphs.
  void stop() noexcept;
  bool is_cancellable() const;

  /// Milliseconds between two `@timing` events in the last launch that recorded them, which has
  /// been waited for. Error{Usage}: this graph does not record an event of that name, or has not
  /// been launched.
  double elapsed(const std::string &begin, const std::string &end) const;
  /// The timing events that the graph records, in the order of their declarations.
  std::vector<std::string> timing_events() const;

  std::size_t node_count() const;
  std::size_t edge_count() const;
  BuildTimes times() const;

private:
  friend class Instance;
  explicit Executable(std::shared_ptr<ExecutableState> state);
  std::shared_ptr<ExecutableState> state_;
};

/// One use of a program: values for its parameters, and memory on one device.
class Instance {
public:
  /// Allocates every buffer. Error{Usage}: a param is missing, unknown or of the wrong kind;
  /// Error{InvalidValue}: a size or shape is not legal with these values;
  /// Error{Device}: the memory or the code does not fit the device.
  Instance(const Program &program, const Device &device,
           const std::map<std::string, Scalar> &params = {});

  /// The host memory of a `host` buffer; Error{Usage} when the name or the type is another's, or
  /// the buffer is private or on the device. Do not touch it while a launch is in flight.
  template <typename T> std::span<T> host(const std::string &name) {
    std::span<std::byte> bytes = host_bytes(name, scalar_type_of<T>());
    return {reinterpret_cast<T *>(bytes.data()), bytes.size() / sizeof(T)};
  }

  /// The same as bytes, whatever it holds.
  std::span<std::byte> host_bytes(const std::string &name) { return host_bytes(name, {}); }

  /// Changes params and memory for the launches that follow, all of it or, after an error, nothing;
  /// what is not named stays. Launches in flight keep the old values. Where CUDA cannot change a
  /// node in place, the executable is made anew. A buffer whose size changes gets new memory, in
  /// which elements keep their indices; that waits for the instance's launches and ends the spans
  /// of that buffer. So does what changes a graph that kernels launch or change, and so it does
  /// when a binding is changed: they may still do so. Error{Usage} and Error{InvalidValue} as for a
  /// new instance; Error{Usage} also where memory is too small, of another type or space, or
  /// overlaps another buffer's.
  UpdateReport update(const Changes &changes);
  /// The same for params.
  UpdateReport set(const std::map<std::string, Scalar> &params);
  /// For one.
  UpdateReport set(std::string_view param, const Scalar &value);
  /// Puts memory of the caller's in a buffer's place.
  UpdateReport bind(const std::string &buffer, const BoundMemory &memory);
  /// Takes it away again: graphs that use the buffer are not launched until it is bound. Launches
  /// in flight still use the memory.
  void unbind(const std::string &buffer);

  /// Binds a callback to a function over spans and scalars; callable.h tells which. Error{Usage}
  /// where there is no callback of that name or the parameters differ from its declaration. The
  /// function is called from a thread of CUDA's, one call at a time unless it is @concurrent; it
  /// must not call cgrt or CUDA. Bound again, the executables that use it are made anew; where that
  /// fails, with Error{Device} or Error{InvalidValue}, the old binding stays.
  template <typename Function> void bind_callback(const std::string &name, Function function) {
    bind_function(name, false, make_host_function(std::function(std::move(function))));
  }
  /// The same for a function that takes the arguments of any callback as they come.
  void bind_any_callback(const std::string &name, HostCall function) {
    bind_function(name, false, {{}, std::move(function)}, true);
  }
  /// Binds what a captured function is on CUDA devices: void(cudaStream_t, …), buffers as pointers
  /// to device memory. It must put all its work on that stream.
  template <typename Function> void bind_captured(const std::string &name, Function function) {
    bind_function(name, make_stream_function(std::function(std::move(function))));
  }
  /// What a captured function or an external kernel is on the host device: a function over spans
  /// and scalars, called at each launch; a kernel's goes before its `host { }` body.
  template <typename Function> void bind_host(const std::string &name, Function function) {
    bind_function(name, true, make_host_function(std::function(std::move(function))));
  }
  /// The same for functions that take the arguments of any as they come.
  void bind_any_captured(const std::string &name, StreamCall function) {
    bind_function(name, {{}, std::move(function)}, true);
  }
  void bind_any_host(const std::string &name, HostCall function) {
    bind_function(name, true, {{}, std::move(function)}, true);
  }
  /// Binds an external kernel on CUDA devices: to the address of a `__global__` function, or to a
  /// cudaKernel_t or CUkernel, whose library must stay loaded as long as this instance and its
  /// executables. An address counts only with the copy of the CUDA runtime that it was compiled
  /// for: where cgrt is in another shared library, pass what cudaGetKernel() makes of it.
  /// Error{Usage}: there is no such kernel, it is null or no kernel, or the number or the sizes of
  /// its parameters are not those declared. Bound again, as for callbacks. A host device only looks
  /// at the name.
  void bind_kernel(const std::string &name, const void *function);
  /// Binds the `@external` events of that name, in whichever graphs, to the caller's cudaEvent_t,
  /// which must outlive this instance's executables. Does nothing on the host device, whose
  /// launches are over when they return.
  void bind_event(const std::string &name, CUevent_st *event);

  /// Extents and type of any buffer that the caller fills or reads.
  BufferView buffer(const std::string &name) const;
  /// Fills a whole `in` or `inout` buffer, in host or device memory. `bytes` is its exact size.
  void write(const std::string &name, std::span<const std::byte> bytes);
  /// Reads a whole `out` or `inout` buffer after the launches so far.
  std::vector<std::byte> read(const std::string &name) const;

  /// Builds and instantiates one of the program's graphs. Error{InvalidValue}: a geometry, range or
  /// argument is not legal with this instance's params. Error{Usage}: a function, an external
  /// kernel or an event that the graph uses has not been bound. Error{Device}: a captured function
  /// threw, or does what no capture allows. Executables of one graph share what its loops report
  /// and the wish to stop: the first wait() hears of it.
  Executable executable(const std::string &graph = "main");

  /// Runs a graph once, its nodes one at a time in program order, and looks at what its kernels do
  /// to memory: each runs a few times on the same state and on other contents of what it declares
  /// `out`. A write that changes nothing does not show, and results that vary from run to run are
  /// not held to depend on anything. Memory is left as a launch leaves it. For tests: a kernel
  /// costs several copies of all device memory. Errors as of executable() and Executable::wait(),
  /// but for Error{Stopped}.
  EffectReport check_effects(const std::string &graph = "main");

  const Program &program() const;
  const Device &device() const;
  /// A param's value: of an integer type std::int64_t or, where it does not fit, std::uint64_t.
  Scalar param(const std::string &name) const;

private:
  void bind_function(const std::string &name, bool is_captured, TypedHostCall function,
                     bool any_parameters = false);
  void bind_function(const std::string &name, TypedStreamCall function,
                     bool any_parameters = false);
  void bind_host_kernel(const std::string &name, TypedHostCall function, bool any_parameters);
  std::span<std::byte> host_bytes(const std::string &name, std::optional<ScalarType> type);

  std::shared_ptr<InstanceState> state_;
};

} // namespace cgrt
