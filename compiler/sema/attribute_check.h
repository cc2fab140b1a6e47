// `@…`: which attributes go with what, and what they say.
#pragma once

#include "sema/expr_check.h"

namespace cgc {

/// What an attribute may stand before.
enum class Attributed : std::uint8_t {
  Kernel,
  Buffer,
  Graph,
  Launch,
  Child,
  Block,
  Memory,
  Callable, ///< its declaration
  Call,     ///< of one
  Stream,
  Event,
  EventNode, ///< a record or wait
  Start,     ///< a launch from the device
  Other,
};

/// Reports attributes that do not go with `what` (`noun` names it: "a copy"), unknown ones, and
/// arguments that are not right; checks their expressions.
void check_attributes(const ast::Attributes &attributes, Attributed what, std::string_view noun,
                      const ExprScope &scope, ExprCheck &exprs, Diagnostics &diagnostics);

/// The attribute of that name, or null.
const ast::Attribute *find_attribute(const ast::Attributes &attributes, std::string_view name);

} // namespace cgc
