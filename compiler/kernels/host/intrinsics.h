// CUDA's single-thread intrinsics for host code: fast math (as exact as the plain functions),
// conversions, bits, and cached loads. Directed rounding of arithmetic is not offered.
#pragma once

inline float __cosf(float x) {
  return cosf(x);
}
inline float __exp10f(float x) {
  return exp10f(x);
}
inline float __expf(float x) {
  return expf(x);
}
inline float __fdividef(float x, float y) {
  return x / y;
}
inline float fdividef(float x, float y) {
  return x / y;
}
inline float __log10f(float x) {
  return log10f(x);
}
inline float __log2f(float x) {
  return log2f(x);
}
inline float __logf(float x) {
  return logf(x);
}
inline float __powf(float x, float y) {
  return powf(x, y);
}
inline float __saturatef(float x) {
  return x > 0 ? (x < 1 ? x : 1.0F) : 0.0F;
}
inline void __sincosf(float x, float *sine, float *cosine) {
  sincosf(x, sine, cosine);
}
inline float __sinf(float x) {
  return sinf(x);
}
inline float __tanf(float x) {
  return tanf(x);
}
inline float __tanhf(float x) {
  return tanhf(x);
}

// Rounded to nearest.
inline float __fadd_rn(float x, float y) {
  return x + y;
}
inline float __fsub_rn(float x, float y) {
  return x - y;
}
inline float __fmul_rn(float x, float y) {
  return x * y;
}
inline float __fdiv_rn(float x, float y) {
  return x / y;
}
inline float __fmaf_rn(float x, float y, float z) {
  return fmaf(x, y, z);
}
inline float __frcp_rn(float x) {
  return 1 / x;
}
inline float __fsqrt_rn(float x) {
  return sqrtf(x);
}
inline float __frsqrt_rn(float x) {
  return rsqrtf(x);
}
inline double __dadd_rn(double x, double y) {
  return x + y;
}
inline double __dsub_rn(double x, double y) {
  return x - y;
}
inline double __dmul_rn(double x, double y) {
  return x * y;
}
inline double __ddiv_rn(double x, double y) {
  return x / y;
}
inline double __fma_rn(double x, double y, double z) {
  return fma(x, y, z);
}
inline double __drcp_rn(double x) {
  return 1 / x;
}
inline double __dsqrt_rn(double x) {
  return sqrt(x);
}

namespace cg_host {

/// Float to integer as a GPU does it: the nearest value of the type, NaN is 0.
template <typename T> inline T saturate(double x, T least, T greatest) {
  if (!(x == x)) {
    return 0;
  }
  // Both bounds as doubles are at or beyond the exact ones; what lies between converts exactly.
  if (x <= static_cast<double>(least)) {
    return least;
  }
  return x >= static_cast<double>(greatest) ? greatest : static_cast<T>(x);
}
inline int to_int(double x) {
  return saturate<int>(x, -__INT_MAX__ - 1, __INT_MAX__);
}
inline unsigned int to_uint(double x) {
  return saturate<unsigned int>(x, 0, ~0U);
}
inline long long to_ll(double x) {
  return saturate<long long>(x, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__);
}
inline unsigned long long to_ull(double x) {
  return saturate<unsigned long long>(x, 0, ~0ULL);
}

} // namespace cg_host

#define CG_ROUND(from, name, result)                                                               \
  inline result __##from##2##name##_rn(from x) {                                                   \
    return cg_host::to_##name(rint((double)x));                                                    \
  }                                                                                                \
  inline result __##from##2##name##_rz(from x) {                                                   \
    return cg_host::to_##name(trunc((double)x));                                                   \
  }                                                                                                \
  inline result __##from##2##name##_ru(from x) {                                                   \
    return cg_host::to_##name(ceil((double)x));                                                    \
  }                                                                                                \
  inline result __##from##2##name##_rd(from x) {                                                   \
    return cg_host::to_##name(floor((double)x));                                                   \
  }
CG_ROUND(float, int, int)
CG_ROUND(float, uint, unsigned int)
CG_ROUND(float, ll, long long)
CG_ROUND(float, ull, unsigned long long)
CG_ROUND(double, int, int)
CG_ROUND(double, uint, unsigned int)
CG_ROUND(double, ll, long long)
CG_ROUND(double, ull, unsigned long long)
#undef CG_ROUND

inline float __double2float_rn(double x) {
  return static_cast<float>(x);
}
inline float __int2float_rn(int x) {
  return static_cast<float>(x);
}
inline float __uint2float_rn(unsigned int x) {
  return static_cast<float>(x);
}
inline float __ll2float_rn(long long x) {
  return static_cast<float>(x);
}
inline float __ull2float_rn(unsigned long long x) {
  return static_cast<float>(x);
}
inline double __int2double_rn(int x) {
  return x;
}
inline double __uint2double_rn(unsigned int x) {
  return x;
}
inline double __ll2double_rn(long long x) {
  return static_cast<double>(x);
}
inline double __ull2double_rn(unsigned long long x) {
  return static_cast<double>(x);
}

