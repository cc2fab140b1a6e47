// A pass rewrites Graph IR in place. The list in passes.cpp is the order they run in; the driver
// verifies the program after each.
#pragma once

#include "diag/diagnostics.h"
#include "ir/module.h"

#include <span>
#include <string_view>

namespace cgc {

struct Pass {
  std::string_view name;
  std::string_view description;
  void (*run)(Module &module, Diagnostics &diagnostics);
};

/// All passes, in the order in which they run.
std::span<const Pass> passes();

} // namespace cgc
