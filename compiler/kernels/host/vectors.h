// CUDA's vector types for host code. cgc puts this and its neighbours in front of the kernels' text
// when it compiles them for the host device. They offer what NVRTC offers without an include, and
// include nothing themselves: a program is accepted or refused alike for both devices, and no
// macro of the C library gets in its way.
#pragma once

#define CG_VECTORS(element, name)                                                                  \
  struct name##1 {                                                                                 \
    element x;                                                                                     \
  };                                                                                               \
  struct alignas(2 * sizeof(element)) name##2 {                                                    \
    element x, y;                                                                                  \
  };                                                                                               \
  struct name##3 {                                                                                 \
    element x, y, z;                                                                               \
  };                                                                                               \
  struct alignas(sizeof(element) < 4 ? 4 * sizeof(element) : 16) name##4 {                         \
    element x, y, z, w;                                                                            \
  };                                                                                               \
  inline name##1 make_##name##1(element x) {                                                       \
    return {x};                                                                                    \
  }                                                                                                \
  inline name##2 make_##name##2(element x, element y) {                                            \
    return {x, y};                                                                                 \
  }                                                                                                \
  inline name##3 make_##name##3(element x, element y, element z) {                                 \
    return {x, y, z};                                                                              \
  }                                                                                                \
  inline name##4 make_##name##4(element x, element y, element z, element w) {                      \
    return {x, y, z, w};                                                                           \
  }

CG_VECTORS(signed char, char)
CG_VECTORS(unsigned char, uchar)
CG_VECTORS(short, short)
CG_VECTORS(unsigned short, ushort)
CG_VECTORS(int, int)
CG_VECTORS(unsigned int, uint)
CG_VECTORS(long, long)
CG_VECTORS(unsigned long, ulong)
CG_VECTORS(long long, longlong)
CG_VECTORS(unsigned long long, ulonglong)
CG_VECTORS(float, float)
CG_VECTORS(double, double)
#undef CG_VECTORS

// Four elements of 8 bytes with the alignment in the name; without one it is 16.
#define CG_ALIGNED(element, name, alignment)                                                       \
  struct alignas(alignment) name##4_##alignment##a {                                               \
    element x, y, z, w;                                                                            \
  };                                                                                               \
  inline name##4_##alignment##a make_##name##4_##alignment##a(element x, element y, element z,     \
                                                              element w) {                         \
    return {x, y, z, w};                                                                           \
  }
#define CG_ALIGNED_BOTH(element, name)                                                             \
  CG_ALIGNED(element, name, 16)                                                                    \
  CG_ALIGNED(element, name, 32)
CG_ALIGNED_BOTH(long, long)
CG_ALIGNED_BOTH(unsigned long, ulong)
CG_ALIGNED_BOTH(long long, longlong)
CG_ALIGNED_BOTH(unsigned long long, ulonglong)
CG_ALIGNED_BOTH(double, double)
#undef CG_ALIGNED_BOTH
#undef CG_ALIGNED

struct dim3 {
  unsigned int x, y, z;

  constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
