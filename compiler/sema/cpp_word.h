// Names that kernel bodies could not see.
#pragma once

#include <string_view>

namespace cgc {

/// Whether `name` is a keyword of C++ or a name that CUDA builds in.
bool is_cpp_word(std::string_view name);

} // namespace cgc
