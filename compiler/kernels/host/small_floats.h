// CUDA's 16-bit floating types for host code (__half, __nv_bfloat16): storage, conversions and
// arithmetic, and their pairs. Arithmetic is done in float and rounded once, which is exact for + -
// * /.
#pragma once

namespace cg_host {

/// `value` rounded to nearest even in a binary format of 16 bits.
template <int exponent_bits, int fraction_bits> inline unsigned short narrow(double value) {
  constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  constexpr unsigned infinity = ((1U << exponent_bits) - 1) << fraction_bits;
  const auto bits = same_bits<unsigned long long>(value);
  const unsigned sign = static_cast<unsigned>(bits >> 48) & 0x8000U;
  const int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1023;
  const unsigned long long fraction = bits & ((1ULL << 52) - 1);
  if (exponent == 1024 && fraction != 0) {
    return static_cast<unsigned short>(sign | infinity | (1U << (fraction_bits - 1)));
  }
  if (exponent > bias) {
    return static_cast<unsigned short>(sign | infinity);
  }
  // Exponent and fraction side by side, so that a carry out of the fraction raises the exponent.
  int shift = 52 - fraction_bits;
  unsigned long long joined = 0;
  if (exponent >= 1 - bias) {
    joined = (static_cast<unsigned long long>(exponent + bias) << 52) | fraction;
  } else {
    shift += 1 - bias - exponent; // a subnormal result
    joined = shift > 54 ? 0 : (1ULL << 52) | fraction;
    shift = shift > 54 ? 54 : shift;
  }
  const unsigned long long half = 1ULL << (shift - 1);
  const auto rounded =
      static_cast<unsigned>((joined + half - 1 + ((joined >> shift) & 1)) >> shift);
  return static_cast<unsigned short>(sign | rounded);
}

template <int exponent_bits, int fraction_bits> inline float widen(unsigned short bits) {
  constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  constexpr unsigned all_ones = (1U << exponent_bits) - 1;
  const unsigned sign = static_cast<unsigned>(bits & 0x8000U) << 16;
  const unsigned exponent = (static_cast<unsigned>(bits) >> fraction_bits) & all_ones;
  const unsigned fraction = bits & ((1U << fraction_bits) - 1);
  if (exponent == 0) {
    const float magnitude = ldexpf(static_cast<float>(fraction), 1 - bias - fraction_bits);
    return sign != 0 ? -magnitude : magnitude;
  }
  const unsigned wide = exponent == all_ones ? 255U : exponent + 127U - bias;
  return same_bits<float>(sign | (wide << 23) | (fraction << (23 - fraction_bits)));
}

} // namespace cg_host

// clang-format off
#define CG_SMALL_FLOAT(T, exponent_bits, fraction_bits)                                            \
  struct T {                                                                                       \
    unsigned short bits;                                                                           \
    T() = default;                                                                                 \
    T(double value) : bits(cg_host::narrow<exponent_bits, fraction_bits>(value)) {}                \
    T(float value) : T(static_cast<double>(value)) {}                                              \
    T(int value) : T(static_cast<double>(value)) {}                                                \
    T(unsigned int value) : T(static_cast<double>(value)) {}                                       \
    T(long long value) : T(static_cast<double>(value)) {}                                          \
    T(unsigned long long value) : T(static_cast<double>(value)) {}                                 \
    operator float() const { return cg_host::widen<exponent_bits, fraction_bits>(bits); }          \
    T &operator+=(T other) { return *this = *this + other; }                                       \
    T &operator-=(T other) { return *this = *this - other; }                                       \
    T &operator*=(T other) { return *this = *this * other; }                                       \
    T &operator/=(T other) { return *this = *this / other; }                                       \
    T &operator++() { return *this += T(1); }                                                      \
    T &operator--() { return *this -= T(1); }                                                      \
    T operator++(int) { T old = *this; ++*this; return old; }                                      \
    T operator--(int) { T old = *this; --*this; return old; }                                      \
    friend T operator+(T x, T y) { return T(float(x) + float(y)); }                                \
    friend T operator-(T x, T y) { return T(float(x) - float(y)); }                                \
    friend T operator*(T x, T y) { return T(float(x) * float(y)); }                                \
    friend T operator/(T x, T y) { return T(float(x) / float(y)); }                                \
    friend T operator-(T x) { x.bits ^= 0x8000U; return x; }                                       \
    friend T operator+(T x) { return x; }                                                          \
    friend bool operator==(T x, T y) { return float(x) == float(y); }                              \
    friend bool operator!=(T x, T y) { return float(x) != float(y); }                              \
    friend bool operator<(T x, T y) { return float(x) < float(y); }                                \
    friend bool operator<=(T x, T y) { return float(x) <= float(y); }                              \
    friend bool operator>(T x, T y) { return float(x) > float(y); }                                \
    friend bool operator>=(T x, T y) { return float(x) >= float(y); }                              \
  };                                                                                               \
  static_assert(sizeof(T) == 2);                                                                   \
  inline T __hadd(T x, T y) { return x + y; }                                                      \
  inline T __hsub(T x, T y) { return x - y; }                                                      \
  inline T __hmul(T x, T y) { return x * y; }                                                      \
  inline T __hdiv(T x, T y) { return x / y; }                                                      \
  inline T __hneg(T x) { return -x; }                                                              \
  inline T __habs(T x) { x.bits &= 0x7FFFU; return x; }                                            \
  inline T __hfma(T x, T y, T z) { return T(fma(double(float(x)), double(float(y)), double(float(z)))); } \
  inline T __hmin(T x, T y) { return T(fminf(x, y)); }                                             \
  inline T __hmax(T x, T y) { return T(fmaxf(x, y)); }                                             \
  inline bool __heq(T x, T y) { return x == y; }                                                   \
  inline bool __hne(T x, T y) { return x != y; }                                                   \
  inline bool __hlt(T x, T y) { return x < y; }                                                    \
  inline bool __hle(T x, T y) { return x <= y; }                                                   \
  inline bool __hgt(T x, T y) { return x > y; }                                                    \
  inline bool __hge(T x, T y) { return x >= y; }                                                   \
  inline bool __hisnan(T x) { return isnan(float(x)); }                                            \
  inline int __hisinf(T x) { return isinf(float(x)) ? (float(x) > 0 ? 1 : -1) : 0; }               \
  inline T hsqrt(T x) { return T(sqrtf(x)); }                                                      \
  inline T hrsqrt(T x) { return T(rsqrtf(x)); }                                                    \
  inline T hrcp(T x) { return T(1 / float(x)); }                                                   \
  inline T hexp(T x) { return T(expf(x)); }                                                        \
  inline T hexp2(T x) { return T(exp2f(x)); }                                                      \
  inline T hlog(T x) { return T(logf(x)); }                                                        \
  inline T hlog2(T x) { return T(log2f(x)); }                                                      \
  inline T hsin(T x) { return T(sinf(x)); }                                                        \
  inline T hcos(T x) { return T(cosf(x)); }                                                        \
  inline T hfloor(T x) { return T(floorf(x)); }                                                    \
  inline T hceil(T x) { return T(ceilf(x)); }                                                      \
  inline T hrint(T x) { return T(rintf(x)); }                                                      \
  inline T htrunc(T x) { return T(truncf(x)); }                                                    \
  inline T atomicAdd(T *address, T value) {                                                        \
    return cg_host::atomic_change(address, [value](T old) { return old + value; });                \
  }
