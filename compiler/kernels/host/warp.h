// CUDA's warp functions for host code. Each thread comes to a warp's wait with a value and sees
// those of the others behind it.
#pragma once

namespace cg_host {

/// What a function of a warp is computed from.
struct Exchange {
  unsigned present;                 ///< the threads of the mask that have not returned
  unsigned nonzero;                 ///< those that came with a value other than 0
  unsigned lane;                    ///< the calling thread's
  const unsigned long long *values; ///< of the warp's threads

  /// All ones, to show, where CUDA leaves the value undefined.
  unsigned long long from(unsigned other) const {
    return (present >> other & 1) != 0 ? values[other] : ~0ULL;
  }
};

inline Exchange exchange(unsigned mask, unsigned long long value = 0) {
  const unsigned thread = block->thread;
  const unsigned lane = thread % 32;
  if ((mask >> lane & 1) == 0) {
    fault("a warp function whose mask lacks the calling thread", nullptr, nullptr, 0);
  }
  const Arrival arrival = wait(Group::Warp, mask, value);
  return {arrival.present, arrival.nonzero, lane, block->values + (thread - lane)};
}

/// A value's bytes in a slot, and back.
template <typename T> inline unsigned long long to_slot(T value) {
  static_assert(sizeof(T) <= sizeof(unsigned long long));
  unsigned long long slot = 0;
  __builtin_memcpy(&slot, &value, sizeof(T));
  return slot;
}
template <typename T> inline T from_slot(unsigned long long slot) {
  T value;
  __builtin_memcpy(&value, &slot, sizeof(T));
  return value;
}

/// The value of the thread that `source(lane)` names, or one's own where that is not in
/// [first, last] of the calling thread's segment, `width` threads wide.
template <typename T, typename Source>
inline T shuffle(unsigned mask, T value, int width, bool from_earlier_segments, Source source) {
  const Exchange threads = exchange(mask, to_slot(value));
  const unsigned first = threads.lane & ~(static_cast<unsigned>(width) - 1);
  const int from = source(static_cast<int>(threads.lane), static_cast<int>(first));
  const bool is_own = from > static_cast<int>(first) + width - 1 ||
                      (from < static_cast<int>(first) && !from_earlier_segments);
  return is_own ? value : from_slot<T>(threads.from(static_cast<unsigned>(from)));
}

template <typename T, typename Combine> inline T reduce(unsigned mask, T value, Combine combine) {
  const Exchange threads = exchange(mask, to_slot(value));
  T result = value;
  for (unsigned left = threads.present & ~(1U << threads.lane); left != 0; left &= left - 1) {
    result = combine(result, from_slot<T>(threads.values[__builtin_ctz(left)]));
  }
  return result;
}

inline unsigned equal(unsigned mask, unsigned long long value) {
  const Exchange threads = exchange(mask, value);
  unsigned same = 0;
  for (unsigned left = threads.present; left != 0; left &= left - 1) {
    const unsigned other = static_cast<unsigned>(__builtin_ctz(left));
    same |= static_cast<unsigned>(threads.values[other] == value) << other;
  }
  return same;
}
inline unsigned all_equal(unsigned mask, unsigned long long value, int *predicate) {
  const Exchange threads = exchange(mask, value);
  unsigned result = threads.present;
  for (unsigned left = threads.present; left != 0; left &= left - 1) {
    result = threads.values[__builtin_ctz(left)] == value ? result : 0;
  }
  *predicate = result != 0;
  return result;
}

} // namespace cg_host

inline void __syncwarp(unsigned mask = ~0U) {
  cg_host::exchange(mask);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return cg_host::exchange(mask, predicate != 0).nonzero;
}
inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate == 0) == 0;
}
/// The threads of the warp that have come to the same line.
inline unsigned __activemask(unsigned line = __builtin_LINE()) {
  return cg_host::wait(cg_host::Group::Active, line).present;
}

// A segment's source outside a shuffle's rules is the thread's own value. As on a GPU, distances
// count modulo 32.
#define CG_SHUFFLES(T)                                                                             \
  inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {                       \
    return cg_host::shuffle(mask, value, width, false,                                             \
                            [=](int, int first) { return first + (source & (width - 1)); });       \
  }                                                                                                \
  inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {                \
    return cg_host::shuffle(mask, value, width, false,                                             \
                            [=](int lane, int) { return lane - static_cast<int>(delta & 31); });   \
  }                                                                                                \
  inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {              \
    return cg_host::shuffle(mask, value, width, false,                                             \
                            [=](int lane, int) { return lane + static_cast<int>(delta & 31); });   \
  }                                                                                                \
  inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {                    \
    return cg_host::shuffle(mask, value, width, true,                                              \
                            [=](int lane, int) { return lane ^ (lanes & 31); });                   \
  }
#define CG_MATCHES(T)                                                                              \
  inline unsigned __match_any_sync(unsigned mask, T value) {                                       \
    return cg_host::equal(mask, cg_host::to_slot(value));                                          \
  }                                                                                                \
  inline unsigned __match_all_sync(unsigned mask, T value, int *predicate) {                       \
    return cg_host::all_equal(mask, cg_host::to_slot(value), predicate);                           \
  }
#define CG_FOR_BOTH(T) CG_SHUFFLES(T) CG_MATCHES(T)
CG_FOR_BOTH(int)
CG_FOR_BOTH(unsigned int)
CG_FOR_BOTH(long)
CG_FOR_BOTH(unsigned long)
CG_FOR_BOTH(long long)
CG_FOR_BOTH(unsigned long long)
CG_FOR_BOTH(float)
CG_FOR_BOTH(double)
#undef CG_FOR_BOTH
#undef CG_MATCHES

#define CG_REDUCE(name, T, combined)                                                               \
  inline T __reduce_##name##_sync(unsigned mask, T value) {                                        \
    return cg_host::reduce(mask, value, [](T x, T y) -> T { return combined; });                   \
  }
CG_REDUCE(add, int, x + y)
CG_REDUCE(add, unsigned, x + y)
CG_REDUCE(min, int, x < y ? x : y)
CG_REDUCE(min, unsigned, x < y ? x : y)
CG_REDUCE(max, int, x > y ? x : y)
CG_REDUCE(max, unsigned, x > y ? x : y)
CG_REDUCE(and, unsigned, x &y)
CG_REDUCE(or, unsigned, x | y)
CG_REDUCE(xor, unsigned, x ^ y)
#undef CG_REDUCE
