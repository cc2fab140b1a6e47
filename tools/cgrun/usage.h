// What every part of cgrun throws when the caller is at fault (exit code 2).
#pragma once

#include <cgrt/types.h>

#include <string>

namespace cgrun {

inline cgrt::Error usage_error(const std::string &message) {
  return cgrt::Error(cgrt::ErrorCode::Usage, message);
}

} // namespace cgrun
