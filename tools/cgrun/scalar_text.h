// Values as people type and read them.
#pragma once

#include <cgrt/types.h>

#include <string>
#include <string_view>

namespace cgrun {

/// Reads a value of `type`: a number as the language spells it, with a sign before it where
/// needed; `inf` and `nan`; for bool `true`, `false`, 1 and 0. Throws Error{Usage} that begins with
/// `what` when the text is none, or lies outside an integer type.
cgrt::Scalar parse_scalar(cgrt::ScalarType type, std::string_view text, const std::string &what);

/// The shortest text that reads back as the same value.
std::string scalar_text(double value);
std::string scalar_text(float value);

} // namespace cgrun
