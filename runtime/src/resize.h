// What stays of a buffer that gets another shape.
#pragma once

#include "device.h"
#include "graph_builder.h"

#include <cstddef>

namespace cgrt {

/// Copies the elements whose indices both shapes have, and returns when that is done. The shapes
/// have the same rank.
void copy_common(DeviceBackend &device, const PlacedBuffer &from, const PlacedBuffer &to,
                 std::size_t element_bytes);

} // namespace cgrt
