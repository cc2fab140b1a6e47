// One kernel launch to a node: arguments, shape contracts, geometry, attributes.
#pragma once

#include "ir/frame.h"
#include "ir/kernel_instances.h"

namespace cgc {

/// What `@…` says about launches; set further out, it holds further in until set again.
struct LaunchAttributes {
  std::optional<std::int64_t> priority;
  std::optional<std::int64_t> of_stream; ///< the priority of the stream it is put on
  std::optional<std::array<std::int64_t, 3>> cluster;
  bool cooperative = false;

  /// Adds what the attributes say; their expressions stand in the frame's file.
  void apply(const ast::Attributes &attributes, Frame &frame);
};

class LaunchLowering {
public:
  LaunchLowering(LoweringContext &context, KernelInstances &kernels)
      : context_(context), kernels_(kernels) {}

  cgrt::format::KernelWork lower(const ast::LaunchStatement &launch, Frame &frame,
                                 const LaunchAttributes &attributes);

  /// The callback or captured function as the program lists it.
  cgrt::format::CallableId callable(const Symbol &symbol);
  /// The arguments of a call of one.
  cgrt::format::Arguments lower_call(const ast::LaunchStatement &call, Frame &frame);

private:
  struct Launch;

  bool lower_arguments(Launch &launch);
  void check_arguments(const Launch &launch, bool may_overlap);
  void check_memory(const Launch &launch, std::size_t index);
  ExprEnvironment kernel_environment(const Launch &launch);
  void check_shape(const Launch &launch, std::size_t index, const ExprEnvironment &environment);
  void check_aliases(const Launch &launch);
  void lower_geometry(Launch &launch, const KernelClauses &clauses);
  void lower_attributes(Launch &launch, const ast::Attributes &declared,
                        const LaunchAttributes &attributes);
  void check_geometry(const Launch &launch);
  std::int64_t known_or(cgrt::format::ExprId id, std::int64_t otherwise, const SourceRange &range);

  LoweringContext &context_;
  KernelInstances &kernels_;
  std::map<Symbol, cgrt::format::CallableId> callables_;
};

} // namespace cgc
