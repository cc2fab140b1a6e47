// `--check-effects`: whether kernels do to memory what they declare.
#pragma once

#include "options.h"
#include "progress.h"
#include "report.h"

#include <cgrt/cgrt.h>

namespace cgrun {

/// Runs the graphs in order, node by node, up to one with a loop that has been ended early, and
/// prints what its kernels did wrong. Returns the exit status.
int check_effects(const cgrt::Program &program, cgrt::Instance &instance, const Options &options,
                  Progress &progress, Report &report);

} // namespace cgrun
