// Which kernels launch graphs: CUDA hangs where such a one is in a graph with branches or loops,
// even if it never comes to the call.
#pragma once

#include "format/program.h"

#include <set>
#include <string>
#include <string_view>

namespace cgc {

/// The entry points in PTX text whose code calls cudaGraphLaunch, or a function that does.
std::set<std::string> launching_entries(std::string_view ptx);

/// Those of the image's kernels that launch as far as its code shows: a cubin does not tell which
/// of its kernels, so that all count, and a fatbin may be compressed.
std::vector<cgrt::format::KernelId> launching_kernels(const cgrt::format::Program &program,
                                                      const cgrt::format::Image &image);

} // namespace cgc
