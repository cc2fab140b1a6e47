// Turns the log of NVRTC (`file(line): error: text`) or of a C++ compiler (`file:line:column:
// error: text`) into diagnostics at the `.cgraph` line.
#pragma once

#include "kernels/kernel_compiler.h"

#include <string_view>

namespace cgc {

/// Reports each error of `log`: at its line and, where it is sure, column, where the log names one
/// of the unit's files as line_name() gives it; at the kernel's name where it is about what is
/// generated around a body; else, as a note, with the first that has a place, or at the first
/// kernel. Notes and further errors at one place become notes, a few for each. Warnings are passed
/// over. At least one error is reported. `compiler` is "NVRTC" or "g++".
void report_compiler_log(std::string_view log, std::string_view compiler, const KernelUnit &unit,
                         Diagnostics &diagnostics);

} // namespace cgc
