// Independent jobs on all cores.
#pragma once

#include <functional>
#include <vector>

namespace cgc {

/// Calls each job once, begun in the given order, and returns when all are done. The jobs throw
/// nothing.
void run_in_parallel(const std::vector<std::function<void()>> &jobs);

} // namespace cgc
