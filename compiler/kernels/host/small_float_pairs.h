// Pairs of CUDA's 16-bit floating types for host code (__half2, __nv_bfloat162): everything element
// by element, x being the low half. `pair` and `small` are what functions call the pair's type and
// its elements'.
#pragma once

// clang-format off
#define CG_EACH1(P, name, function)                                                                \
  inline P name(P a) { return {function(a.x), function(a.y)}; }
#define CG_EACH2(P, name, function)                                                                \
  inline P name(P a, P b) { return {function(a.x, b.x), function(a.y, b.y)}; }
#define CG_EACH3(P, name, function)                                                                \
  inline P name(P a, P b, P c) { return {function(a.x, b.x, c.x), function(a.y, b.y, c.y)}; }
// 1 or 0 for each element, a bool for both, all ones or 0 for each.
#define CG_COMPARE_PAIR(P, name)                                                                   \
  inline P __h##name##2(P a, P b) {                                                                \
    return {__h##name(a.x, b.x) ? 1 : 0, __h##name(a.y, b.y) ? 1 : 0};                             \
  }                                                                                                \
  inline bool __hb##name##2(P a, P b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }       \
  inline unsigned __h##name##2_mask(P a, P b) {                                                    \
    return (__h##name(a.x, b.x) ? 0xFFFFU : 0) | (__h##name(a.y, b.y) ? 0xFFFF0000U : 0);          \
  }
