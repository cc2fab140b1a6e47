// The one builder: turns a graph's expressions and ids into numbers and addresses, checks them
// against the rules that all devices share, and hands the result to a device.
#pragma once

#include "bindings.h"
#include "box.h"
#include "device.h"
#include "format/geometry.h"
#include "format/program.h"
#include "parameters.h"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace cgrt {

/// A buffer with its memory.
struct PlacedBuffer {
  std::byte *data = nullptr;
  std::vector<std::int64_t> extents; ///< each at least 0
};

/// A graph on a device with those in it. They stay together until the graph is instantiated, and as
/// long as its executable is to be updated.
struct BuiltGraphs {
  struct One {
    format::GraphId id;
    DeviceGraph *graph;
  };

  std::vector<std::unique_ptr<DeviceGraph>> owned; ///< the children and, last, the graph itself
  std::vector<One> all;                            ///< those, and the bodies
  std::vector<std::uint64_t> handles;              ///< by the condition's index
  std::vector<std::uint64_t> launched;   ///< device handles, by the launch's index; 0: not made yet
  std::vector<std::uint64_t> updatables; ///< by their index; 0 of those not in these graphs
  bool incomplete = false;               ///< a kernel was added before what it changes
  std::shared_ptr<CallbackFailures> failures; ///< where their callbacks leave what they throw
};

class GraphBuilder {
public:
  /// Bytes that a placeholder must have.
  static constexpr std::size_t placeholder_bytes = 512;

  /// Everything must outlive the builder. `buffers` is parallel to the program's. `placeholder` is
  /// device memory that nodes which do nothing may name.
  GraphBuilder(const format::Program &program, const Parameters &parameters,
               std::span<const PlacedBuffer> buffers, const LoadedCode &code,
               const Bindings &bindings, std::byte *placeholder)
      : program_(program), parameters_(parameters), buffers_(buffers), code_(code),
        bindings_(bindings), placeholder_(placeholder) {}

  using CreateGraph = std::function<std::unique_ptr<DeviceGraph>()>;

  /// Builds the children of `graph`, direct and indirect, each once, and then the graph itself.
  /// Error{InvalidValue} names the first node that is not legal with these parameters. Callbacks
  /// leave what they throw in `failures`, which a graph with callbacks must have. `launched` is
  /// BuiltGraphs::launched, for a graph that launches.
  BuiltGraphs build(format::GraphId graph, const CreateGraph &create,
                    std::shared_ptr<CallbackFailures> failures = nullptr,
                    std::vector<std::uint64_t> launched = {}) const;

  struct Resolved {
    NodeParams params;
    bool enabled = true; ///< false: there is nothing to do, and `params` are a legal stand-in
  };

  /// A node of `built` as it is with the parameters and buffers now; neither a child nor a
  /// conditional. The same error.
  Resolved resolve(const format::Node &node, const BuiltGraphs &built) const;

  /// Adds one node, without its dependencies, to a graph made for it, and returns its index; it is
  /// neither a child nor a conditional. `handles` are those of `target`, by the condition's index;
  /// `failures` as of build().
  std::uint32_t add_alone(const format::Node &node, std::vector<std::uint64_t> handles,
                          std::shared_ptr<CallbackFailures> failures, DeviceGraph &target) const;

  Box box(const format::Region &region, const NodeLabel &label) const;

private:
  /// What nodes may refer to.
  struct Built {
    BuiltGraphs &graphs;
    std::vector<const DeviceGraph *> children; ///< by their index; null where there is none
  };

  void set_updatable(const format::Node &node, Resolved &resolved) const;
  std::vector<bool> children_of(format::GraphId graph) const;
  void add_nodes(format::GraphId graph, Built &built, DeviceGraph &target) const;
  Resolved resolve(const format::KernelWork &work, const Built &built,
                   const NodeLabel &label) const;
  Resolved resolve(const format::CopyWork &work, const Built &, const NodeLabel &label) const;
  Resolved resolve(const format::FillWork &work, const Built &, const NodeLabel &label) const;
  Resolved resolve(const format::ChildWork &work, const Built &built, const NodeLabel &) const;
  Resolved resolve(const format::ConditionalWork &work, const Built &built,
                   const NodeLabel &) const;

  Resolved resolve(const format::EventRecordWork &work, const Built &,
                   const NodeLabel &label) const;
  Resolved resolve(const format::EventWaitWork &work, const Built &, const NodeLabel &label) const;
  Resolved resolve(const format::CallbackWork &work, const Built &built,
                   const NodeLabel &label) const;
  Resolved resolve(const format::CapturedWork &work, const Built &, const NodeLabel &label) const;
  DeviceEvent *event(format::EventId id) const;
  const Function &function(format::KernelId id) const;
  /// Whether the device runs what Instance::bind_host() bound to this external kernel.
  bool has_host_call(format::KernelId id) const;
  CapturedParams host_call(const format::KernelWork &work, const NodeLabel &label) const;
  std::vector<CallArgument> function_arguments(format::CallableId function,
                                               const format::Arguments &arguments,
                                               const NodeLabel &label) const;
  std::vector<CallArgument> call_arguments(const std::vector<format::KernelParam> &params,
                                           const format::Arguments &arguments,
                                           const NodeLabel &label) const;

  format::Geometry geometry(const format::KernelWork &work, const NodeLabel &label) const;
  std::vector<std::uint64_t> arguments(const format::KernelWork &work, const Built &built,
                                       const NodeLabel &label) const;
  void check_aliases(const format::Arguments &arguments,
                     const std::vector<format::KernelParam> &params, const NodeLabel &label) const;

  /// Of the box's first element; of the buffer's where the box is empty.
  std::byte *address(const format::Region &region, const Box &box) const;
  /// The low bytes are the value as `type`.
  std::uint64_t scalar(format::ExprId id, ScalarType type, const ExprUse &use) const;

  const format::Program &program_;
  const Parameters &parameters_;
  std::span<const PlacedBuffer> buffers_;
  const LoadedCode &code_;
  const Bindings &bindings_;
  std::byte *placeholder_;
};

} // namespace cgrt
