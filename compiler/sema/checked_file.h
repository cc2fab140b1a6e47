// Syntax trees whose names are resolved and whose types are right, whatever the parameters' values.
#pragma once

#include "ast/ast.h"
#include "parse/modules.h"

#include <compare>
#include <cstdint>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cgc {

enum class SymbolKind : std::uint8_t {
  None,
  Module,          ///< index into File::imports
  Const,           ///< File::consts
  LocalConst,      ///< File::local_consts
  Param,           ///< File::params
  Buffer,          ///< File::buffers
  Kernel,          ///< File::kernels
  Def,             ///< File::defs
  Graph,           ///< File::graphs
  Loop,            ///< File::loops
  KernelParameter, ///< of the enclosing kernel
  TypeParameter,   ///< of the enclosing kernel
  DefParameter,    ///< of File::defs[owner]
  Callable,        ///< File::callables
  Stream,          ///< File::streams
  Event,           ///< File::events
};

/// What a name stands for.
struct Symbol {
  SymbolKind kind = SymbolKind::None;
  std::uint32_t index = 0;
  std::uint32_t module = 0; ///< the file it is declared in
  std::uint32_t owner = 0;

  auto operator<=>(const Symbol &) const = default;
};

/// A kernel's clauses, each looked up once.
struct KernelClauses {
  const ast::KernelClause *grid = nullptr;
  const ast::KernelClause *block = nullptr;
  const ast::KernelClause *shared = nullptr; ///< none: no dynamic shared memory
};

struct CheckedFile {
  const ast::File *file = nullptr;
  std::uint32_t module = 0;
  std::unordered_map<std::string_view, Symbol> names; ///< of the file's scope
  /// Parallel to File::exprs: what a name stands for, and what an expression computes.
  std::vector<Symbol> symbols;
  std::vector<cgrt::format::ValueKind> kinds;
  std::vector<bool> names_buffer;
  /// Parallel to File::consts: the value, or nothing where it has an error.
  std::vector<std::optional<ast::Value>> const_values;
  std::vector<KernelClauses> kernels;   ///< parallel to File::kernels
  std::set<std::uint32_t> bad_defaults; ///< params whose default has an error
  /// Names in statements that have an error: of the file, and of each of its defs.
  std::set<std::string_view> names_in_errors;
  std::vector<std::set<std::string_view>> names_in_def_errors;

  const ast::Expr &operator[](ast::ExprRef ref) const { return (*file)[ref]; }
  const Symbol &symbol(ast::ExprRef ref) const { return symbols[ref.index]; }
};

/// How deep calls of defs and the blocks in them may nest, since inlining them recurses.
inline constexpr std::size_t max_call_depth = 512;

/// Where a label stands that an `after` or a change of a launch names.
struct LabelTarget {
  const ast::Statement *statement = nullptr;
  const ast::Block *block = nullptr; ///< that the statement is in
};

struct CheckedProgram {
  std::vector<CheckedFile> files; ///< parallel to the modules; the main file is the last
  /// Of calls of generic kernels, in the order of their type parameters.
  std::unordered_map<const ast::LaunchStatement *, std::vector<ast::ScalarType>> type_arguments;
  std::unordered_map<const ast::Name *, LabelTarget> labels;
  /// Declarations and statements with an error, and statements that use such a declaration;
  /// lowering leaves them out.
  std::set<Symbol> broken_declarations;
  std::unordered_set<const ast::Statement *> broken;

  const CheckedFile &main() const { return files.back(); }
  const CheckedFile &operator[](const Symbol &symbol) const { return files[symbol.module]; }
};

} // namespace cgc