#define CG_SMALL_PAIR(T, P, small, pair)                                                           \
  struct alignas(4) P {                                                                            \
    T x, y;                                                                                        \
    P() = default;                                                                                 \
    P(T a, T b) : x(a), y(b) {}                                                                    \
    friend P operator+(P a, P b) { return {a.x + b.x, a.y + b.y}; }                                \
    P &operator+=(P other) { return *this = *this + other; }                                       \
    friend P operator-(P a, P b) { return {a.x - b.x, a.y - b.y}; }                                \
    P &operator-=(P other) { return *this = *this - other; }                                       \
    friend P operator*(P a, P b) { return {a.x * b.x, a.y * b.y}; }                                \
    P &operator*=(P other) { return *this = *this * other; }                                       \
    friend P operator/(P a, P b) { return {a.x / b.x, a.y / b.y}; }                                \
    P &operator/=(P other) { return *this = *this / other; }                                       \
    P &operator++() { return *this += P(1, 1); }                                                   \
    P &operator--() { return *this -= P(1, 1); }                                                   \
    P operator++(int) { P old = *this; ++*this; return old; }                                      \
    P operator--(int) { P old = *this; --*this; return old; }                                      \
    friend P operator-(P a) { return {-a.x, -a.y}; }                                               \
    friend P operator+(P a) { return a; }                                                          \
    friend bool operator==(P a, P b) { return a.x == b.x && a.y == b.y; }                          \
    friend bool operator<(P a, P b) { return a.x < b.x && a.y < b.y; }                             \
    friend bool operator<=(P a, P b) { return a.x <= b.x && a.y <= b.y; }                          \
    friend bool operator>(P a, P b) { return a.x > b.x && a.y > b.y; }                             \
    friend bool operator>=(P a, P b) { return a.x >= b.x && a.y >= b.y; }                          \
    friend bool operator!=(P a, P b) { return a.x != b.x && a.y != b.y; }                          \
  };                                                                                               \
  CG_EACH2(P, __hadd2, __hadd)                                                                     \
  CG_EACH2(P, __hadd2_rn, __hadd_rn)                                                               \
  CG_EACH2(P, __hadd2_sat, __hadd_sat)                                                             \
  CG_EACH2(P, __hsub2, __hsub)                                                                     \
  CG_EACH2(P, __hsub2_rn, __hsub_rn)                                                               \
  CG_EACH2(P, __hsub2_sat, __hsub_sat)                                                             \
  CG_EACH2(P, __hmul2, __hmul)                                                                     \
  CG_EACH2(P, __hmul2_rn, __hmul_rn)                                                               \
  CG_EACH2(P, __hmul2_sat, __hmul_sat)                                                             \
  CG_EACH2(P, __h2div, __hdiv)                                                                     \
  CG_EACH2(P, __hmin2, __hmin)                                                                     \
  CG_EACH2(P, __hmax2, __hmax)                                                                     \
  CG_EACH2(P, __hmin2_nan, __hmin_nan)                                                             \
  CG_EACH2(P, __hmax2_nan, __hmax_nan)                                                             \
  CG_EACH1(P, __hneg2, __hneg)                                                                     \
  CG_EACH1(P, __habs2, __habs)                                                                     \
  CG_EACH1(P, h2sqrt, hsqrt)                                                                       \
  CG_EACH1(P, h2rsqrt, hrsqrt)                                                                     \
  CG_EACH1(P, h2rcp, hrcp)                                                                         \
  CG_EACH1(P, h2exp, hexp)                                                                         \
  CG_EACH1(P, h2exp2, hexp2)                                                                       \
  CG_EACH1(P, h2exp10, hexp10)                                                                     \
  CG_EACH1(P, h2log, hlog)                                                                         \
  CG_EACH1(P, h2log2, hlog2)                                                                       \
  CG_EACH1(P, h2log10, hlog10)                                                                     \
  CG_EACH1(P, h2sin, hsin)                                                                         \
  CG_EACH1(P, h2cos, hcos)                                                                         \
  CG_EACH1(P, h2tanh, htanh)                                                                       \
  CG_EACH1(P, h2floor, hfloor)                                                                     \
  CG_EACH1(P, h2ceil, hceil)                                                                       \
  CG_EACH1(P, h2rint, hrint)                                                                       \
  CG_EACH1(P, h2trunc, htrunc)                                                                     \
  CG_EACH3(P, __hfma2, __hfma)                                                                     \
  CG_EACH3(P, __hfma2_sat, __hfma_sat)                                                             \
  CG_EACH3(P, __hfma2_relu, __hfma_relu)                                                           \
  CG_COMPARE_PAIR(P, eq)                                                                           \
  CG_COMPARE_PAIR(P, ne)                                                                           \
  CG_COMPARE_PAIR(P, lt)                                                                           \
  CG_COMPARE_PAIR(P, le)                                                                           \
  CG_COMPARE_PAIR(P, gt)                                                                           \
  CG_COMPARE_PAIR(P, ge)                                                                           \
  CG_COMPARE_PAIR(P, equ)                                                                          \
  CG_COMPARE_PAIR(P, neu)                                                                          \
  CG_COMPARE_PAIR(P, ltu)                                                                          \
  CG_COMPARE_PAIR(P, leu)                                                                          \
  CG_COMPARE_PAIR(P, gtu)                                                                          \
  CG_COMPARE_PAIR(P, geu)                                                                          \
  inline P __hisnan2(P a) { return {__hisnan(a.x) ? 1 : 0, __hisnan(a.y) ? 1 : 0}; }               \
  inline float __low2float(P a) { return a.x; }                                                    \
  inline float __high2float(P a) { return a.y; }                                                   \
  inline P __lowhigh2highlow(P a) { return {a.y, a.x}; }                                           \
  inline P atomicAdd(P *address, P value) {                                                        \
    return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};                     \
  }                                                                                                \
  CG_SHUFFLES(P)                                                                                   \
  inline P make_##pair(T x, T y) { return {x, y}; }                                                \
  inline P __halves2##pair(T x, T y) { return {x, y}; }                                            \
  inline P __##small##2##pair(T x) { return {x, x}; }                                              \
  inline P __float2##pair##_rn(float x) { return {x, x}; }                                         \
  inline P __floats2##pair##_rn(float x, float y) { return {x, y}; }                               \
  inline P __float22##pair##_rn(float2 x) { return {x.x, x.y}; }                                   \
  inline float2 __##pair##2float2(P x) { return {x.x, x.y}; }                                      \
  inline T __low2##small(P x) { return x.x; }                                                      \
  inline T __high2##small(P x) { return x.y; }                                                     \
  inline P __low2##pair(P x) { return {x.x, x.x}; }                                                \
  inline P __high2##pair(P x) { return {x.y, x.y}; }                                               \
  inline P __lows2##pair(P x, P y) { return {x.x, y.x}; }                                          \
  inline P __highs2##pair(P x, P y) { return {x.y, y.y}; }
// clang-format on
CG_SMALL_PAIR(__half, __half2, half, half2)
CG_SMALL_PAIR(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)
#undef CG_SMALL_PAIR
#undef CG_COMPARE_PAIR
#undef CG_EACH3
#undef CG_EACH2
#undef CG_EACH1

typedef __half2 half2;
typedef __nv_bfloat162 nv_bfloat162;
