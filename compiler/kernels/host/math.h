// CUDA's math functions for host code: the C library's, with CUDA's overloads and additions. Each
// stands for `float` with and without its suffix, and for `double`.
#pragma once

#define CG_MATH1(name)                                                                             \
  extern "C" double name(double);                                                                  \
  extern "C" float name##f(float);                                                                 \
  inline float name(float x) {                                                                     \
    return name##f(x);                                                                             \
  }
#define CG_MATH2(name)                                                                             \
  extern "C" double name(double, double);                                                          \
  extern "C" float name##f(float, float);                                                          \
  inline float name(float x, float y) {                                                            \
    return name##f(x, y);                                                                          \
  }

CG_MATH1(acos)
CG_MATH1(acosh)
CG_MATH1(asin)
CG_MATH1(asinh)
CG_MATH1(atan)
CG_MATH1(atanh)
CG_MATH1(cbrt)
CG_MATH1(ceil)
CG_MATH1(cos)
CG_MATH1(cosh)
CG_MATH1(erf)
CG_MATH1(erfc)
CG_MATH1(exp)
CG_MATH1(exp10)
CG_MATH1(exp2)
CG_MATH1(expm1)
CG_MATH1(fabs)
CG_MATH1(floor)
CG_MATH1(j0)
CG_MATH1(j1)
CG_MATH1(lgamma)
CG_MATH1(log)
CG_MATH1(log10)
CG_MATH1(log1p)
CG_MATH1(log2)
CG_MATH1(logb)
CG_MATH1(nearbyint)
CG_MATH1(rint)
CG_MATH1(round)
CG_MATH1(sin)
CG_MATH1(sinh)
CG_MATH1(sqrt)
CG_MATH1(tan)
CG_MATH1(tanh)
CG_MATH1(tgamma)
CG_MATH1(trunc)
CG_MATH1(y0)
CG_MATH1(y1)
CG_MATH2(atan2)
CG_MATH2(copysign)
CG_MATH2(fdim)
CG_MATH2(fmax)
CG_MATH2(fmin)
CG_MATH2(fmod)
CG_MATH2(hypot)
CG_MATH2(nextafter)
CG_MATH2(pow)
CG_MATH2(remainder)
#undef CG_MATH1
#undef CG_MATH2

// Functions with other parameters. `T name(float…)` stands beside the C library's two.
#define CG_MATH_INT(T, name)                                                                       \
  extern "C" T name(double);                                                                       \
  extern "C" T name##f(float);                                                                     \
  inline T name(float x) {                                                                         \
    return name##f(x);                                                                             \
  }
CG_MATH_INT(int, ilogb)
CG_MATH_INT(long, lrint)
CG_MATH_INT(long, lround)
CG_MATH_INT(long long, llrint)
CG_MATH_INT(long long, llround)
#undef CG_MATH_INT

extern "C" {
double fma(double, double, double);
float fmaf(float, float, float);
double frexp(double, int *);
float frexpf(float, int *);
double jn(int, double);
float jnf(int, float);
double ldexp(double, int);
float ldexpf(float, int);
double modf(double, double *);
float modff(float, float *);
double nan(const char *);
float nanf(const char *);
double remquo(double, double, int *);
float remquof(float, float, int *);
double scalbln(double, long);
float scalblnf(float, long);
double scalbn(double, int);
float scalbnf(float, int);
void sincos(double, double *, double *);
void sincosf(float, float *, float *);
double yn(int, double);
float ynf(int, float);
int abs(int);
long labs(long);
long long llabs(long long);
}

inline float fma(float x, float y, float z) {
  return fmaf(x, y, z);
}
inline float frexp(float x, int *exponent) {
  return frexpf(x, exponent);
}
inline float ldexp(float x, int exponent) {
  return ldexpf(x, exponent);
}
inline float modf(float x, float *whole) {
  return modff(x, whole);
}
inline float remquo(float x, float y, int *quotient) {
  return remquof(x, y, quotient);
}
inline float scalbln(float x, long exponent) {
  return scalblnf(x, exponent);
}
inline float scalbn(float x, int exponent) {
  return scalbnf(x, exponent);
}
inline void sincos(float x, float *sine, float *cosine) {
  sincosf(x, sine, cosine);
}
inline float pow(float x, int y) {
  return powf(x, static_cast<float>(y));
}
inline double pow(double x, int y) {
  return pow(x, static_cast<double>(y));
}

inline long abs(long x) {
  return labs(x);
}
inline long long abs(long long x) {
  return llabs(x);
}
inline float abs(float x) {
  return fabsf(x);
}
inline double abs(double x) {
  return fabs(x);
}

#define CG_CLASSIFY(name)                                                                          \
  inline bool name(float x) {                                                                      \
    return __builtin_##name(x) != 0;                                                               \
  }                                                                                                \
  inline bool name(double x) {                                                                     \
    return __builtin_##name(x) != 0;                                                               \
  }
CG_CLASSIFY(isfinite)
CG_CLASSIFY(isinf)
CG_CLASSIFY(isnan)
CG_CLASSIFY(signbit)
#undef CG_CLASSIFY

