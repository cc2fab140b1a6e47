// What an Instance holds.
#pragma once

#include "bindings.h"
#include "dependents.h"
#include "device.h"
#include "executable_state.h"
#include "format/program.h"
#include "graph_builder.h"
#include "launch_order.h"
#include "parameters.h"
#include "shortcuts.h"

#include <cgrt/cgrt.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace cgrt {

/// The memory of one buffer.
struct BufferMemory {
  BufferView view;
  std::unique_ptr<Memory> own; ///< none where the caller has bound some
  std::shared_ptr<void> owner; ///< of what the caller has bound, if it is to be kept
  std::size_t capacity = 0;    ///< bytes of what the caller has bound
  bool bound = false;          ///< the caller has bound some
  bool missing = false;        ///< and taken it away again
  bool writable = true;        ///< what is bound is not const
};

class Transaction;

/// Members are destroyed from the last to the first: memory and code before their device.
struct InstanceState {
  InstanceState(const Program &given_program, const Device &given_device,
                const std::map<std::string, Scalar> &params);
  ~InstanceState();
  InstanceState(const InstanceState &) = delete;
  InstanceState &operator=(const InstanceState &) = delete;

  const format::Program &contents() const { return program.contents(); }
  GraphBuilder builder() const {
    return {contents(), parameters, placed, *code, bindings, placeholder->data()};
  }
  const Dependents &dependents() {
    if (!dependents_) {
      dependents_ = std::make_unique<Dependents>(contents());
    }
    return *dependents_;
  }

  /// The view of a buffer with the parameters now; Error{InvalidValue} where a dimension is not
  /// legal.
  BufferView view_of(format::BufferId buffer) const;
  std::unique_ptr<Memory> allocate(format::BufferId buffer, const BufferView &view) const;
  /// The index of a buffer that the caller may touch.
  std::size_t find(const std::string &name) const;
  format::GraphId find_graph(const std::string &name) const;

  std::uint32_t *signal(format::BufferId signals, std::uint32_t index) const {
    return reinterpret_cast<std::uint32_t *>(buffers[signals.index].own->data()) + index;
  }
  /// What the graph's loops report, and how they are asked to stop.
  void add_signals(ExecutableState &to) const;

  /// What is new of an executable that is made anew.
  struct Made {
    BuiltGraphs built;
    std::unique_ptr<DeviceExecutable> executable;
    BuildTimes times;
  };
  /// Builds and instantiates the executable's graph.
  Made made(const ExecutableState &executable) const;
  void install(Made made, ExecutableState &executable);

  /// Makes an executable of the graph, and those of all that it launches and that are not there.
  void make(const std::shared_ptr<ExecutableState> &executable);
  /// Once an executable has been made anew: who launches it hears of that.
  void link();
  /// Whether kernels of launches in flight may launch it or change its nodes.
  bool is_changed_on_device(const ExecutableState &executable) const;

  /// Everything that nodes use from outside must be bound, functions and events: in the graph and
  /// in what it launches.
  void require_bindings(format::GraphId graph) const;
  /// Error{Usage} where one of them uses a buffer that has been unbound.
  void require_memory(format::GraphId graph) const;
  /// The events of a graph that cgrt can take times of.
  std::vector<std::shared_ptr<DeviceEvent>> timers_of(format::GraphId graph) const;
  /// Error{Usage} where there is no such function or its parameters are others.
  format::CallableId function(const std::string &name, format::CallableKind kind,
                              const std::vector<CallParameter> *parameters_given) const;

  /// Takes other bindings and makes the executables anew that have a node for which `is_user(node)`
  /// holds. Where that fails, everything stays as it was.
  void rebind(Bindings others, const std::function<bool(const format::Node &)> &is_user);
  void rebind(format::CallableId function, Bindings::Function bound);
  void rebind(format::KernelId kernel, Bindings::Kernel bound);
  bool has_captured(const std::string &name) const;

  /// The executables that are still there.
  std::vector<std::shared_ptr<ExecutableState>> alive() const;

  Program program;
  Device device;
  Parameters parameters;
  std::unique_ptr<LoadedCode> code;
  std::vector<BufferMemory> buffers; ///< parallel to the program's
  std::vector<PlacedBuffer> placed;  ///< likewise
  std::size_t unbound = 0;           ///< buffers that have no memory
  Bindings bindings;
  std::unique_ptr<Memory> placeholder;
  std::vector<std::weak_ptr<ExecutableState>> executables;
  /// What kernels launch, by the program's launches; none of those not needed yet, and of graphs
  /// that launch themselves.
  std::vector<std::shared_ptr<ExecutableState>> launched;
  LaunchOrder order;
  /// Memory that launches in flight may use, but no later ones.
  std::vector<BufferMemory> retired;
  std::mutex mutex;    ///< held by every call
  Shortcuts shortcuts; ///< with places in LiveNodes: who moves these, clears it

  /// What no launch uses any more. Owners of the caller's end with it, so that it is destroyed when
  /// the mutex is free again.
  [[nodiscard]] std::vector<BufferMemory> take_retired() {
    return order.is_settled() ? std::exchange(retired, {}) : std::vector<BufferMemory>();
  }

  /// One that has begun.
  Transaction &transaction();

private:
  template <typename Visit>
  void for_each_node_run_by(format::GraphId graph, const Visit &visit) const {
    for (const format::GraphId each : format::graphs_run_by(contents(), graph)) {
      format::for_each_node_in(contents(), each, visit);
    }
  }
  void add_requests(format::GraphId graph, ExecutableState &to) const;
  std::vector<std::uint64_t> launched_by(const ExecutableState &executable) const;
  void link(ExecutableState &executable);
  void give_handles(const ExecutableState &executable) const;
  void require_function(format::CallableId id, const format::Node &node) const;
  void require_event(format::EventId id, const format::Node &node) const;

  std::unique_ptr<Dependents> dependents_;   ///< made for the first update
  std::unique_ptr<Transaction> transaction_; ///< likewise
};

/// Error{Usage} where a C++ function's parameters are not those of the declaration.
void check_parameters(const std::string &who, const std::vector<format::KernelParam> &params,
                      const SourceLocation &where, const std::vector<CallParameter> &given);

/// "f32[4, 2]"
std::string type_and_shape(const BufferView &view);

} // namespace cgrt
