// Reproducible random elements: the same on every platform.
#pragma once

#include <cstdint>

namespace cgrun {

/// splitmix64: a counter in steps of the golden ratio, mixed.
class SplitMix64 {
public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
  }

private:
  std::uint64_t state_;
};

} // namespace cgrun
