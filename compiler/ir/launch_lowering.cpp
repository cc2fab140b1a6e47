#include "ir/launch_lowering.h"

#include "ir/region_relation.h"
#include "ir/shape_contract.h"
#include "sema/attribute_check.h"
#include "sema/declaration_check.h"

#include "format/geometry.h"
#include "format/scalar_type.h"

#include <algorithm>
#include <limits>

namespace cgc {

using ast::ExprRef;
using cgrt::MemorySpace;
using cgrt::format::ExprId;
using cgrt::format::Region;

/// A launch while it is lowered.
struct LaunchLowering::Launch {
  const ast::LaunchStatement &statement;
  const CheckedFile &kernel_file;
  const ast::Signature &kernel;
  std::string_view what; ///< "kernel"
  std::vector<ast::ScalarType> types;
  Frame &frame;
  cgrt::format::KernelWork work;
  std::vector<View> views; ///< parallel to the arguments; of buffers
  bool on_host = false;    ///< it is a callback

  const SourceRange &range(std::size_t argument) const {
    return frame.range(statement.arguments[argument]);
  }
  const SourceRange &callee() const { return frame.range(statement.callee); }
  std::string name() const {
    return std::string(what) + " '" + std::string(kernel.name.text) + "'";
  }
  std::string parameter(std::size_t index) const {
    return std::string(kernel.parameters[index].name.text);
  }
};

void LaunchAttributes::apply(const ast::Attributes &attributes, Frame &frame) {
  for (const ast::Attribute &attribute : attributes) {
    const std::string user = "@" + std::string(attribute.name.text);
    if (attribute.name.text == "priority") {
      priority = frame.constant_integer(attribute.arguments[0], user, cgrt::ScalarType::I32);
    } else if (attribute.name.text == "cluster") {
      cluster = {1, 1, 1};
      for (std::size_t axis = 0; axis < attribute.arguments.size(); ++axis) {
        (*cluster)[axis] = frame.constant_integer(attribute.arguments[axis], user).value_or(1);
      }
    } else if (attribute.name.text == "cooperative") {
      cooperative = true;
    }
  }
}

cgrt::format::KernelWork LaunchLowering::lower(const ast::LaunchStatement &statement, Frame &frame,
                                               const LaunchAttributes &attributes) {
  const Symbol &callee = frame.file().symbol(statement.callee);
  const CheckedFile &kernel_file = context_.checked[callee];
  const auto types = context_.checked.type_arguments.find(&statement);
  Launch launch = {statement,
                   kernel_file,
                   kernel_file.file->kernels[callee.index],
                   "kernel",
                   types == context_.checked.type_arguments.end() ? std::vector<ast::ScalarType>{}
                                                                  : types->second,
                   frame,
                   {},
                   {}};
  launch.work.kernel = kernels_.get(callee, launch.types);
  if (!lower_arguments(launch)) {
    return std::move(launch.work);
  }
  check_arguments(launch, context_.program[launch.work.kernel].inplace);
  lower_geometry(launch, kernel_file.kernels[callee.index]);
  lower_attributes(launch, kernel_file.file->kernels[callee.index].attributes, attributes);
  check_geometry(launch);
  return std::move(launch.work);
}

cgrt::format::CallableId LaunchLowering::callable(const Symbol &symbol) {
  const auto found = callables_.find(symbol);
  if (found != callables_.end()) {
    return found->second;
  }
  const CheckedFile &file = context_.checked[symbol];
  const ast::Callable &declared = file.file->callables[symbol.index];
  cgrt::format::Callable lowered;
  lowered.name = context_.callable_names.add(std::string(declared.name.text));
  lowered.kind = declared.kind;
  lowered.concurrent = find_attribute(declared.attributes, "concurrent") != nullptr;
  lowered.place = context_.files.place(declared.name.range);
  for (const ast::Parameter &parameter : declared.parameters) {
    lowered.params.push_back({std::string(parameter.name.text), parameter.type,
                              parameter.mode.has_value(), parameter.mode.value_or(ast::Mode::In)});
  }
  const cgrt::format::CallableId id{static_cast<std::uint32_t>(context_.program.callables.size())};
  context_.program.callables.push_back(std::move(lowered));
  callables_.emplace(symbol, id);
  return id;
}

cgrt::format::Arguments LaunchLowering::lower_call(const ast::LaunchStatement &statement,
                                                   Frame &frame) {
  const Symbol &callee = frame.file().symbol(statement.callee);
  const CheckedFile &file = context_.checked[callee];
  const ast::Callable &callable = file.file->callables[callee.index];
  Launch launch = {statement, file,  callable, cgrt::format::spelling(callable.kind),
                   {},        frame, {},       {}};
  launch.on_host = callable.kind == ast::CallableKind::Callback;
  if (lower_arguments(launch)) {
    check_arguments(launch, false);
  }
  return std::move(launch.work.arguments);
}

void LaunchLowering::check_arguments(const Launch &launch, bool may_overlap) {
  const ExprEnvironment environment = kernel_environment(launch);
  for (std::size_t i = 0; i < launch.statement.arguments.size(); ++i) {
    if (launch.kernel.parameters[i].mode) {
      check_memory(launch, i);
      check_shape(launch, i, environment);
    }
  }
  if (!may_overlap) {
    check_aliases(launch);
  }
}

/// False where an argument has an error: nothing else is sure then.
bool LaunchLowering::lower_arguments(Launch &launch) {
  const std::size_t errors_before = context_.diagnostics.error_count();
  launch.views.resize(launch.statement.arguments.size());
  launch.work.arguments.reserve(launch.statement.arguments.size());
  for (std::size_t i = 0; i < launch.statement.arguments.size(); ++i) {
    const ExprRef argument = launch.statement.arguments[i];
    const ast::Parameter &parameter = launch.kernel.parameters[i];
    if (parameter.launch) {
      launch.work.arguments.emplace_back(
          context_.add_launch(*parameter.launch, launch.frame.file().symbol(argument),
                              launch.frame.range(argument), launch.kernel.name.text));
    } else if (parameter.mode) {
      launch.views[i] = launch.frame.view(argument);
      launch.work.arguments.emplace_back(launch.views[i].region);
    } else {
      launch.work.arguments.emplace_back(
          launch.frame.lower_as(parameter_type(launch.kernel, parameter, launch.types), argument));
    }
  }
  return context_.diagnostics.error_count() == errors_before;
}

/// A kernel reaches device memory and mapped host memory, a callback host memory; both take what
/// lies side by side.
void LaunchLowering::check_memory(const Launch &launch, std::size_t index) {
  const View &view = launch.views[index];
  const auto &buffer = context_.program[view.region.buffer];
  if (launch.on_host) {
    if (buffer.space == MemorySpace::Device) {
      context_.diagnostics.report(Diag::DeviceBufferInCallback, launch.range(index), buffer.name);
    }
  } else if (buffer.space == MemorySpace::Host && !buffer.mapped) {
    const bool is_kernel = launch.what == "kernel";
    context_.diagnostics.report(Diag::HostBufferInLaunch, launch.range(index), buffer.name,
                                is_kernel ? "kernel" : "captured function");
  }
  if (contiguity(context_.program, context_.polynomials, view.region) == Contiguity::No) {
    context_.diagnostics.report(Diag::NotContiguous, launch.range(index),
                                launch.frame.text(launch.statement.arguments[index]),
                                launch.parameter(index), launch.name());
  }
}

ExprEnvironment LaunchLowering::kernel_environment(const Launch &launch) {
  ExprEnvironment environment;
  environment.scalar = [this, &launch](const Symbol &symbol) {
    if (symbol.kind == SymbolKind::Const) {
      return context_.program.exprs.constant(*context_.checked[symbol].const_values[symbol.index]);
    }
    const auto *value = symbol.kind == SymbolKind::KernelParameter
                            ? std::get_if<ExprId>(&launch.work.arguments[symbol.index])
                            : nullptr;
    return value != nullptr ? *value : ExprId{};
  };
  environment.type = [&launch](const Symbol &symbol) { return launch.types[symbol.index]; };
  // Clauses may ask for a parameter's shape; shapes themselves read scalars only.
  const auto scalar = environment.scalar;
  const auto type = environment.type;
  environment.shape = [this, &launch, scalar, type](const Symbol &symbol) {
    std::vector<ExprId> extents;
    for (const ExprRef extent : launch.kernel.parameters[symbol.index].shape) {
      extents.push_back(
          lower_expr(launch.kernel_file, extent, {scalar, {}, type}, context_.program.exprs));
    }
    return extents;
  };
  return environment;
}

/// Rank and extents match, except that a one-dimensional parameter takes any contiguous argument of
/// that many elements.
void LaunchLowering::check_shape(const Launch &launch, std::size_t index,
                                 const ExprEnvironment &environment) {
  const std::vector<ExprId> actual = launch.views[index].shape();
  const std::vector<ExprId> declared =
      environment.shape({SymbolKind::KernelParameter, static_cast<std::uint32_t>(index)});
  const ShapeContract contract = {launch.name(), launch.kernel.parameters[index].name,
                                  launch.frame.text(launch.statement.arguments[index]),
                                  launch.range(index)};
  if (declared.size() == 1) {
    require_extent(context_, contract, "the number of elements",
                   element_count(context_.program, launch.views[index]), declared[0]);
    return;
  }
  if (declared.size() != actual.size()) {
    context_.diagnostics.report(Diag::RankMismatch, contract.range, contract.parameter.text,
                                contract.callee, counted(declared.size(), "dimension"),
                                contract.argument, counted(actual.size(), "dimension"));
    return;
  }
  for (std::size_t axis = 0; axis < declared.size(); ++axis) {
    require_extent(context_, contract, "extent " + std::to_string(axis), actual[axis],
                   declared[axis]);
  }
}

void LaunchLowering::check_aliases(const Launch &launch) {
  const auto &arguments = launch.work.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto *second = std::get_if<Region>(&arguments[i]);
    for (std::size_t j = 0; second != nullptr && j < i; ++j) {
      const auto *first = std::get_if<Region>(&arguments[j]);
      const bool writes = launch.kernel.parameters[i].mode != ast::Mode::In ||
                          launch.kernel.parameters[j].mode != ast::Mode::In;
      if (first != nullptr && writes && first->buffer == second->buffer &&
          overlap(context_.polynomials, *first, *second) == Overlap::Yes) {
        context_.diagnostics.report(Diag::AliasedArguments, launch.range(i), launch.parameter(j),
                                    launch.parameter(i), launch.name());
        return;
      }
    }
  }
}

