#include "passes/race_report.h"

#include <algorithm>

namespace cgc {

using cgrt::format::Node;

std::uint32_t RaceReports::statement(std::uint32_t graph, std::uint32_t node) {
  const cgrt::format::Place &place = module_.program.graphs[graph].nodes[node].place;
  const NodeOrigin &origin = module_.origins[graph][node];
  const auto key = place.line != 0 ? std::tuple(place.file.index, place.line, place.column)
                                   : std::tuple(UINT32_MAX, graph, origin.position);
  return statements_.emplace(key, static_cast<std::uint32_t>(statements_.size())).first->second;
}

/// Notes where the graph's statements and the calls around them begin.
void RaceReports::look_at(std::uint32_t graph) {
  if (graph_ == graph) {
    return;
  }
  graph_ = graph;
  begins_.clear();
  call_begins_.clear();
  NodeOrigins origins = module_.origins[graph];
  std::sort(origins.begin(), origins.end(),
            [](const NodeOrigin &a, const NodeOrigin &b) { return a.position < b.position; });
  for (const NodeOrigin &origin : origins) {
    add({origin.call, origin.range, origin.position});
    std::uint32_t call = origin.call;
    while (call != 0 && call_begins_.emplace(call, origin.position).second) {
      add({module_.calls[call].caller, module_.calls[call].range, origin.position});
      call = module_.calls[call].caller;
    }
  }
}

/// The call that the step is part of.
RaceReports::Step RaceReports::around(const Step &step) const {
  const Call &call = module_.calls[step.call];
  return {call.caller, call.range, call_begins_.at(step.call), true};
}

bool RaceReports::begins_between(const Step &earlier, const Step &later, const Step &step) const {
  const std::set<std::uint32_t> &begins = begins_.at(place(step));
  const auto next = begins.upper_bound(earlier.begin);
  return next != begins.end() && *next < later.begin;
}

/// Of two steps of one call: whether one loop runs both.
bool RaceReports::in_later_iteration(const Step &earlier, const Step &later) const {
  return place(later) <= place(earlier) ||
         (begins_between(earlier, later, earlier) && begins_between(earlier, later, later));
}

/// "line 12", with the file's name where it is not the one that the report points into.
std::string RaceReports::line(const SourceRange &range, FileId from) const {
  const std::string number = std::to_string(files_.place(range).line);
  return range.file == from ? "line " + number
                            : "line " + number + " of " + files_[range.file].name();
}

std::string RaceReports::advice(const Step &earlier, const Step &later, FileId file) const {
  if (in_later_iteration(earlier, later)) {
    return "put them on one stream, or let each iteration wait for an event that is recorded "
           "before the loop and at the end of each iteration";
  }
  const auto where = [&](const Step &step) {
    return (step.is_call ? "the call in " : "") + line(step.range, file);
  };
  if (begins_between(earlier, later, earlier)) {
    return "let each iteration record an event of its own after " + where(earlier) +
           ", and wait for all of them before " + where(later);
  }
  if (where(earlier) == where(later)) {
    const auto which = [](const Step &step) { return step.is_call ? " call" : " one"; };
    return std::string("put `record e;` behind the earlier") + which(earlier) +
           " and `wait e;` before the later" + which(later);
  }
  return "add `record e;` after " + where(earlier) + " and `wait e;` before " + where(later);
}

void RaceReports::report(std::uint32_t graph, std::uint32_t first, std::uint32_t second,
                         const std::string &what) {
  if (!known_.insert(std::minmax(statement(graph, first), statement(graph, second))).second) {
    return;
  }
  look_at(graph);
  const NodeOrigins &origins = module_.origins[graph];
  if (origins[second].position < origins[first].position) {
    std::swap(first, second);
  }
  const NodeOrigin &from = origins[first];
  const NodeOrigin &to = origins[second];
  Step earlier = {from.call, from.range, from.position};
  Step later = {to.call, to.range, to.position};
  while (earlier.call != later.call) { // callers stand before what they call
    Step &inner = earlier.call > later.call ? earlier : later;
    inner = around(inner);
  }
  const bool is_behind =
      from.range.file.index != to.range.file.index || to.range.begin > from.range.begin;
  const std::string when = module_.is_text                      ? ""
                           : in_later_iteration(earlier, later) ? " in a later iteration"
                           : !is_behind                         ? " in a later call"
                                                                : "";
  const std::string help = module_.is_text
                               ? "let #" + std::to_string(to.position) + " come `after #" +
                                     std::to_string(from.position) + "`"
                               : advice(earlier, later, to.range.file);
  const auto &nodes = module_.program.graphs[graph].nodes;
  diagnostics_
      .report(Diag::Race, to.range, describe(module_.program, nodes[second]), when,
              describe(module_.program, nodes[first]), line(from.range, to.range.file), what, help)
      .notes.push_back({from.range, "the other statement"});
}

} // namespace cgc
