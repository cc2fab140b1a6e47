// The functions of host expressions.
#pragma once

#include "format/expr.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace cgc {

enum class FunctionKind : std::uint8_t {
  Operator, ///< an operator of the expression table
  Sizeof,   ///< bytes of a type
  Len,      ///< elements of a buffer
  Dim,      ///< one extent of a buffer
};

struct Function {
  std::string_view name;
  FunctionKind kind;
  cgrt::format::ExprOp op; ///< of an Operator
  std::uint32_t arguments;
};

/// The function of that name, or nothing.
const Function *find_function(std::string_view name);

} // namespace cgc
