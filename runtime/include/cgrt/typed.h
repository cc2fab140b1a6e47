// What headers made by `cgc --emit=header` stand on.
#pragma once

#include <cgrt/cgrt.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace cgrt {

/// A param without a default: it cannot be left out.
template <typename T> struct Required {
  Required(T given) : value(given) {} // NOLINT: it is the value

  T value;
};

template <typename T> Scalar scalar_from(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

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
