// C++ functions that a program calls: what their arguments are, and how a lambda becomes one.
//
// A callback is bound with Instance::bind_callback(): it runs on the host, in the order that the
// graph gives it, and must not call cgrt (Error{Usage}) nor CUDA (CUDA C++ Programming Guide, "Host
// Nodes": such a call may wait for itself). A captured function is bound with
// Instance::bind_captured(): it is called once when an executable is made, with a stream that
// captures what it puts there ("Creating a Graph Using Stream Capture"), and on the host device,
// where it is bound with Instance::bind_host(), at every launch; so can an external kernel be.
//
// A parameter of the declaration is, in C++:
//   step: i64                 std::int64_t, and so on; bool for bool, float for f32, f16 and bf16
//   x: in f32[n]              std::span<const float>; for a captured function const float *
//   y: out f32[n], inout      std::span<float>; float *
// Elements of f16 and bf16 are std::uint16_t. Spans and pointers lie in the instance's memory: host
// memory for a callback and on the host device, else device memory; they are valid during the call.
#pragma once

#include <cgrt/types.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

struct CUstream_st;
struct CUevent_st;

namespace cgrt {

/// The scalar type of a C++ type.
template <typename T> constexpr ScalarType scalar_type_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return ScalarType::Bool;
  } else if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    return sizeof(T) == 4 ? ScalarType::F32 : ScalarType::F64;
  } else {
    static_assert(std::is_integral_v<T>, "elements and arguments are scalars");
    constexpr bool is_signed = std::is_signed_v<T>;
    switch (sizeof(T)) {
    case 1:
      return is_signed ? ScalarType::I8 : ScalarType::U8;
    case 2:
      return is_signed ? ScalarType::I16 : ScalarType::U16;
    case 4:
      return is_signed ? ScalarType::I32 : ScalarType::U32;
    default:
      return is_signed ? ScalarType::I64 : ScalarType::U64;
    }
  }
}

/// A contiguous piece of a buffer.
struct CallBuffer {
  ScalarType type = ScalarType::F32;
  std::vector<std::size_t> shape; ///< of the slice: an extent for each dimension of the buffer
  std::byte *data = nullptr;

  std::size_t elements() const {
    std::size_t count = 1;
    for (const std::size_t extent : shape) {
      count *= extent;
    }
    return count;
  }
};

using CallArgument = std::variant<Scalar, CallBuffer>;
using CallArguments = std::span<const CallArgument>;
using HostCall = std::function<void(CallArguments)>;
/// The stream is a cudaStream_t.
using StreamCall = std::function<void(CUstream_st *, CallArguments)>;

/// A parameter of a C++ function, to be compared with the declaration.
struct CallParameter {
  ScalarType type = ScalarType::F32;
  bool is_buffer = false;
  bool writes = false;
};

/// How arguments reach a parameter of type T.
template <typename T> struct CallConversion {
  static_assert(std::is_arithmetic_v<T>, "parameters are scalars, spans or pointers");
  static constexpr CallParameter parameter = {scalar_type_of<T>(), false, false};
  static T convert(const CallArgument &argument) {
    return std::visit([](auto value) { return static_cast<T>(value); }, std::get<Scalar>(argument));
  }
};
template <typename T> struct CallConversion<std::span<T>> {
  static constexpr CallParameter parameter = {scalar_type_of<std::remove_const_t<T>>(), true,
                                              !std::is_const_v<T>};
  static std::span<T> convert(const CallArgument &argument) {
    const auto &buffer = std::get<CallBuffer>(argument);
    return {reinterpret_cast<T *>(buffer.data), buffer.elements()};
  }
};
template <typename T> struct CallConversion<T *> {
  static constexpr CallParameter parameter = CallConversion<std::span<T>>::parameter;
  static T *convert(const CallArgument &argument) {
    return reinterpret_cast<T *>(std::get<CallBuffer>(argument).data);
  }
};

/// A C++ function with its parameters, once for each way to be called.
struct TypedHostCall {
  std::vector<CallParameter> parameters;
  HostCall call;
};
struct TypedStreamCall {
  std::vector<CallParameter> parameters;
  StreamCall call;
};

/// Error{Usage} for a function that holds nothing.
template <typename Function> void require_function(const Function &function) {
  if (!function) {
    throw Error(ErrorCode::Usage, "the function to be bound is empty");
  }
}

// What a function returns is not looked at.

template <typename Result, typename... Args, std::size_t... Index>
TypedHostCall make_host_function(std::function<Result(Args...)> function,
                                 std::index_sequence<Index...> /*positions*/) {
  return {{CallConversion<std::remove_cvref_t<Args>>::parameter...},
          [function = std::move(function)]([[maybe_unused]] CallArguments arguments) {
            function(CallConversion<std::remove_cvref_t<Args>>::convert(arguments[Index])...);
          }};
}
template <typename Result, typename... Args>
TypedHostCall make_host_function(std::function<Result(Args...)> function) {
  require_function(function);
  return make_host_function(std::move(function), std::index_sequence_for<Args...>());
}

template <typename Result, typename... Args, std::size_t... Index>
TypedStreamCall make_stream_function(std::function<Result(CUstream_st *, Args...)> function,
                                     std::index_sequence<Index...> /*positions*/) {
  return {{CallConversion<std::remove_cvref_t<Args>>::parameter...},
          [function = std::move(function)](CUstream_st *stream,
                                           [[maybe_unused]] CallArguments arguments) {
            function(stream,
                     CallConversion<std::remove_cvref_t<Args>>::convert(arguments[Index])...);
          }};
}
template <typename Result, typename... Args>
TypedStreamCall make_stream_function(std::function<Result(CUstream_st *, Args...)> function) {
  require_function(function);
  return make_stream_function(std::move(function), std::index_sequence_for<Args...>());
}

} // namespace cgrt
