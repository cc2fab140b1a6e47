// A syntax tree whose names are resolved and whose types are right, whatever the parameters'
// values.
#pragma once

#include "ast/ast.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cgc {

enum class SymbolKind : std::uint8_t { None, Const, Param, Buffer, Kernel, Graph, KernelParameter };

/// What a name stands for: an index into the File's vector of that kind, or into the enclosing
/// kernel's parameters.
struct Symbol {
  SymbolKind kind = SymbolKind::None;
  std::uint32_t index = 0;

  bool operator==(const Symbol &) const = default;
};

struct CheckedFile {
  const ast::File *file = nullptr;
  std::unordered_map<std::string_view, Symbol> names; ///< of the file's scope
  /// Parallel to File::exprs: what a name stands for, and what an expression computes.
  std::vector<Symbol> symbols;
  std::vector<cgrt::format::ValueKind> kinds;
  /// Parallel to File::consts: the value, or nothing where it has an error.
  std::vector<std::optional<ast::Value>> const_values;
  /// Parallel to File::kernels.
  struct KernelGeometry {
    const ast::KernelClause *grid = nullptr;
    const ast::KernelClause *block = nullptr;
    const ast::KernelClause *shared = nullptr; ///< none: no dynamic shared memory
  };
  std::vector<KernelGeometry> geometry;
  /// Whether the file can be lowered: everything outside the graphs' statements is right.
  bool can_lower = false;
  /// Statements with an error, which lowering leaves out.
  std::unordered_set<const ast::Statement *> broken;
};

} // namespace cgc