void LaunchLowering::lower_geometry(Launch &launch, const KernelClauses &clauses) {
  const ExprEnvironment environment = kernel_environment(launch);
  const ExprId one = context_.integer(1);
  const auto lower_all = [&](const std::vector<ExprRef> &values, const auto &lower_one) {
    cgrt::format::Extents extents = {one, one, one};
    for (std::size_t axis = 0; axis < std::min<std::size_t>(values.size(), 3); ++axis) {
      extents[axis] = lower_one(values[axis]);
    }
    return extents;
  };
  const auto in_kernel = [&](ExprRef value) {
    return lower_expr(launch.kernel_file, value, environment, context_.program.exprs);
  };
  const auto in_caller = [&](ExprRef value) { return launch.frame.lower(value); };
  const auto &given = launch.statement.geometry;
  launch.work.grid =
      given ? lower_all(given->grid, in_caller) : lower_all(clauses.grid->values, in_kernel);
  launch.work.block =
      given ? lower_all(given->block, in_caller) : lower_all(clauses.block->values, in_kernel);
  if (given && given->shared.valid()) {
    launch.work.shared_bytes = in_caller(given->shared);
  } else {
    launch.work.shared_bytes =
        clauses.shared != nullptr ? in_kernel(clauses.shared->values[0]) : context_.integer(0);
  }
}

