// The command line that the example programs share: [BUNDLE] [host|cuda].
#pragma once

#include <cgrt/cgrt.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace example {

/// Calls run(device), whose value is the exit status; 77 where there is no GPU to run on. `where`
/// is the device's name on the command line.
template <typename Run> int run_on(const char *who, const std::string &where, const Run &run) {
  try {
    std::string why_host;
    const cgrt::Device device =
        where == "host" ? cgrt::Device::host() : cgrt::Device::automatic({}, &why_host);
    if (where == "cuda" && !device.is_cuda()) {
      std::printf("skipped: %s\n", why_host.c_str());
      return 77;
    }
    return run(device);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", who, error.what());
    return 1;
  }
}

/// Of a program that takes `parameters` and then [host|cuda]; calls run(device).
template <typename Run>
int main_with(int argc, char **argv, int parameters, const char *names, const Run &run) {
  const std::string where = argc == parameters + 2 ? argv[parameters + 1] : "auto";
  if (argc < parameters + 1 || argc > parameters + 2 ||
      (where != "auto" && where != "host" && where != "cuda")) {
    std::fprintf(stderr, "usage: %s %s[host|cuda]\n", argv[0], names);
    return 2;
  }
  return run_on(argv[0], where, run);
}

/// Calls run(program, device).
template <typename Run> int main(int argc, char **argv, const Run &run) {
  return main_with(argc, argv, 1, "BUNDLE ", [&](const cgrt::Device &device) {
    return run(cgrt::Program::from_file(argv[1]), device);
  });
}

/// Calls run(device).
template <typename Run> int main_on_device(int argc, char **argv, const Run &run) {
  return main_with(argc, argv, 0, "", run);
}

} // namespace example
