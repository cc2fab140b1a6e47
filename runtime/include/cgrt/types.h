// Plain types that the public API, the bundle format and the compiler share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace cgrt {

/// Element and parameter types, in wire order.
enum class ScalarType : std::uint8_t {
  Bool,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  F16,
  BF16,
  F32,
  F64
};

/// Where a buffer lives: pinned host memory or device memory.
enum class MemorySpace : std::uint8_t { Host, Device };

/// What the caller does with a buffer: nothing, fills it, reads it, or both.
enum class CallerAccess : std::uint8_t { Private, In, Out, InOut };

/// A host scalar, as handed to and from the API. Any arithmetic value makes one.
struct Scalar : std::variant<bool, std::int64_t, std::uint64_t, double> {
  Scalar() = default;
  template <typename T>
  requires std::is_arithmetic_v<T> Scalar(T value)
      : variant(widened(value)) {} // NOLINT: it is the value

private:
  template <typename T> static auto widened(T value) {
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
};

/// What went wrong, in the classes a program can act on. The tools' exit codes follow them.
enum class ErrorCode : std::uint8_t {
  InvalidProgram, ///< a bundle is damaged, too new, or breaks a rule of the format (exit code 1)
  InvalidValue, ///< a size, index, geometry or argument is not legal for this program (exit code 1)
  Usage,        ///< the caller named or gave something the program does not have, or left it out
                ///< (exit code 2)
  Device,       ///< the device, the driver or the machine refused or failed (exit code 3)
  Stopped,      ///< a loop ended before its condition did: its `max` was reached, or the program
                ///< asked for it; everything else has run (exit code 3)
  Callback,     ///< a callback threw; everything else has run (exit code 3)
};

/// The place in a `.cgraph` file that an error belongs to; `line` 0 means no place.
struct SourceLocation {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// The one exception type of the runtime. `what()` starts with `file:line: ` where there is one.
class Error : public std::runtime_error {
public:
  Error(ErrorCode code, const std::string &message, SourceLocation where = {});
  Error(const Error &) = default;
  Error &operator=(const Error &) = default;
  /// Not inline, so that the class stands in one object file and not in each that throws.
  ~Error() override;

  ErrorCode code() const noexcept { return code_; }
  /// The message without its place.
  const std::string &message() const noexcept { return message_; }
  const SourceLocation &where() const noexcept { return where_; }

private:
  ErrorCode code_;
  std::string message_;
  SourceLocation where_;
};

} // namespace cgrt
