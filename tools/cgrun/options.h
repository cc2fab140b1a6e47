// cgrun's command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cgrun {

/// NAME=VALUE.
struct Assignment {
  std::string name;
  std::string value;
};

enum class DeviceKind : std::uint8_t { Auto, Host, Cuda };

struct Options {
  std::string input; ///< a `.cgraph` or `.cgb` file
  std::vector<std::string> graphs;
  DeviceKind device = DeviceKind::Auto;
  int ordinal = 0; ///< which CUDA device
  std::vector<Assignment> params;
  std::vector<Assignment> inputs;
  std::vector<Assignment> outputs; ///< the value `-` is standard output
  std::uint64_t repeat = 1;        ///< at least 1
  std::uint64_t seed = 0;          ///< of the host device's order
  bool check_effects = false;
  bool json = false;
  std::vector<std::string> defines;         ///< NAME=VALUE, for consts of a `.cgraph` file
  std::vector<std::string> include_folders; ///< for its imports

  bool writes_values_to_stdout() const;
};

/// Exits with 0 after `--help` and `--version`. Throws Error{Usage} with one line. Call once.
Options parse_options(int argc, const char *const *argv);

} // namespace cgrun
