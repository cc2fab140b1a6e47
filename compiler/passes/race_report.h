// What is said of two statements that nothing orders, and what to write.
#pragma once

#include "diag/diagnostics.h"
#include "ir/module.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace cgc {

/// Reports each pair of statements once, whatever iterations, calls and graphs it comes up in.
class RaceReports {
public:
  RaceReports(const Module &module, const SourceFiles &files, Diagnostics &diagnostics)
      : module_(module), files_(files), diagnostics_(diagnostics) {}

  /// The number of a node's statement.
  std::uint32_t statement(std::uint32_t graph, std::uint32_t node);
  bool is_known(std::uint32_t statement, std::uint32_t other) const {
    return known_.contains(std::minmax(statement, other));
  }
  /// Two nodes of a graph and what both touch.
  void report(std::uint32_t graph, std::uint32_t first, std::uint32_t second,
              const std::string &what);

private:
  /// A statement of a call's text, which a loop may run any number of times; `begin` is the first
  /// of its nodes in the program's order.
  struct Step {
    std::uint32_t call = 0;
    SourceRange range;
    std::uint32_t begin = 0;
    bool is_call = false;
  };
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

  static Place place(const Step &step) {
    return {step.call, step.range.file.index, step.range.begin};
  }
  void look_at(std::uint32_t graph);
  void add(const Step &step) { begins_[place(step)].insert(step.begin); }
  Step around(const Step &step) const;
  bool in_later_iteration(const Step &earlier, const Step &later) const;
  bool begins_between(const Step &earlier, const Step &later, const Step &step) const;
  std::string advice(const Step &earlier, const Step &later, FileId file) const;
  std::string line(const SourceRange &range, FileId from) const;

  const Module &module_;
  const SourceFiles &files_;
  Diagnostics &diagnostics_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> statements_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> known_; ///< pairs of statements
  std::optional<std::uint32_t> graph_;                      ///< the one last looked at
  std::map<Place, std::set<std::uint32_t>> begins_;         ///< in it, of all steps
  std::map<std::uint32_t, std::uint32_t> call_begins_;      ///< in it, by call
};

} // namespace cgc
