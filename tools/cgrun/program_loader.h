// From a file's name to a program on a device.
#pragma once

#include "options.h"
#include "progress.h"

#include <cgrt/cgrt.h>

#include <optional>

namespace cgrun {

struct LoadedProgram {
  cgrt::Program program;
  cgrt::Device device;
  double compile_us = 0;
  double load_us = 0; ///< reading the bundle
};

struct LoadResult {
  int status = 0; ///< the exit status when there is no program; standard error then says why
  std::optional<LoadedProgram> loaded;
};

/// Reads a bundle, or compiles a `.cgraph` file for the device that will run it. Where
/// `--device auto` falls back to the host device, standard error says why. Throws cgrt::Error.
LoadResult load_program(const Options &options, Progress &progress);

} // namespace cgrun
