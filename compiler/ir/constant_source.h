// Consts as kernel bodies see them.
#pragma once

#include "kernels/kernel_compiler.h"

#include "format/value.h"

#include <optional>
#include <string>

namespace cgc {

/// `type` is that of the cast the const was written with (float for f16 and bf16); without one the
/// type is the one a C++ literal of that value has: bool, int, long long, unsigned long long or
/// double.
ConstantSource make_constant_source(const std::string &name, const cgrt::format::Value &value,
                                    std::optional<cgrt::ScalarType> type);

/// The value as a C++ literal; of an integer that is an int if it fits one, else a long long.
std::string cpp_literal(const cgrt::format::Value &value);

} // namespace cgc
