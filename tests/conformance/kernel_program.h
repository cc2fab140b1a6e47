// Kernels for the tests, compiled from their bodies for one device.
#pragma once

#include "format/program.h"

#include <string>
#include <vector>

namespace conformance {

using cgrt::ScalarType;
using cgrt::format::KernelParam;
using cgrt::format::Mode;

/// A kernel as a test writes it: with a body, or a function of a `.cu` file.
struct KernelText {
  std::string name;
  std::vector<KernelParam> params;
  std::string body;          ///< of `cuda { }`, or the file's whole text
  std::string function = {}; ///< of the file
  std::string host = {};     ///< of `host { }`; empty: none
};

inline KernelParam scalar(std::string name, ScalarType type) {
  return {std::move(name), type, false, Mode::In};
}
inline KernelParam input(std::string name, ScalarType type) {
  return {std::move(name), type, true, Mode::In};
}
inline KernelParam output(std::string name, ScalarType type) {
  return {std::move(name), type, true, Mode::InOut};
}

/// For "host" or a CUDA architecture ("sm_90"). The program holds these kernels, in this order, and
/// their images. Throws std::runtime_error with the diagnostics where a kernel does not compile.
cgrt::format::Program compile(const std::vector<KernelText> &kernels, const std::string &target);

/// Why kernels cannot be compiled for `target` on this machine; empty if they can.
std::string why_no_compiler(const std::string &target);

} // namespace conformance
