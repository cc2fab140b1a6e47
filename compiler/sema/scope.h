// Names that blocks and defs declare, the innermost first.
#pragma once

#include "sema/checked_file.h"

namespace cgc {

struct Scope {
  const Scope *parent = nullptr;
  struct Declared {
    Symbol symbol;
    SourceRange range;
  };
  std::unordered_map<std::string_view, Declared> names;

  /// The symbol of that name here or further out; None where there is none.
  static Symbol find(const Scope *scope, std::string_view name) {
    for (; scope != nullptr; scope = scope->parent) {
      if (const auto found = scope->names.find(name); found != scope->names.end()) {
        return found->second.symbol;
      }
    }
    return {};
  }
};

} // namespace cgc
