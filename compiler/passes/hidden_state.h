// What nodes touch besides memory, and what keeps it in order.
#pragma once

#include "format/program.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace cgc {

/// What a C++ function keeps, an event, what kernels change of a node, the tails that are to run in
/// order, or the conditions. CUDA
/// leaves calls of cudaGraphSetConditional undefined that may run at the same time, and on a GPU
/// loops whose calls do so fail, although each has a handle of its own.
enum class StateKind : std::uint8_t { Callable, Event, Updatable, Tails, Conditions };
/// With the number of the function, the event or the node.
using State = std::pair<StateKind, std::uint32_t>;
using States = std::set<State>;

/// The node's own, and that of the graphs in it: `of_graphs` holds those of each graph before the
/// node's. All nodes of a graph that touch the same must run one after the other.
States states_of(const cgrt::format::Program &program, const cgrt::format::Node &node,
                 const std::vector<States> &of_graphs);

/// The conditions that a node sets; each must be set before the conditional node that asks for it.
std::vector<cgrt::format::ConditionId> conditions_set_by(const cgrt::format::Node &node);

} // namespace cgc
