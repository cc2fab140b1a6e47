// A buffer's bytes as typed elements.
#pragma once

#include "format/scalar_type.h"

#include <cgrt/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace cgrun {

/// "f32[512, 512]".
inline std::string type_text(cgrt::ScalarType type, const std::vector<std::size_t> &shape) {
  std::string text(cgrt::format::spelling(type));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "[" : ", ") + std::to_string(shape[i]);
  }
  return text + "]";
}

namespace detail {

template <typename Stored, typename Widen, typename Visitor>
void walk(std::span<const std::byte> bytes, Widen widen, Visitor &visit) {
  for (std::size_t at = 0; at + sizeof(Stored) <= bytes.size(); at += sizeof(Stored)) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + at, sizeof(Stored));
    visit(widen(stored));
  }
}

} // namespace detail

/// Calls `visit` with each element, exactly: as std::int64_t (signed types and bool),
/// std::uint64_t, float (f16, bf16, f32) or double.
template <typename Visitor>
void for_each_element(cgrt::ScalarType type, std::span<const std::byte> bytes, Visitor &&visit) {
  using cgrt::ScalarType;
  using detail::walk;
  const auto as_signed = [](auto value) { return static_cast<std::int64_t>(value); };
  const auto as_unsigned = [](auto value) { return static_cast<std::uint64_t>(value); };
  const auto same = [](auto value) { return value; };
  const auto from_f16 = [](std::uint16_t bits) {
    return static_cast<float>(cgrt::format::from_f16_bits(bits));
  };
  const auto from_bf16 = [](std::uint16_t bits) {
    return static_cast<float>(cgrt::format::from_bf16_bits(bits));
  };
  switch (type) {
  case ScalarType::Bool:
  case ScalarType::I8:
    return walk<std::int8_t>(bytes, as_signed, visit);
  case ScalarType::U8:
    return walk<std::uint8_t>(bytes, as_unsigned, visit);
  case ScalarType::I16:
    return walk<std::int16_t>(bytes, as_signed, visit);
  case ScalarType::U16:
    return walk<std::uint16_t>(bytes, as_unsigned, visit);
  case ScalarType::I32:
    return walk<std::int32_t>(bytes, as_signed, visit);
  case ScalarType::U32:
    return walk<std::uint32_t>(bytes, as_unsigned, visit);
  case ScalarType::I64:
    return walk<std::int64_t>(bytes, as_signed, visit);
  case ScalarType::U64:
    return walk<std::uint64_t>(bytes, as_unsigned, visit);
  case ScalarType::F16:
    return walk<std::uint16_t>(bytes, from_f16, visit);
  case ScalarType::BF16:
    return walk<std::uint16_t>(bytes, from_bf16, visit);
  case ScalarType::F32:
    return walk<float>(bytes, same, visit);
  case ScalarType::F64:
    return walk<double>(bytes, same, visit);
  }
}

} // namespace cgrun
