// The source text that the system's C++ compiler is given for the host device.
#pragma once

#include "kernels/code_unit.h"

#include <string>

namespace cgc {

/// A whole program of the unit's kernels, which exports their entry points and the host ABI's
/// version:
///   cuda, source   the header that speaks CUDA, what NVRTC would be given, and entries that run
///   one
///                  thread after the other
///   host           standard headers, the bodies, and entries that call them once
std::string host_text(const CodeUnit &unit);

} // namespace cgc
