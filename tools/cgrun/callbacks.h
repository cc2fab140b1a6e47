// What callbacks are in cgrun: each call prints a line with its arguments.
#pragma once

#include <cgrt/cgrt.h>

#include <cstdio>

namespace cgrun {

/// Binds every callback of the program to a printer: "progress(step = [3], x = 0.5)". Calls come
/// from any thread; each writes its line at once.
void bind_printers(const cgrt::Program &program, cgrt::Instance &instance, std::FILE *out);

} // namespace cgrun
