// Graph IR: the program as it will be in the bundle, and the kernels' text beside it.
#pragma once

#include "kernels/kernel_compiler.h"

#include "format/program.h"

#include <string>
#include <vector>

namespace cgc {

/// The nodes [begin, end) of a graph.
struct NodeRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// An `after`: every node of `to` runs after every node of `from`, which may stand behind it.
struct AfterEdge {
  cgrt::format::GraphId graph;
  NodeRange from;
  NodeRange to;
  SourceRange range;
};

struct Module {
  cgrt::format::Program program;
  std::vector<CodeScope> scopes;            ///< one for each source file with kernels
  std::vector<KernelSource> kernel_sources; ///< parallel to Program::kernels
  std::vector<AfterEdge> after;             ///< ascending by graph; the pass `order` uses them up
};

/// The program as text: one line for each thing, expressions numbered. docs/ir.md describes it.
std::string print(const Module &module);

} // namespace cgc