#define CG_SMALL_PAIR(T, P)                                                                        \
  struct alignas(4) P {                                                                            \
    T x, y;                                                                                        \
    friend P operator+(P a, P b) { return {a.x + b.x, a.y + b.y}; }                                \
    friend P operator-(P a, P b) { return {a.x - b.x, a.y - b.y}; }                                \
    friend P operator*(P a, P b) { return {a.x * b.x, a.y * b.y}; }                                \
    friend P operator/(P a, P b) { return {a.x / b.x, a.y / b.y}; }                                \
    friend P operator-(P a) { return {-a.x, -a.y}; }                                               \
  };                                                                                               \
  inline P __hadd2(P a, P b) { return a + b; }                                                     \
  inline P __hsub2(P a, P b) { return a - b; }                                                     \
  inline P __hmul2(P a, P b) { return a * b; }                                                     \
  inline P __h2div(P a, P b) { return a / b; }                                                     \
  inline P __hneg2(P a) { return -a; }                                                             \
  inline P __hfma2(P a, P b, P c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }       \
  inline P __hmin2(P a, P b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                      \
  inline P __hmax2(P a, P b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                      \
  inline float __low2float(P a) { return a.x; }                                                    \
  inline float __high2float(P a) { return a.y; }
// clang-format on
CG_SMALL_FLOAT(__half, 5, 10)
CG_SMALL_FLOAT(__nv_bfloat16, 8, 7)
#undef CG_SMALL_FLOAT
CG_SMALL_PAIR(__half, __half2)
CG_SMALL_PAIR(__nv_bfloat16, __nv_bfloat162)
#undef CG_SMALL_PAIR

typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

inline __half __float2half(float x) {
  return x;
}
inline __half __float2half_rn(float x) {
  return x;
}
inline __half __double2half(double x) {
  return x;
}
inline float __half2float(__half x) {
  return x;
}
inline __half __int2half_rn(int x) {
  return x;
}
inline int __half2int_rn(__half x) {
  return __float2int_rn(x);
}
inline int __half2int_rz(__half x) {
  return __float2int_rz(x);
}
inline unsigned short __half_as_ushort(__half x) {
  return x.bits;
}
inline short __half_as_short(__half x) {
  return static_cast<short>(x.bits);
}
inline __half __ushort_as_half(unsigned short bits) {
  return cg_host::same_bits<__half>(bits);
}
inline __half __short_as_half(short bits) {
  return cg_host::same_bits<__half>(bits);
}
inline __half2 make_half2(__half x, __half y) {
  return {x, y};
}
inline __half2 __halves2half2(__half x, __half y) {
  return {x, y};
}
inline __half2 __half2half2(__half x) {
  return {x, x};
}
inline __half2 __float2half2_rn(float x) {
  return {x, x};
}
inline __half2 __floats2half2_rn(float x, float y) {
  return {x, y};
}
inline __half2 __float22half2_rn(float2 x) {
  return {x.x, x.y};
}
inline float2 __half22float2(__half2 x) {
  return {x.x, x.y};
}
inline __half __low2half(__half2 x) {
  return x.x;
}
inline __half __high2half(__half2 x) {
  return x.y;
}

inline __nv_bfloat16 __float2bfloat16(float x) {
  return x;
}
inline __nv_bfloat16 __float2bfloat16_rn(float x) {
  return x;
}
inline __nv_bfloat16 __double2bfloat16(double x) {
  return x;
}
inline float __bfloat162float(__nv_bfloat16 x) {
  return x;
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) {
  return x.bits;
}
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return cg_host::same_bits<__nv_bfloat16>(bits);
}
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return {x, y};
}
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return {x, y};
}
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) {
  return {x, x};
}
inline __nv_bfloat162 __float2bfloat162_rn(float x) {
  return {x, x};
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {x, y};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 x) {
  return {x.x, x.y};
}
inline float2 __bfloat1622float2(__nv_bfloat162 x) {
  return {x.x, x.y};
}
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) {
  return x.x;
}
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) {
  return x.y;
}
