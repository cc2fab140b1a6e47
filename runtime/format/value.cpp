#include "format/value.h"

#include "format/scalar_type.h"

#include <array>
#include <charconv>

namespace cgrt::format {

__extension__ __int128 Value::as_wide() const {
  if (kind_ == ValueKind::Int) {
    return static_cast<std::int64_t>(bits_);
  }
  return bits_;
}

double Value::as_double() const {
  switch (kind_) {
  case ValueKind::Float:
    return std::bit_cast<double>(bits_);
  case ValueKind::Int:
    return static_cast<double>(static_cast<std::int64_t>(bits_));
  default:
    return static_cast<double>(bits_);
  }
}

bool Value::truthy() const {
  return is_float() ? as_double() != 0 : bits_ != 0;
}

std::string Value::text() const {
  switch (kind_) {
  case ValueKind::Bool:
    return bits_ != 0 ? "true" : "false";
  case ValueKind::Int:
    return std::to_string(static_cast<std::int64_t>(bits_));
  case ValueKind::Uint:
    return std::to_string(bits_);
  case ValueKind::Float:
    break;
  }
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), as_double()).ptr;
  return {buffer.data(), end};
}

std::string_view text(Fault fault) {
  switch (fault) {
  case Fault::None:
    return "no fault";
  case Fault::Overflow:
    return "the result does not fit 64 bits";
  case Fault::DivisionByZero:
    return "division by zero";
  case Fault::OutOfRange:
    return "the value is outside the type it is converted to";
  case Fault::BadShift:
    return "the shift count is not in 0 to 63";
  }
  return "unknown fault";
}

namespace {

ScalarBits integer_bits(const Value &value, ScalarType type) {
  if (value.is_float()) {
    return {0, Fault::OutOfRange};
  }
  const auto wide = value.as_wide();
  if (wide < least(type) || wide > greatest(type)) {
    return {0, Fault::OutOfRange};
  }
  const std::uint32_t width = 8 * size_of(type);
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  return {value.bits() & mask, Fault::None};
}

} // namespace

[[gnu::hot]] ScalarBits to_scalar_bits(const Value &value, ScalarType type) {
  switch (type) {
  case ScalarType::F64:
    return {std::bit_cast<std::uint64_t>(value.as_double()), Fault::None};
  case ScalarType::F32: {
    // An integer is rounded once: through double it could be rounded twice.
    const float single = value.is_float() ? static_cast<float>(value.as_double())
                         : value.kind() == ValueKind::Int
                             ? static_cast<float>(static_cast<std::int64_t>(value.bits()))
                             : static_cast<float>(value.bits());
    return {std::bit_cast<std::uint32_t>(single), Fault::None};
  }
  case ScalarType::F16:
    return {to_f16_bits(value.as_double()), Fault::None};
  case ScalarType::BF16:
    return {to_bf16_bits(value.as_double()), Fault::None};
  default:
    return integer_bits(value, type);
  }
}

} // namespace cgrt::format