// What CUDA has beyond the C library. `double` computes; `float` is rounded from it.
#define CG_FLOAT1(name)                                                                            \
  inline float name##f(float x) {                                                                  \
    return static_cast<float>(name(static_cast<double>(x)));                                       \
  }                                                                                                \
  inline float name(float x) {                                                                     \
    return name##f(x);                                                                             \
  }
#define CG_FLOAT2(name)                                                                            \
  inline float name##f(float x, float y) {                                                         \
    return static_cast<float>(name(static_cast<double>(x), static_cast<double>(y)));               \
  }                                                                                                \
  inline float name(float x, float y) {                                                            \
    return name##f(x, y);                                                                          \
  }
#define CG_FLOAT3(name)                                                                            \
  inline float name##f(float x, float y, float z) {                                                \
    return static_cast<float>(                                                                     \
        name(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)));             \
  }                                                                                                \
  inline float name(float x, float y, float z) {                                                   \
    return name##f(x, y, z);                                                                       \
  }

inline double rsqrt(double x) {
  return 1 / sqrt(x);
}
CG_FLOAT1(rsqrt)
inline double rcbrt(double x) {
  return 1 / cbrt(x);
}
CG_FLOAT1(rcbrt)
inline double rhypot(double x, double y) {
  return 1 / hypot(x, y);
}
CG_FLOAT2(rhypot)
inline double norm3d(double x, double y, double z) {
  return hypot(hypot(x, y), z);
}
CG_FLOAT3(norm3d)
inline double rnorm3d(double x, double y, double z) {
  return 1 / norm3d(x, y, z);
}
CG_FLOAT3(rnorm3d)
inline double normcdf(double x) {
  return 0.5 * erfc(-0.70710678118654752440 * x);
}
CG_FLOAT1(normcdf)

namespace cg_host {
constexpr double pi = 3.14159265358979323846;
/// x minus the nearest even integer: exact, in -1 to 1.
inline double within_turn(double x) {
  return x - 2 * rint(x / 2);
}
} // namespace cg_host

inline double sinpi(double x) {
  const double turn = cg_host::within_turn(x);
  return sin(cg_host::pi * (fabs(turn) > 0.5 ? copysign(1.0, turn) - turn : turn));
}
CG_FLOAT1(sinpi)
inline double cospi(double x) {
  return sin(cg_host::pi * (0.5 - fabs(cg_host::within_turn(x))));
}
CG_FLOAT1(cospi)
inline void sincospi(double x, double *sine, double *cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospif(float x, float *sine, float *cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
inline void sincospi(float x, float *sine, float *cosine) {
  sincospif(x, sine, cosine);
}
#undef CG_FLOAT1
#undef CG_FLOAT2
#undef CG_FLOAT3

// min and max for the pairs of types CUDA has them for; NaN counts as missing.
#define CG_MIN_MAX(T, U, result)                                                                   \
  inline result min(T x, U y) {                                                                    \
    return static_cast<result>(x) < static_cast<result>(y) ? static_cast<result>(x)                \
                                                           : static_cast<result>(y);               \
  }                                                                                                \
  inline result max(T x, U y) {                                                                    \
    return static_cast<result>(x) > static_cast<result>(y) ? static_cast<result>(x)                \
                                                           : static_cast<result>(y);               \
  }
CG_MIN_MAX(int, int, int)
CG_MIN_MAX(unsigned int, unsigned int, unsigned int)
CG_MIN_MAX(int, unsigned int, unsigned int)
CG_MIN_MAX(unsigned int, int, unsigned int)
CG_MIN_MAX(long, long, long)
CG_MIN_MAX(unsigned long, unsigned long, unsigned long)
CG_MIN_MAX(long, unsigned long, unsigned long)
CG_MIN_MAX(unsigned long, long, unsigned long)
CG_MIN_MAX(long long, long long, long long)
CG_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
CG_MIN_MAX(long long, unsigned long long, unsigned long long)
CG_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef CG_MIN_MAX
inline float min(float x, float y) {
  return fminf(x, y);
}
inline float max(float x, float y) {
  return fmaxf(x, y);
}
inline double min(double x, double y) {
  return fmin(x, y);
}
inline double max(double x, double y) {
  return fmax(x, y);
}
inline double min(float x, double y) {
  return fmin(double(x), y);
}
inline double max(float x, double y) {
  return fmax(double(x), y);
}
inline double min(double x, float y) {
  return fmin(x, double(y));
}
inline double max(double x, float y) {
  return fmax(x, double(y));
}
inline int imin(int x, int y) {
  return min(x, y);
}
inline int imax(int x, int y) {
  return max(x, y);
}
inline unsigned int umin(unsigned int x, unsigned int y) {
  return min(x, y);
}
inline unsigned int umax(unsigned int x, unsigned int y) {
  return max(x, y);
}
inline long long llmin(long long x, long long y) {
  return min(x, y);
}
inline long long llmax(long long x, long long y) {
  return max(x, y);
}