/// The launch's own attributes go before those of the blocks around it, these before the kernel's,
/// and these before what its stream gives it.
void LaunchLowering::lower_attributes(Launch &launch, const ast::Attributes &declared,
                                      const LaunchAttributes &attributes) {
  LaunchAttributes all;
  if (!declared.empty()) {
    Frame kernel_frame(context_, launch.kernel_file);
    all.apply(declared, kernel_frame);
  }
  const auto cluster =
      attributes.cluster.value_or(all.cluster.value_or(std::array<std::int64_t, 3>{1, 1, 1}));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    launch.work.cluster[axis] = context_.integer(cluster[axis]);
  }
  launch.work.cooperative = context_.integer(attributes.cooperative || all.cooperative ? 1 : 0);
  launch.work.priority = context_.integer(
      attributes.priority.value_or(all.priority.value_or(attributes.of_stream.value_or(0))));
}

/// The value where it is known; beyond i64 it is as good as the greatest one.
std::int64_t LaunchLowering::known_or(ExprId id, std::int64_t otherwise, const SourceRange &range) {
  const auto value = context_.known(id, range, "the launch's geometry");
  if (!value) {
    return otherwise;
  }
  constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  return value->as_wide() > greatest ? greatest : static_cast<std::int64_t>(value->as_wide());
}

/// What is not known yet is taken as legal here; the graph builder checks it again.
void LaunchLowering::check_geometry(const Launch &launch) {
  const SourceRange &range =
      launch.statement.geometry ? launch.statement.geometry->range : launch.callee();
  cgrt::format::Geometry geometry;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    geometry.cluster[axis] = known_or(launch.work.cluster[axis], 1, range);
    // A grid that is not known yet is any multiple of the cluster.
    geometry.grid[axis] =
        known_or(launch.work.grid[axis], std::max<std::int64_t>(geometry.cluster[axis], 1), range);
    geometry.block[axis] = known_or(launch.work.block[axis], 1, range);
  }
  geometry.shared_bytes = known_or(launch.work.shared_bytes, 0, range);
  if (const auto problem = cgrt::format::geometry_problem(geometry)) {
    context_.diagnostics.report(Diag::BadGeometry, range, launch.kernel.name.text, *problem)
        .notes.push_back({launch.kernel.name.range, "the kernel is declared here"});
  }
}

} // namespace cgc
