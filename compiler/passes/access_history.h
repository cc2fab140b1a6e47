// The accesses of a growing graph to all its buffers.
#pragma once

#include "passes/access_index.h"

#include <map>

namespace cgc {

/// Who touched a buffer and may matter to what comes.
struct BufferAccesses {
  AccessIndex writes;
  AccessIndex reads;
};

class AccessHistory {
public:
  AccessHistory(const cgrt::format::Program &program, Polynomials &polynomials)
      : program_(program), polynomials_(polynomials) {}

  BufferAccesses &of(cgrt::format::BufferId buffer) {
    const auto found = accesses_.find(buffer);
    if (found != accesses_.end()) {
      return found->second;
    }
    // Sorting by a dimension of extent 1 would tell nothing apart.
    const auto &shape = program_[buffer].shape;
    std::size_t dimension = 0;
    while (dimension + 1 < shape.size() && polynomials_.of(shape[dimension]) == Polynomial{1, {}}) {
      ++dimension;
    }
    const AccessIndex empty(polynomials_, dimension);
    return accesses_.emplace(buffer, BufferAccesses{empty, empty}).first->second;
  }

  /// Calls `visit(access)` for each access that may overlap the effect's region and conflicts with
  /// it, and forgets those for which it returns true.
  template <typename Visit> void visit_conflicts(const cgrt::format::Effect &effect, Visit visit) {
    BufferAccesses &accesses = of(effect.region.buffer);
    accesses.writes.visit_near(effect.region, visit);
    if (effect.writes) {
      accesses.reads.visit_near(effect.region, visit);
    }
  }

  void add(cgrt::format::NodeId node, const cgrt::format::Effect &effect) {
    BufferAccesses &accesses = of(effect.region.buffer);
    (effect.writes ? accesses.writes : accesses.reads).add({node, effect.region});
  }

private:
  const cgrt::format::Program &program_;
  Polynomials &polynomials_;
  std::map<cgrt::format::BufferId, BufferAccesses> accesses_;
};

} // namespace cgc
