// Nodes for events, for calls of C++ functions, and for what is bound to external kernels.
#include "graph_builder.h"

namespace cgrt {

namespace {

/// The call with everything it needs. What it throws is kept for the next wait.
std::function<void()> make_callback(HostCall function, std::vector<CallArgument> arguments,
                                    std::shared_ptr<CallbackFailures> failures,
                                    const NodeLabel &label) {
  return [function = std::move(function), arguments = std::move(arguments),
          failures = std::move(failures), name = label.text(), where = label.where()] {
    const CallbackScope scope;
    try {
      function(arguments);
    } catch (const std::exception &error) {
      failures->add(Error(ErrorCode::Callback, name + ": " + error.what(), where));
    } catch (...) {
      failures->add(Error(ErrorCode::Callback,
                          name + ": it threw something that is no std::exception", where));
    }
  };
}

Scalar to_scalar(const format::Value &value, ScalarType type) {
  switch (type) {
  case ScalarType::Bool:
    return value.truthy();
  case ScalarType::U8:
  case ScalarType::U16:
  case ScalarType::U32:
  case ScalarType::U64:
    return static_cast<std::uint64_t>(value.as_wide());
  case ScalarType::I8:
  case ScalarType::I16:
  case ScalarType::I32:
  case ScalarType::I64:
    return static_cast<std::int64_t>(value.as_wide());
  case ScalarType::F16:
  case ScalarType::BF16:
  case ScalarType::F32:
  case ScalarType::F64:
    break;
  }
  return value.as_double();
}

} // namespace

DeviceEvent *GraphBuilder::event(format::EventId id) const {
  return bindings_.events[id.index].get();
}

GraphBuilder::Resolved GraphBuilder::resolve(const format::EventRecordWork &work, const Built &,
                                             const NodeLabel &) const {
  return {EventRecordParams{event(work.event)}};
}

GraphBuilder::Resolved GraphBuilder::resolve(const format::EventWaitWork &work, const Built &,
                                             const NodeLabel &) const {
  return {EventWaitParams{event(work.event)}};
}

GraphBuilder::Resolved GraphBuilder::resolve(const format::CallbackWork &work, const Built &built,
                                             const NodeLabel &label) const {
  return {CallbackParams{std::make_shared<const std::function<void()>>(make_callback(
      bindings_.functions[work.function.index].host,
      function_arguments(work.function, work.arguments, label), built.graphs.failures, label))}};
}

namespace {

CapturedParams on_host(HostCall function, std::vector<CallArgument> arguments) {
  return {std::make_shared<const std::function<void(CUstream_st *)>>(
      [function = std::move(function), arguments = std::move(arguments)](CUstream_st *) {
        const CallbackScope scope;
        function(arguments);
      })};
}

} // namespace

GraphBuilder::Resolved GraphBuilder::resolve(const format::CapturedWork &work, const Built &,
                                             const NodeLabel &label) const {
  using Call = std::function<void(CUstream_st *)>;
  const Bindings::Function &function = bindings_.functions[work.function.index];
  std::vector<CallArgument> arguments = function_arguments(work.function, work.arguments, label);
  if (bindings_.on_host) {
    return {on_host(function.host, std::move(arguments))};
  }
  return {CapturedParams{std::make_shared<const Call>(
      [stream_function = function.stream, arguments = std::move(arguments)](CUstream_st *stream) {
        const CallbackScope scope;
        stream_function(stream, arguments);
      })}};
}

const Function &GraphBuilder::function(format::KernelId id) const {
  return program_[id].external && bindings_.kernels[id.index].function != nullptr
             ? *bindings_.kernels[id.index].function
             : code_.function(id);
}

bool GraphBuilder::has_host_call(format::KernelId id) const {
  return bindings_.on_host && program_[id].external && bindings_.kernels[id.index].host != nullptr;
}

CapturedParams GraphBuilder::host_call(const format::KernelWork &work,
                                       const NodeLabel &label) const {
  for (const format::Argument &argument : work.arguments) {
    if (std::holds_alternative<format::LaunchId>(argument)) {
      throw Error(ErrorCode::Usage,
                  label.text() + ": it launches graphs, which a function bound with bind_host() "
                                 "cannot; give the kernel a host { } body",
                  label.where());
    }
  }
  return on_host(bindings_.kernels[work.kernel.index].host,
                 call_arguments(program_[work.kernel].params, work.arguments, label));
}

std::vector<CallArgument> GraphBuilder::function_arguments(format::CallableId function,
                                                           const format::Arguments &arguments,
                                                           const NodeLabel &label) const {
  const std::vector<format::KernelParam> &params = program_[function].params;
  std::vector<CallArgument> values = call_arguments(params, arguments, label);
  check_aliases(arguments, params, label);
  return values;
}

std::vector<CallArgument>
GraphBuilder::call_arguments(const std::vector<format::KernelParam> &params,
                             const format::Arguments &arguments, const NodeLabel &label) const {
  std::vector<CallArgument> values;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const format::KernelParam &param = params[i];
    if (const auto *value = std::get_if<format::ExprId>(&arguments[i])) {
      const ExprUse use = {label, "argument", param.name};
      static_cast<void>(scalar(*value, param.type, use)); // that it fits
      values.emplace_back(to_scalar(parameters_.value(*value, use), param.type));
      continue;
    }
    const auto &region = std::get<format::Region>(arguments[i]);
    const Box elements = box(region, label);
    if (!elements.contiguous()) {
      throw Error(ErrorCode::InvalidValue,
                  label.text() + ": argument " + param.name + " is not contiguous [shape]",
                  label.where());
    }
    CallBuffer buffer = {param.type, {}, address(region, elements)};
    for (std::size_t axis = 0; axis < elements.rank; ++axis) {
      buffer.shape.push_back(static_cast<std::size_t>(elements.count[axis]));
    }
    values.emplace_back(std::move(buffer));
  }
  return values;
}

} // namespace cgrt
