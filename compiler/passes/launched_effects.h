// What graphs that kernels launch do to memory.
#pragma once

#include "format/program.h"

#include <map>
#include <vector>

namespace cgc {

class LaunchedEffects {
public:
  explicit LaunchedEffects(const cgrt::format::Program &program) : program_(program) {}

  /// Of the graph and all that it launches in its turn; the same element may come up often.
  const std::vector<cgrt::format::Effect> &of(cgrt::format::GraphId graph);

  /// The launches at once, by `detach` and `sibling`, of a node or of the child graph that it is.
  std::vector<cgrt::format::LaunchId> at_once(const cgrt::format::Node &node) const;

private:
  const cgrt::format::Program &program_;
  std::map<cgrt::format::GraphId, std::vector<cgrt::format::Effect>> known_;
};

} // namespace cgc
