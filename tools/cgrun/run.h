// One run of cgrun, from options to report.
#pragma once

#include "options.h"

namespace cgrun {

/// Returns the exit status after writing outputs and report. Throws cgrt::Error; then no
/// output file has been touched.
int run(const Options &options);

} // namespace cgrun
