// Leaves one stack for another on the same thread, at the cost of a function call.
#pragma once

#include <cstddef>

namespace cgrt {

/// Keeps the present place and the registers that a call preserves on the present stack, its
/// address in `*from`, and goes on at the place `to`. Returns when something switches back there.
/// The floating-point control registers are shared by both sides.
extern "C" void cgrt_switch_stack(void **from, void *to);

/// A place that calls `function(argument)`, which must not return, on a stack that ends at `end`
/// (aligned to 16 bytes).
void *place_at_function(std::byte *end, void (*function)(void *), void *argument);

} // namespace cgrt
