// Turns the log of NVRTC (`file(line): error: text`) or of a C++ compiler (`file:line:column:
// error: text`) into diagnostics at the `.cgraph` line.
#pragma once

#include "kernels/code_unit.h"

#include <string_view>

namespace cgc {

/// Reports each error of `log`: at its line and, where it is sure, column, where the log names one
/// of the program's files as line_name() gives it; at the kernel's name where it is about what is
/// generated around a body; else, as a note, with the first that has a place, or at the unit's
/// first kernel. Notes and further errors at one place become notes, a few for each; so does the
/// instance of a generic kernel where the unit names them. Warnings are passed over. At least one
/// error is reported. `compiler` is "NVRTC" or "g++"; `hint`, where not empty, is a note of each
/// error.
void report_compiler_log(std::string_view log, std::string_view compiler, const CodeUnit &unit,
                         Diagnostics &diagnostics, std::string_view hint = {});

} // namespace cgc
