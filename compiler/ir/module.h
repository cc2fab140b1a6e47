// Graph IR: the program as it will be in the bundle, and the kernels' text beside it.
#pragma once

#include "kernels/kernel_compiler.h"

#include "format/program.h"

#include <deque>
#include <string>
#include <vector>

namespace cgc {

/// The nodes [begin, end) of a graph.
struct NodeRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// What `after`, streams and events ask for: every node of `to` runs after every node of `from`,
/// which may stand behind it.
struct AfterEdge {
  cgrt::format::GraphId graph;
  NodeRange from;
  NodeRange to;
  SourceRange range;
};

/// A `sync`: it stands before the node of that number.
struct Sync {
  cgrt::format::GraphId graph;
  std::uint32_t position = 0;
};

struct Module {
  cgrt::format::Program program;
  std::vector<CodeScope> scopes;            ///< one for each source file with kernels
  std::vector<KernelSource> kernel_sources; ///< parallel to Program::kernels
  std::vector<AfterEdge> after;             ///< ascending by graph; the pass `order` uses them up
  std::vector<Sync> syncs;                  ///< of explicit graphs, ascending; likewise
  /// Where Program::files begin in the SourceFiles: a file of IR text stands before them.
  std::uint32_t first_file = 0;
  std::deque<std::string> texts; ///< code that stands neither in the SourceFiles nor in cgc
};

/// The program as text: one line for each thing, expressions numbered. docs/ir.md describes it.
std::string print(const Module &module);

/// With the kernels' code, so that read_ir() gives the module back.
std::string print(const Module &module, const SourceFiles &files);

/// The expressions that say nothing in a Quantity and in OptionalExtents, which are then left out
/// of the text: the first constants 0 and 1 of the table; none where it has none.
struct NeutralExprs {
  cgrt::format::ExprId zero, one;

  /// To be told of every expression, in order.
  void see(cgrt::format::ExprId id, const cgrt::format::Expr &expr);
};

} // namespace cgc
