// How regions of one buffer lie to each other, for all values of the parameters.
#pragma once

#include "ir/polynomial.h"

#include "format/program.h"

namespace cgc {

enum class Overlap : std::uint8_t { No, Maybe, Yes };

/// Exact where both are constant, and where their distance is; otherwise as far as it shows.
/// Regions of different buffers do not overlap; one without elements overlaps nothing.
Overlap overlap(Polynomials &polynomials, const cgrt::format::Region &a,
                const cgrt::format::Region &b);

/// Whether `a` is sure to hold all of `b`; both are of the same buffer.
bool covers(Polynomials &polynomials, const cgrt::format::Region &a, const cgrt::format::Region &b);

/// Declares every extent of the program's buffers to be at least 0.
void assume_extents(Polynomials &polynomials, const cgrt::format::Program &program);

} // namespace cgc