namespace cg_host {
template <typename To, typename From> inline To same_bits(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  __builtin_memcpy(&result, &value, sizeof(To));
  return result;
}
} // namespace cg_host

inline int __float_as_int(float x) {
  return cg_host::same_bits<int>(x);
}
inline unsigned int __float_as_uint(float x) {
  return cg_host::same_bits<unsigned int>(x);
}
inline float __int_as_float(int x) {
  return cg_host::same_bits<float>(x);
}
inline float __uint_as_float(unsigned int x) {
  return cg_host::same_bits<float>(x);
}
inline long long __double_as_longlong(double x) {
  return cg_host::same_bits<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return cg_host::same_bits<double>(x);
}
inline int __double2hiint(double x) {
  return static_cast<int>(__double_as_longlong(x) >> 32);
}
inline int __double2loint(double x) {
  return static_cast<int>(__double_as_longlong(x));
}
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double((static_cast<long long>(high) << 32) |
                              static_cast<unsigned int>(low));
}

inline int __popc(unsigned int x) {
  return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(x));
}
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
inline unsigned int __brev(unsigned int x) {
  x = ((x >> 1) & 0x55555555U) | ((x & 0x55555555U) << 1);
  x = ((x >> 2) & 0x33333333U) | ((x & 0x33333333U) << 2);
  x = ((x >> 4) & 0x0F0F0F0FU) | ((x & 0x0F0F0F0FU) << 4);
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return (static_cast<unsigned long long>(__brev(static_cast<unsigned int>(x))) << 32) |
         __brev(static_cast<unsigned int>(x >> 32));
}
inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  const unsigned long long bytes = (static_cast<unsigned long long>(y) << 32) | x;
  unsigned int result = 0;
  for (int i = 0; i < 4; ++i) {
    result |= static_cast<unsigned int>((bytes >> (8 * ((selector >> (4 * i)) & 7))) & 0xFF)
              << (8 * i);
  }
  return result;
}
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  const unsigned long long both = (static_cast<unsigned long long>(high) << 32) | low;
  return static_cast<unsigned int>(both << (shift & 31) >> 32);
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  const unsigned long long both = (static_cast<unsigned long long>(high) << 32) | low;
  return static_cast<unsigned int>(both >> (shift & 31));
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

inline int __mulhi(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) * y) >> 32);
}
inline unsigned int __umulhi(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) * y) >> 32);
}
inline long long __mul64hi(long long x, long long y) {
  return static_cast<long long>((static_cast<__int128>(x) * y) >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64);
}
inline int mulhi(int x, int y) {
  return __mulhi(x, y);
}
inline unsigned int mulhi(unsigned int x, unsigned int y) {
  return __umulhi(x, y);
}
inline unsigned int umulhi(unsigned int x, unsigned int y) {
  return __umulhi(x, y);
}
inline long long mul64hi(long long x, long long y) {
  return __mul64hi(x, y);
}
inline unsigned long long umul64hi(unsigned long long x, unsigned long long y) {
  return __umul64hi(x, y);
}
inline int __mul24(int x, int y) {
  return (x << 8 >> 8) * (y << 8 >> 8);
}
inline unsigned int __umul24(unsigned int x, unsigned int y) {
  return (x & 0xFFFFFFU) * (y & 0xFFFFFFU);
}
inline unsigned int __sad(int x, int y, unsigned int sum) {
  return sum + static_cast<unsigned int>(llabs(static_cast<long long>(x) - y));
}
inline unsigned int __usad(unsigned int x, unsigned int y, unsigned int sum) {
  return sum + (x > y ? x - y : y - x);
}
inline int __hadd(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) + y) >> 1);
}
inline int __rhadd(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1);
}
inline unsigned int __uhadd(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y) >> 1);
}
inline unsigned int __urhadd(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}
inline int __dp4a(int x, int y, int sum) {
  for (int i = 0; i < 32; i += 8) {
    sum += static_cast<signed char>(x >> i) * static_cast<signed char>(y >> i);
  }
  return sum;
}
inline unsigned int __dp4a(unsigned int x, unsigned int y, unsigned int sum) {
  for (int i = 0; i < 32; i += 8) {
    sum += ((x >> i) & 0xFF) * ((y >> i) & 0xFF);
  }
  return sum;
}

// Cache hints mean nothing here.
#define CG_LOAD(name)                                                                              \
  template <typename T> inline T name(const T *address) {                                          \
    return *address;                                                                               \
  }
CG_LOAD(__ldg)
CG_LOAD(__ldca)
CG_LOAD(__ldcg)
CG_LOAD(__ldcs)
CG_LOAD(__ldcv)
CG_LOAD(__ldlu)
#undef CG_LOAD
#define CG_STORE(name)                                                                             \
  template <typename T> inline void name(T *address, T value) {                                    \
    *address = value;                                                                              \
  }
CG_STORE(__stcg)
CG_STORE(__stcs)
CG_STORE(__stwb)
CG_STORE(__stwt)
#undef CG_STORE
