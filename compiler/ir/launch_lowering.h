// One kernel launch to a node: arguments, shape contracts, geometry.
#pragma once

#include "diag/diagnostics.h"
#include "ir/module.h"
#include "sema/checked_file.h"
#include "sema/host_expr.h"

#include <set>
#include <utility>

namespace cgc {

class LaunchLowering {
public:
  LaunchLowering(const CheckedFile &checked, const SourceFiles &files,
                 const ExprEnvironment &file_environment, cgrt::format::Program &program,
                 Diagnostics &diagnostics)
      : checked_(checked), files_(files), file_environment_(file_environment), program_(program),
        diagnostics_(diagnostics) {}

  cgrt::format::KernelWork lower(const ast::LaunchStatement &launch);

private:
  struct Launch;

  ExprEnvironment kernel_environment(const Launch &launch);
  cgrt::format::ExprId scalar_argument(ast::ExprRef argument, cgrt::ScalarType type);
  void check_shape(const Launch &launch, std::size_t index, const ExprEnvironment &environment);
  void require_equal(const Launch &launch, std::size_t index, const std::string &what,
                     cgrt::format::ExprId actual, cgrt::format::ExprId declared);
  void check_aliases(const Launch &launch);
  void lower_geometry(Launch &launch, const ExprEnvironment &environment);
  void check_geometry(const Launch &launch);
  std::optional<std::int64_t> known_integer(cgrt::format::ExprId id, const SourceRange &range);

  const CheckedFile &checked_;
  const SourceFiles &files_;
  const ExprEnvironment &file_environment_;
  cgrt::format::Program &program_;
  Diagnostics &diagnostics_;
  /// Pairs of extents that a Check compares already.
  std::set<std::pair<cgrt::format::ExprId, cgrt::format::ExprId>> compared_;
};

} // namespace cgc
