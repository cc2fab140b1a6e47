// How cgrun ends when something went wrong.
#pragma once

#include <cgrt/types.h>

#include <string>

namespace cgrun {

inline constexpr int interrupted_status = 130;
inline constexpr int machine_status = 3;

int status_of(cgrt::ErrorCode code);

/// "file:line:column: error: …" to standard error.
void print_error(const cgrt::SourceLocation &where, const std::string &message);
void print_error(const cgrt::Error &error);

} // namespace cgrun
