#include "ir/launch_lowering.h"

#include "ir/shape.h"

#include "sema/expr_check.h"

#include "format/geometry.h"

#include <limits>

namespace cgc {

using ast::ExprRef;
using cgrt::format::Argument;
using cgrt::format::BufferId;
using cgrt::format::Check;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::Region;
using cgrt::format::Value;

/// A launch while it is lowered.
struct LaunchLowering::Launch {
  const ast::LaunchStatement &statement;
  const ast::Kernel &kernel;
  const CheckedFile::KernelGeometry &geometry;
  cgrt::format::KernelWork work;

  const SourceRange &range(const CheckedFile &checked, std::size_t argument) const {
    return (*checked.file)[statement.arguments[argument]].range;
  }
};

cgrt::format::KernelWork LaunchLowering::lower(const ast::LaunchStatement &statement) {
  const std::uint32_t index = checked_.names.at(statement.kernel.text).index;
  Launch launch = {statement, checked_.file->kernels[index], checked_.geometry[index], {}};
  launch.work.kernel = {index};
  for (std::size_t i = 0; i < statement.arguments.size(); ++i) {
    const ExprRef argument = statement.arguments[i];
    const ast::KernelParameter &parameter = launch.kernel.parameters[i];
    if (parameter.mode) {
      const BufferId buffer{checked_.symbols[argument.index].index};
      launch.work.arguments.emplace_back(whole_region(program_, buffer));
    } else {
      launch.work.arguments.emplace_back(scalar_argument(argument, parameter.type));
    }
  }
  const ExprEnvironment environment = kernel_environment(launch);
  for (std::size_t i = 0; i < statement.arguments.size(); ++i) {
    if (launch.kernel.parameters[i].mode) {
      check_shape(launch, i, environment);
    }
  }
  check_aliases(launch);
  lower_geometry(launch, environment);
  check_geometry(launch);
  return std::move(launch.work);
}

/// Integers keep their value, which sema and the graph builder check against the type; floats and
/// bools are seen by the kernel's clauses as its body sees them.
ExprId LaunchLowering::scalar_argument(ExprRef argument, cgrt::ScalarType type) {
  const ExprId value = lower_expr(checked_, argument, file_environment_, program_.exprs);
  const auto type_class = cgrt::format::class_of(type);
  const bool converts = type_class == cgrt::format::ScalarClass::Float;
  return converts ? program_.exprs.cast(type, value) : value;
}

ExprEnvironment LaunchLowering::kernel_environment(const Launch &launch) {
  ExprEnvironment environment;
  environment.scalar = [this, &launch](const Symbol &symbol) {
    if (symbol.kind != SymbolKind::KernelParameter) {
      return file_environment_.scalar(symbol);
    }
    const auto *value = std::get_if<ExprId>(&launch.work.arguments[symbol.index]);
    return value != nullptr ? *value : ExprId{};
  };
  // Clauses may ask for a parameter's shape; shapes themselves read scalars only.
  const auto scalar = environment.scalar;
  environment.shape = [this, &launch, scalar](const Symbol &symbol) {
    std::vector<ExprId> extents;
    for (const ExprRef extent : launch.kernel.parameters[symbol.index].shape) {
      extents.push_back(lower_expr(checked_, extent, {scalar, {}}, program_.exprs));
    }
    return extents;
  };
  return environment;
}

/// Rank and extents match, except that a one-dimensional parameter takes any contiguous argument of
/// that many elements.
void LaunchLowering::check_shape(const Launch &launch, std::size_t index,
                                 const ExprEnvironment &environment) {
  const ast::KernelParameter &parameter = launch.kernel.parameters[index];
  const auto &region = std::get<Region>(launch.work.arguments[index]);
  const std::vector<ExprId> actual = program_[region.buffer].shape;
  const std::vector<ExprId> declared =
      environment.shape({SymbolKind::KernelParameter, static_cast<std::uint32_t>(index)});
  if (declared.size() == 1) {
    require_equal(launch, index, "the number of elements", element_count(program_, region.buffer),
                  declared[0]);
    return;
  }
  if (declared.size() != actual.size()) {
    diagnostics_.report(Diag::RankMismatch, launch.range(checked_, index), parameter.name.text,
                        launch.kernel.name.text, counted(declared.size(), "dimension"),
                        program_[region.buffer].name, counted(actual.size(), "dimension"));
    return;
  }
  for (std::size_t axis = 0; axis < declared.size(); ++axis) {
    require_equal(launch, index, "extent " + std::to_string(axis), actual[axis], declared[axis]);
  }
}

void LaunchLowering::require_equal(const Launch &launch, std::size_t index, const std::string &what,
                                   ExprId actual, ExprId declared) {
  if (actual == declared) {
    return;
  }
  const SourceRange &range = launch.range(checked_, index);
  const std::string parameter(launch.kernel.parameters[index].name.text);
  const std::string kernel(launch.kernel.name.text);
  const std::string buffer = program_[std::get<Region>(launch.work.arguments[index]).buffer].name;
  const auto known_actual = program_.exprs.known(actual);
  const auto known_declared = program_.exprs.known(declared);
  if (known_declared && !known_declared->ok()) {
    diagnostics_.report(Diag::EvaluationFault, range,
                        "the shape of '" + parameter + "' has no value",
                        cgrt::format::text(known_declared->fault));
    return;
  }
  if (known_actual && known_actual->ok() && known_declared) {
    if (known_actual->value.as_wide() != known_declared->value.as_wide()) {
      diagnostics_
          .report(Diag::ExtentMismatch, range, parameter, kernel, what,
                  known_declared->value.text(), buffer, known_actual->value.text())
          .notes.push_back(
              {launch.kernel.parameters[index].name.range, "the parameter is declared here"});
    }
    return;
  }
  if (compared_.emplace(actual, declared).second) {
    Check check;
    check.left = actual;
    check.right = declared;
    check.slug = "shape";
    check.message = "argument '" + parameter + "' of kernel '" + kernel + "': " + what +
                    " is {right}, that of '" + buffer + "' is {left}";
    check.place = files_.place(range);
    program_.checks.push_back(std::move(check));
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
      if (first != nullptr && first->buffer == second->buffer && writes) {
        diagnostics_.report(Diag::AliasedArguments, launch.range(checked_, i),
                            launch.kernel.parameters[j].name.text,
                            launch.kernel.parameters[i].name.text, launch.kernel.name.text);
        return;
      }
    }
  }
}

