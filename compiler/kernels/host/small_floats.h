// CUDA's 16-bit floating types for host code (__half, __nv_bfloat16): storage, conversions and
// arithmetic, which is done in float and rounded once: exact for + - * /.
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

inline short to_short(double x) {
  return saturate<short>(x, -32768, 32767);
}
inline unsigned short to_ushort(double x) {
  return saturate<unsigned short>(x, 0, 65535);
}
inline signed char to_char(double x) {
  return saturate<signed char>(x, -128, 127);
}
inline unsigned char to_uchar(double x) {
  return saturate<unsigned char>(x, 0, 255);
}

} // namespace cg_host

// clang-format off
// Ordered, and true for NaN.
#define CG_COMPARISON(T, name, holds)                                                              \
  inline bool __h##name(T x, T y) { return !cg_unordered(x, y) && holds; }                         \
  inline bool __h##name##u(T x, T y) { return cg_unordered(x, y) || holds; }
#define CG_SMALL_FLOAT(T, exponent_bits, fraction_bits)                                            \
  struct T {                                                                                       \
    unsigned short bits;                                                                           \
    T() = default;                                                                                 \
    T(double value) : bits(cg_host::narrow<exponent_bits, fraction_bits>(value)) {}                \
    T(float value) : T(static_cast<double>(value)) {}                                              \
    T(int value) : T(static_cast<double>(value)) {}                                                \
    T(unsigned int value) : T(static_cast<double>(value)) {}                                       \
    T(long value) : T(static_cast<double>(value)) {}                                               \
    T(unsigned long value) : T(static_cast<double>(value)) {}                                      \
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
  inline T __hadd_rn(T x, T y) { return x + y; }                                                   \
  inline T __hadd_sat(T x, T y) { return T(__saturatef(x + y)); }                                  \
  inline T __hsub(T x, T y) { return x - y; }                                                      \
  inline T __hsub_rn(T x, T y) { return x - y; }                                                   \
  inline T __hsub_sat(T x, T y) { return T(__saturatef(x - y)); }                                  \
  inline T __hmul(T x, T y) { return x * y; }                                                      \
  inline T __hmul_rn(T x, T y) { return x * y; }                                                   \
  inline T __hmul_sat(T x, T y) { return T(__saturatef(x * y)); }                                  \
  inline T __hdiv(T x, T y) { return x / y; }                                                      \
  inline T __hneg(T x) { return -x; }                                                              \
  inline T __habs(T x) { x.bits &= 0x7FFFU; return x; }                                            \
  inline T __hfma(T x, T y, T z) {                                                                 \
    return T(fma(double(float(x)), double(float(y)), double(float(z))));                           \
  }                                                                                                \
  inline T __hfma_sat(T x, T y, T z) { return T(__saturatef(__hfma(x, y, z))); }                   \
  inline T __hfma_relu(T x, T y, T z) {                                                            \
    const T result = __hfma(x, y, z);                                                              \
    return result < T(0) ? T(0) : result;                                                          \
  }                                                                                                \
  inline T __hmin(T x, T y) { return T(fminf(x, y)); }                                             \
  inline T __hmax(T x, T y) { return T(fmaxf(x, y)); }                                             \
  inline T __hmin_nan(T x, T y) { return isnan(float(x)) ? x : isnan(float(y)) ? y : __hmin(x, y); }\
  inline T __hmax_nan(T x, T y) { return isnan(float(x)) ? x : isnan(float(y)) ? y : __hmax(x, y); }\
  inline bool cg_unordered(T x, T y) { return isnan(float(x)) || isnan(float(y)); }                \
  CG_COMPARISON(T, eq, x == y)                                                                     \
  CG_COMPARISON(T, ne, x != y)                                                                     \
  CG_COMPARISON(T, lt, x < y)                                                                      \
  CG_COMPARISON(T, le, x <= y)                                                                     \
  CG_COMPARISON(T, gt, x > y)                                                                      \
  CG_COMPARISON(T, ge, x >= y)                                                                     \
  inline bool __hisnan(T x) { return isnan(float(x)); }                                            \
  inline int __hisinf(T x) { return isinf(float(x)) ? (float(x) > 0 ? 1 : -1) : 0; }               \
  inline T hsqrt(T x) { return T(sqrtf(x)); }                                                      \
  inline T hrsqrt(T x) { return T(rsqrtf(x)); }                                                    \
  inline T hrcp(T x) { return T(1 / float(x)); }                                                   \
  inline T hexp(T x) { return T(expf(x)); }                                                        \
  inline T hexp10(T x) { return T(exp10f(x)); }                                                    \
  inline T hexp2(T x) { return T(exp2f(x)); }                                                      \
  inline T hlog(T x) { return T(logf(x)); }                                                        \
  inline T hlog10(T x) { return T(log10f(x)); }                                                    \
  inline T hlog2(T x) { return T(log2f(x)); }                                                      \
  inline T hsin(T x) { return T(sinf(x)); }                                                        \
  inline T hcos(T x) { return T(cosf(x)); }                                                        \
  inline T htanh(T x) { return T(tanhf(x)); }                                                      \
  inline T hfloor(T x) { return T(floorf(x)); }                                                    \
  inline T hceil(T x) { return T(ceilf(x)); }                                                      \
  inline T hrint(T x) { return T(rintf(x)); }                                                      \
  inline T htrunc(T x) { return T(truncf(x)); }                                                    \
  inline T atomicAdd(T *address, T value) {                                                        \
    return cg_host::atomic_change(address, [value](T old) { return old + value; });                \
  }
// clang-format on
CG_SMALL_FLOAT(__half, 5, 10)
CG_SMALL_FLOAT(__nv_bfloat16, 8, 7)
#undef CG_SMALL_FLOAT
#undef CG_COMPARISON
CG_SHUFFLES(__half)
CG_SHUFFLES(__nv_bfloat16)

typedef __half half;
typedef __nv_bfloat16 nv_bfloat16;

// To integers as __float2int_rn and its kin, and from them to nearest.
#define CG_FROM_INTEGER(T, small, integer, name)                                                   \
  inline T __##name##2##small##_rn(integer x) {                                                    \
    return static_cast<T>(static_cast<double>(x));                                                 \
  }
