// Values of host expressions: exact 64-bit integers and doubles.
#pragma once

#include <cgrt/types.h>

#include <bit>
#include <cstdint>
#include <string>

namespace cgrt::format {

/// How a host expression computes. Int and Uint are checked 64-bit integers; when a Uint meets an
/// Int the result is a Uint; any Float makes a Float; Bool counts as Int in arithmetic.
enum class ValueKind : std::uint8_t { Bool, Int, Uint, Float };

inline constexpr std::uint8_t value_kind_count = 4;

class Value {
public:
  Value() = default;
  static Value of(bool value) { return {ValueKind::Bool, value ? 1U : 0U}; }
  static Value of(std::int64_t value) {
    return {ValueKind::Int, static_cast<std::uint64_t>(value)};
  }
  static Value of(std::uint64_t value) { return {ValueKind::Uint, value}; }
  static Value of(double value) { return {ValueKind::Float, std::bit_cast<std::uint64_t>(value)}; }
  static Value from_bits(ValueKind kind, std::uint64_t bits) { return {kind, bits}; }
  static Value from_scalar(const Scalar &scalar) {
    return std::visit([](auto value) { return Value::of(value); }, scalar);
  }

  ValueKind kind() const { return kind_; }
  std::uint64_t bits() const { return bits_; }
  bool is_float() const { return kind_ == ValueKind::Float; }
  bool is_negative_integer() const {
    return kind_ == ValueKind::Int && static_cast<std::int64_t>(bits_) < 0;
  }
  /// The mathematical value; exact for integers.
  __extension__ __int128 as_wide() const;
  double as_double() const;
  bool truthy() const;
  std::string text() const;

  bool operator==(const Value &) const = default;

private:
  Value(ValueKind kind, std::uint64_t bits) : kind_(kind), bits_(bits) {}

  ValueKind kind_ = ValueKind::Int;
  std::uint64_t bits_ = 0;
};

/// Why an evaluation has no value.
enum class Fault : std::uint8_t { None, Overflow, DivisionByZero, OutOfRange, BadShift };

std::string_view text(Fault fault);

/// A value, or the fault that stands in its place. A fault travels through every operator but the
/// branch a `?:`, `&&` or `||` does not take.
struct Outcome {
  Value value;
  Fault fault = Fault::None;

  bool ok() const { return fault == Fault::None; }
};

/// The low `size_of(type)` bytes hold `value` as `type`. An integer type must hold it exactly and
/// takes no float; a floating type takes any value, rounded to nearest.
struct ScalarBits {
  std::uint64_t bits = 0;
  Fault fault = Fault::None;
};
ScalarBits to_scalar_bits(const Value &value, ScalarType type);

} // namespace cgrt::format
