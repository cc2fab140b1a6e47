// Which of a program's images a GPU takes.
#pragma once

#include "format/program.h"

namespace cgrt::cuda {

/// A GPU's compute capability: 9.0 is {9, 0}.
struct Capability {
  int major = 0;
  int minor = 0;
};

/// 90 for 9.0, as in "sm_90".
inline int number_of(Capability capability) {
  return capability.major * 10 + capability.minor;
}

/// The image of `program` to load for a kernel on a GPU of this capability, or null: of those that
/// hold the kernel, a cubin that fits, else a fatbin, which says itself what it fits, else PTX that
/// the driver can compile. A cubin runs on its own major version from its minor version on, PTX on
/// everything newer; those of architectures with the suffix `a` on exactly theirs, with `f` on the
/// family, which is their major version. The closest number comes first, then the more special
/// code.
const format::Image *select_image(const format::Program &program, format::KernelId kernel,
                                  Capability capability);

/// The driver is given a cubin or fatbin without its size and believes what is in it, so one that
/// says more than it has is an Error{Device} here.
void check_whole(const format::Image &image);

} // namespace cgrt::cuda
