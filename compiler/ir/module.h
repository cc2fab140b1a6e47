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

/// What `after`, streams, events and `sync` ask for: every node of `to` runs after every node of
/// `from`, which may stand behind it.
struct AfterEdge {
  cgrt::format::GraphId graph;
  NodeRange from;
  NodeRange to;
  SourceRange range;
};

/// A call of a def while it is lowered; callers stand before what they call.
struct Call {
  std::uint32_t caller = 0;
  SourceRange range;
};

/// What a node was before the passes, for reports.
struct NodeOrigin {
  SourceRange range;          ///< its statement, or its line of IR text
  std::uint32_t position = 0; ///< its number in the program's order
  std::uint32_t call = 0;     ///< which made it
};
/// Of the nodes of one graph.
using NodeOrigins = std::vector<NodeOrigin>;

struct Module {
  cgrt::format::Program program;
  std::vector<CodeScope> scopes;            ///< one for each source file with kernels
  std::vector<KernelSource> kernel_sources; ///< parallel to Program::kernels
  std::vector<AfterEdge> after;             ///< ascending by graph; the pass `order` uses them up
  std::vector<NodeOrigins> origins;         ///< parallel to the graphs and their nodes
  std::vector<Call> calls = std::vector<Call>(1); ///< the first stands for the graphs themselves
  bool is_text = false;                           ///< it was read from IR text
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