void LaunchLowering::lower_geometry(Launch &launch, const ExprEnvironment &environment) {
  const ExprId one = program_.exprs.constant(Value::of(std::int64_t{1}));
  const auto lower_clause = [&](const ast::KernelClause &clause) {
    std::array<ExprId, 3> values = {one, one, one};
    for (std::size_t axis = 0; axis < clause.values.size(); ++axis) {
      values[axis] = lower_expr(checked_, clause.values[axis], environment, program_.exprs);
    }
    return values;
  };
  launch.work.grid = lower_clause(*launch.geometry.grid);
  launch.work.block = lower_clause(*launch.geometry.block);
  const ExprId zero = program_.exprs.constant(Value::of(std::int64_t{0}));
  launch.work.cluster = {one, one, one};
  launch.work.cooperative = zero;
  launch.work.priority = zero;
  launch.work.shared_bytes =
      launch.geometry.shared != nullptr ? lower_clause(*launch.geometry.shared)[0] : zero;
}

/// The value where it is known; beyond i64 it is as good as the greatest one.
std::optional<std::int64_t> LaunchLowering::known_integer(ExprId id, const SourceRange &range) {
  const auto outcome = program_.exprs.known(id);
  if (!outcome) {
    return std::nullopt;
  }
  if (!outcome->ok()) {
    diagnostics_.report(Diag::EvaluationFault, range, "the launch's geometry has no value",
                        cgrt::format::text(outcome->fault));
    return std::nullopt;
  }
  constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  return outcome->value.as_wide() > greatest ? greatest
                                             : static_cast<std::int64_t>(outcome->value.as_wide());
}

/// What is not known yet is taken as legal here; the graph builder checks it again.
void LaunchLowering::check_geometry(const Launch &launch) {
  const SourceRange &range = launch.statement.kernel.range;
  cgrt::format::Geometry geometry;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    geometry.grid[axis] = known_integer(launch.work.grid[axis], range).value_or(1);
    geometry.block[axis] = known_integer(launch.work.block[axis], range).value_or(1);
  }
  geometry.shared_bytes = known_integer(launch.work.shared_bytes, range).value_or(0);
  if (const auto problem = cgrt::format::geometry_problem(geometry)) {
    diagnostics_.report(Diag::BadGeometry, range, launch.kernel.name.text, *problem)
        .notes.push_back({launch.kernel.name.range, "the kernel is declared here"});
  }
}

} // namespace cgc
