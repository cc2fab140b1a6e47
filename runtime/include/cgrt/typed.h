// What headers made by `cgc --emit=header` stand on.
#pragma once

#include <cgrt/cgrt.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace cgrt {

/// What a param of type T takes: no bool for a number or the other way round, no float for an
/// integer. Whether the number fits is checked with the other params.
template <typename Value, typename T>
concept ParamValue = std::is_arithmetic_v<Value> && std::is_same_v<Value, bool>
== std::is_same_v<T, bool> && (std::is_floating_point_v<T> || !std::is_floating_point_v<Value>);

/// A param without a default: it cannot be left out.
template <typename T> struct Required {
  template <ParamValue<T> Value> Required(Value given) : value(given) {} // NOLINT: it is the value

  Scalar value;
};

/// A param that has a default.
template <typename T> struct Optional {
  Optional() = default;
  template <ParamValue<T> Value> Optional(Value given) : value(given) {} // NOLINT: it is the value

  std::optional<Scalar> value;
};

template <typename T> T scalar_to(const Scalar &scalar) {
  return std::visit([](auto value) { return static_cast<T>(value); }, scalar);
}

/// The elements of a `host` buffer as they lie in memory.
template <typename T> std::span<T> host_elements(Instance &instance, const std::string &buffer) {
  const std::span<std::byte> bytes = instance.host_bytes(buffer);
  return {reinterpret_cast<T *>(bytes.data()), bytes.size() / sizeof(T)};
}

template <typename T>
std::vector<T> read_elements(const Instance &instance, const std::string &buffer) {
  const std::vector<std::byte> bytes = instance.read(buffer);
  std::vector<T> elements(bytes.size() / sizeof(T));
  if (!bytes.empty()) {
    std::memcpy(elements.data(), bytes.data(), bytes.size());
  }
  return elements;
}

} // namespace cgrt