#define CG_TO_INTEGER(T, small, integer, name, rounding, rounded)                                  \
  inline integer __##small##2##name##_##rounding(T x) {                                            \
    return cg_host::to_##name(rounded(static_cast<double>(static_cast<float>(x))));                \
  }
#define CG_INTEGER(T, small, integer, name)                                                        \
  CG_FROM_INTEGER(T, small, integer, name)                                                         \
  CG_TO_INTEGER(T, small, integer, name, rn, rint)                                                 \
  CG_TO_INTEGER(T, small, integer, name, rz, trunc)                                                \
  CG_TO_INTEGER(T, small, integer, name, ru, ceil)                                                 \
  CG_TO_INTEGER(T, small, integer, name, rd, floor)
#define CG_INTEGERS(T, small)                                                                      \
  CG_INTEGER(T, small, short, short)                                                               \
  CG_INTEGER(T, small, unsigned short, ushort)                                                     \
  CG_INTEGER(T, small, int, int)                                                                   \
  CG_INTEGER(T, small, unsigned int, uint)                                                         \
  CG_INTEGER(T, small, long long, ll)                                                              \
  CG_INTEGER(T, small, unsigned long long, ull)                                                    \
  CG_TO_INTEGER(T, small, signed char, char, rz, trunc)                                            \
  CG_TO_INTEGER(T, small, unsigned char, uchar, rz, trunc)
CG_INTEGERS(__half, half)
CG_INTEGERS(__nv_bfloat16, bfloat16)
#undef CG_INTEGERS
#undef CG_INTEGER
#undef CG_TO_INTEGER
#undef CG_FROM_INTEGER

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
inline short __bfloat16_as_short(__nv_bfloat16 x) {
  return static_cast<short>(x.bits);
}
inline __nv_bfloat16 __short_as_bfloat16(short bits) {
  return cg_host::same_bits<__nv_bfloat16>(bits);
}
