// What device expressions are made of. The compiler has decided every type: T is the one that the
// operation computes in, and its operands convert to it as in C. Integers wrap, and nothing is
// undefined: a division by zero gives 0, a shift beyond the width what shifting bit by bit would, a
// float beyond an integer type that type's limit. Products are rounded before they are added to
// anything, so that GPUs and the host device get the same floats.
#ifdef __CUDACC_RTC__
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned int value);
#endif

namespace cg_expr {

template <typename T> struct Traits {
  static constexpr bool floating = false;
  using Unsigned = T;
};
template <> struct Traits<int> {
  static constexpr bool floating = false;
  using Unsigned = unsigned int;
};
template <> struct Traits<long long> {
  static constexpr bool floating = false;
  using Unsigned = unsigned long long;
};
template <> struct Traits<float> {
  static constexpr bool floating = true;
  using Unsigned = float;
};
template <> struct Traits<double> {
  static constexpr bool floating = true;
  using Unsigned = double;
};

template <typename T> __device__ inline T add(T a, T b) {
  using U = typename Traits<T>::Unsigned;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
template <typename T> __device__ inline T sub(T a, T b) {
  using U = typename Traits<T>::Unsigned;
  return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
}
template <typename T> __device__ inline T mul(T a, T b) {
  using U = typename Traits<T>::Unsigned;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}
#ifdef __CUDACC_RTC__
template <> __device__ inline float mul<float>(float a, float b) {
  return __fmul_rn(a, b);
}
template <> __device__ inline double mul<double>(double a, double b) {
  return __dmul_rn(a, b);
}
#endif
template <typename T> __device__ inline T neg(T a) {
  if constexpr (Traits<T>::floating) {
    return -a;
  } else {
    return sub<T>(T(0), a);
  }
}
template <typename T> __device__ inline T div(T a, T b) {
  if constexpr (Traits<T>::floating) {
    return a / b;
  } else {
    if (b == T(0))
      return T(0);
    if (T(-1) < T(0) && b == T(-1))
      return neg<T>(a); // the least value has no opposite
    return a / b;
  }
}
template <typename T> __device__ inline T rem(T a, T b) {
  if (b == T(0) || (T(-1) < T(0) && b == T(-1)))
    return T(0);
  return a % b;
}
template <typename T> __device__ inline T shl(T a, long long count) {
  const bool inside = count >= 0 && count < static_cast<long long>(8 * sizeof(T));
  return inside ? static_cast<T>(static_cast<typename Traits<T>::Unsigned>(a) << count) : T(0);
}
template <typename T> __device__ inline T shr(T a, long long count) {
  const bool inside = count >= 0 && count < static_cast<long long>(8 * sizeof(T));
  return inside ? static_cast<T>(a >> count) : a < T(0) ? static_cast<T>(-1) : T(0);
}
template <typename T> __device__ inline T bitand_(T a, T b) {
  return a & b;
}
template <typename T> __device__ inline T bitxor_(T a, T b) {
  return a ^ b;
}
template <typename T> __device__ inline T bitor_(T a, T b) {
  return a | b;
}
template <typename T> __device__ inline T bitnot_(T a) {
  return ~a;
}
template <typename T> __device__ inline bool lt(T a, T b) {
  return a < b;
}
template <typename T> __device__ inline bool le(T a, T b) {
  return a <= b;
}
template <typename T> __device__ inline bool gt(T a, T b) {
  return a > b;
}
template <typename T> __device__ inline bool ge(T a, T b) {
  return a >= b;
}
template <typename T> __device__ inline bool eq(T a, T b) {
  return a == b;
}
template <typename T> __device__ inline bool ne(T a, T b) {
  return a != b;
}
template <typename T> __device__ inline T min_(T a, T b) {
  if constexpr (Traits<T>::floating) {
    return a != a || b < a ? b : a; // of a number and a NaN the number
  } else {
    return b < a ? b : a;
  }
}
template <typename T> __device__ inline T max_(T a, T b) {
  if constexpr (Traits<T>::floating) {
    return a != a || b > a ? b : a;
  } else {
    return b > a ? b : a;
  }
}
template <typename T> __device__ inline T abs_(T a) {
  if constexpr (Traits<T>::floating) {
    return fabs(a);
  } else {
    return a < T(0) ? neg<T>(a) : a;
  }
}
template <typename T> __device__ inline T ceildiv(T a, T b) {
  if constexpr (Traits<T>::floating) {
    return ceil(a / b);
  } else {
    const bool up = rem<T>(a, b) != T(0) && (a < T(0)) == (b < T(0));
    return add<T>(div<T>(a, b), up ? T(1) : T(0));
  }
}
template <typename T> __device__ inline T pow2ceil(T a) {
  typename Traits<T>::Unsigned power = 1;
  while (T(1) < a && power != 0 && power < static_cast<typename Traits<T>::Unsigned>(a))
    power <<= 1;
  return static_cast<T>(power);
}

/// Casts, and values on their way into an element.
template <typename To, typename From> struct Conversion {
  __device__ static inline To convert(From value) {
    if constexpr (Traits<From>::floating && !Traits<To>::floating) {
      constexpr bool is_signed = To(-1) < To(0);
      constexpr int bits = 8 * static_cast<int>(sizeof(To)) - (is_signed ? 1 : 0);
      constexpr unsigned long long greatest = ~0ULL >> (64 - bits);
      constexpr double above = static_cast<double>(1ULL << (bits - 1)) * 2.0;
      const double wide = value;
      if (wide != wide)
        return To(0);
      if (wide >= above)
        return static_cast<To>(greatest);
      if (wide <= (is_signed ? -above : 0.0))
        return static_cast<To>(is_signed ? ~greatest : 0);
      return static_cast<To>(wide);
    } else {
      return static_cast<To>(value);
    }
  }
};
template <typename From> struct Conversion<bool, From> {
  __device__ static inline bool convert(From value) { return value != From(0); }
};
template <typename To, typename From> __device__ inline To to(From value) {
  return Conversion<To, From>::convert(value);
}

/// An index that the device has computed: outside of its dimension nothing may be touched.
__device__ inline long long index(long long value, long long extent, const char *where) {
  if (value < 0 || value >= extent) {
#ifdef __CUDACC_RTC__
    __trap();
#else
    char text[200];
    snprintf(text, sizeof text, "%s: index %lld is outside of 0..%lld", where, value, extent);
    cg_host::fault(text, nullptr, nullptr, 0);
#endif
  }
  return value;
}

/// Changes a launch's grid; with nothing in it the launch is off until it gets another one.
template <typename Node> __device__ inline auto set_grid(Node node, bool nothing, dim3 grid) {
  auto error = cudaGraphKernelNodeSetEnabled(node, !nothing);
  if (!nothing && error == 0)
    error = cudaGraphKernelNodeSetGridDim(node, grid);
  return error;
}

} // namespace cg_expr
