// CUDA's atomic functions for host code, for the types CUDA has them for; atomic among all worker
// threads. The `_block` and `_system` forms are as strong as the plain ones.
#pragma once

namespace cg_host {

/// Replaces `*address` by `change(old)` and returns the old value.
template <typename T, typename Change> inline T atomic_change(T *address, Change change) {
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  for (;;) {
    T next = change(old);
    if (__atomic_compare_exchange(address, &old, &next, false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED)) {
      return old;
    }
  }
}

} // namespace cg_host

// All three scopes of one function.
#define CG_ATOMIC(name, T, operation)                                                              \
  inline T name(T *address, T value) {                                                             \
    return operation;                                                                              \
  }                                                                                                \
  inline T name##_block(T *address, T value) {                                                     \
    return operation;                                                                              \
  }                                                                                                \
  inline T name##_system(T *address, T value) {                                                    \
    return operation;                                                                              \
  }
#define CG_FETCH(function) function(address, value, __ATOMIC_RELAXED)
#define CG_CHANGE(T, next) cg_host::atomic_change(address, [value](T old) -> T { return next; })

CG_ATOMIC(atomicAdd, int, CG_FETCH(__atomic_fetch_add))
CG_ATOMIC(atomicAdd, unsigned int, CG_FETCH(__atomic_fetch_add))
CG_ATOMIC(atomicAdd, unsigned long long, CG_FETCH(__atomic_fetch_add))
CG_ATOMIC(atomicAdd, float, CG_CHANGE(float, old + value))
CG_ATOMIC(atomicAdd, double, CG_CHANGE(double, old + value))
CG_ATOMIC(atomicSub, int, CG_FETCH(__atomic_fetch_sub))
CG_ATOMIC(atomicSub, unsigned int, CG_FETCH(__atomic_fetch_sub))
CG_ATOMIC(atomicExch, int, CG_FETCH(__atomic_exchange_n))
CG_ATOMIC(atomicExch, unsigned int, CG_FETCH(__atomic_exchange_n))
CG_ATOMIC(atomicExch, unsigned long long, CG_FETCH(__atomic_exchange_n))
CG_ATOMIC(atomicExch, float, CG_CHANGE(float, value))
CG_ATOMIC(atomicMin, int, CG_CHANGE(int, old < value ? old : value))
CG_ATOMIC(atomicMin, unsigned int, CG_CHANGE(unsigned int, old < value ? old : value))
CG_ATOMIC(atomicMin, long long, CG_CHANGE(long long, old < value ? old : value))
CG_ATOMIC(atomicMin, unsigned long long, CG_CHANGE(unsigned long long, old < value ? old : value))
CG_ATOMIC(atomicMax, int, CG_CHANGE(int, old > value ? old : value))
CG_ATOMIC(atomicMax, unsigned int, CG_CHANGE(unsigned int, old > value ? old : value))
CG_ATOMIC(atomicMax, long long, CG_CHANGE(long long, old > value ? old : value))
CG_ATOMIC(atomicMax, unsigned long long, CG_CHANGE(unsigned long long, old > value ? old : value))
CG_ATOMIC(atomicAnd, int, CG_FETCH(__atomic_fetch_and))
CG_ATOMIC(atomicAnd, unsigned int, CG_FETCH(__atomic_fetch_and))
CG_ATOMIC(atomicAnd, long long, CG_FETCH(__atomic_fetch_and))
CG_ATOMIC(atomicAnd, unsigned long long, CG_FETCH(__atomic_fetch_and))
CG_ATOMIC(atomicOr, int, CG_FETCH(__atomic_fetch_or))
CG_ATOMIC(atomicOr, unsigned int, CG_FETCH(__atomic_fetch_or))
CG_ATOMIC(atomicOr, long long, CG_FETCH(__atomic_fetch_or))
CG_ATOMIC(atomicOr, unsigned long long, CG_FETCH(__atomic_fetch_or))
CG_ATOMIC(atomicXor, int, CG_FETCH(__atomic_fetch_xor))
CG_ATOMIC(atomicXor, unsigned int, CG_FETCH(__atomic_fetch_xor))
CG_ATOMIC(atomicXor, long long, CG_FETCH(__atomic_fetch_xor))
CG_ATOMIC(atomicXor, unsigned long long, CG_FETCH(__atomic_fetch_xor))
CG_ATOMIC(atomicInc, unsigned int, CG_CHANGE(unsigned int, old >= value ? 0 : old + 1))
CG_ATOMIC(atomicDec, unsigned int,
          CG_CHANGE(unsigned int, old == 0 || old > value ? value : old - 1))
#undef CG_ATOMIC
#undef CG_FETCH
#undef CG_CHANGE

// Vectors are atomic element by element, as on a GPU.
#define CG_ATOMIC_VECTORS(name)                                                                    \
  inline float2 name(float2 *address, float2 value) {                                              \
    return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};                     \
  }                                                                                                \
  inline float4 name(float4 *address, float4 value) {                                              \
    return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y),                      \
            atomicAdd(&address->z, value.z), atomicAdd(&address->w, value.w)};                     \
  }
CG_ATOMIC_VECTORS(atomicAdd)
CG_ATOMIC_VECTORS(atomicAdd_block)
CG_ATOMIC_VECTORS(atomicAdd_system)
#undef CG_ATOMIC_VECTORS

#define CG_ATOMIC_CAS(name, T)                                                                     \
  inline T name(T *address, T expected, T value) {                                                 \
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED,                \
                                __ATOMIC_RELAXED);                                                 \
    return expected;                                                                               \
  }
#define CG_ATOMIC_CAS_SCOPES(T)                                                                    \
  CG_ATOMIC_CAS(atomicCAS, T)                                                                      \
  CG_ATOMIC_CAS(atomicCAS_block, T)                                                                \
  CG_ATOMIC_CAS(atomicCAS_system, T)
CG_ATOMIC_CAS_SCOPES(int)
CG_ATOMIC_CAS_SCOPES(unsigned int)
CG_ATOMIC_CAS_SCOPES(unsigned long long)
CG_ATOMIC_CAS_SCOPES(unsigned short)
#undef CG_ATOMIC_CAS_SCOPES
#undef CG_ATOMIC_CAS
