// The command line that the example programs share: BUNDLE [host|cuda].
#pragma once

#include <cgrt/cgrt.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace example {

/// Calls run(program, device), whose value is the exit status; 77 where there is no GPU to run on.
template <typename Run> int main(int argc, char **argv, const Run &run) {
  const std::string where = argc == 3 ? argv[2] : "auto";
  if (argc < 2 || argc > 3 || (where != "auto" && where != "host" && where != "cuda")) {
    std::fprintf(stderr, "usage: %s BUNDLE [host|cuda]\n", argv[0]);
    return 2;
  }
  try {
    std::string why_host;
    const cgrt::Device device =
        where == "host" ? cgrt::Device::host() : cgrt::Device::automatic({}, &why_host);
    if (where == "cuda" && !device.is_cuda()) {
      std::printf("skipped: %s\n", why_host.c_str());
      return 77;
    }
    return run(cgrt::Program::from_file(argv[1]), device);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

} // namespace example
