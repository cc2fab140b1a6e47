// What all parts of lowering work on.
#pragma once

#include "diag/diagnostics.h"
#include "ir/module.h"
#include "ir/polynomial.h"
#include "sema/checked_file.h"

#include <set>
#include <string>
#include <unordered_map>

namespace cgc {

/// Names of one table of the program.
class UniqueNames {
public:
  /// `name`, or with a number behind it where that is taken.
  std::string add(const std::string &name, char separator = '.');

private:
  std::unordered_map<std::string, std::size_t> taken_; ///< and the last number behind it
};

struct LoweringContext {
  LoweringContext(const CheckedProgram &given_program, const SourceFiles &given_files,
                  Diagnostics &given_diagnostics)
      : checked(given_program), files(given_files), diagnostics(given_diagnostics) {}
  LoweringContext(const LoweringContext &) = delete;
  LoweringContext &operator=(const LoweringContext &) = delete;

  cgrt::format::ExprId integer(std::int64_t value) {
    return program.exprs.constant(cgrt::format::Value::of(value));
  }

  /// The value of an expression that is known; a fault is reported at `range`, about `what`.
  std::optional<cgrt::format::Value> known(cgrt::format::ExprId id, const SourceRange &range,
                                           std::string_view what);

  /// Adds what every launch rests on and only the parameters decide, once for each such pair.
  void require(cgrt::format::ExprId left, cgrt::format::Check::Relation relation,
               cgrt::format::ExprId right, std::string_view slug, std::string message,
               const SourceRange &range);

  /// That an integer which the params decide fits the type; `what` names it.
  void require_fits(cgrt::format::ExprId value, cgrt::ScalarType type, const std::string &what,
                    const SourceRange &range);

  /// A launch from the device by a statement or a kernel of `entry`; reports a graph that launches
  /// itself and cannot. `target` is none for `self`.
  /// `who`: the kernel that is given the graph, if one is.
  cgrt::format::LaunchId add_launch(ast::LaunchKind kind, const Symbol &target,
                                    const SourceRange &range, std::string_view who = {});

  const CheckedProgram &checked;
  const SourceFiles &files;
  Diagnostics &diagnostics;
  Module module;
  cgrt::format::Program &program = module.program;
  Polynomials polynomials{module.program.exprs};
  /// The main file's buffers of file scope, by their index in its tree.
  std::unordered_map<std::uint32_t, cgrt::format::BufferId> file_buffers;
  std::set<cgrt::format::BufferId> local_buffers; ///< those that blocks declare
  /// Those that statements with an error may write, and the compiler's own: not checked for reads
  /// of what nothing has written.
  std::set<cgrt::format::BufferId> unsure_buffers;
  UniqueNames buffer_names, kernel_names, kernel_symbols, graph_names, callable_names;
  UniqueNames event_names; ///< of the entry graph
  std::uint32_t entry = 0; ///< the graph that is being lowered, by its number in the main file
  /// By launch, the number of its target there; Program::launches gets them when all graphs are
  /// lowered.
  std::vector<std::uint32_t> launch_targets;
  std::vector<std::uint32_t> update_graphs; ///< likewise where each of Program::updates happens
  std::set<cgrt::format::LaunchId> unconditional_launches; ///< those that surely happen

private:
  std::set<std::tuple<cgrt::format::ExprId, std::uint8_t, cgrt::format::ExprId>> required_;
};

} // namespace cgc
