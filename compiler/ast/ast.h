// The syntax tree of one file: names unresolved, nothing checked. Expressions lie in one pool in
// which operands stand before their users, so that no phase recurses along an operator chain.
#pragma once

#include "diag/source.h"
#include "format/expr.h"
#include "format/program.h"

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cgc::ast {

using cgrt::CallerAccess;
using cgrt::MemorySpace;
using cgrt::ScalarType;
using cgrt::format::ExprOp;
using cgrt::format::Mode;
using cgrt::format::Value;

/// The text lies in the source file.
struct Name {
  std::string_view text;
  SourceRange range;
};

/// Index into File::exprs.
using ExprRef = cgrt::format::Id<struct AstExprTag>;

enum class ExprKind : std::uint8_t {
  Literal, ///< value
  Name,    ///< name
  Unary,   ///< op, operands[0]
  Binary,  ///< op, operands[0..1]
  Select,  ///< operands[0] ? operands[1] : operands[2]
  Cast,    ///< type, operands[0]
  Call,    ///< name, arguments
  Type,    ///< type, as the argument of sizeof
};

struct Expr {
  ExprKind kind = ExprKind::Literal;
  ExprOp op = ExprOp::Const;
  ScalarType type = ScalarType::I32;
  SourceRange range;
  Value value;
  std::string_view name;
  std::uint32_t first = 0; ///< the expression and all below it are exprs[first] to itself
  std::array<ExprRef, 3> operands;
  std::vector<ExprRef> arguments;
};

struct Const {
  Name name;
  ExprRef value;
};

struct Param {
  Name name;
  ScalarType type = ScalarType::I32;
  ExprRef default_value; ///< none: the caller must give it
};

struct Buffer {
  Name name;
  ScalarType type = ScalarType::F32;
  MemorySpace space = MemorySpace::Device;
  CallerAccess access = CallerAccess::Private;
  std::vector<ExprRef> shape;
};

struct KernelParameter {
  Name name;
  ScalarType type = ScalarType::I32;
  std::optional<Mode> mode; ///< none: a scalar
  std::vector<ExprRef> shape;
};

enum class ClauseKind : std::uint8_t { Grid, Block, Shared };
std::string_view spelling(ClauseKind kind);

struct KernelClause {
  ClauseKind kind = ClauseKind::Grid;
  SourceRange range;
  std::vector<ExprRef> values;
};

struct Kernel {
  Name name;
  std::vector<KernelParameter> parameters;
  std::vector<KernelClause> clauses;
  std::string_view body; ///< between the braces
  SourceRange body_range;
};

struct CopyStatement {
  Name destination;
  Name source;
};

struct FillStatement {
  Name destination;
  ExprRef value;
};

struct LaunchStatement {
  Name kernel;
  std::vector<ExprRef> arguments;
};

struct Statement {
  std::variant<CopyStatement, FillStatement, LaunchStatement> action;
  SourceRange range;
};

struct Graph {
  Name name;
  std::vector<Statement> statements;
};

struct File {
  FileId id;
  std::vector<Expr> exprs;
  std::vector<Const> consts;
  std::vector<Param> params;
  std::vector<Buffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<Graph> graphs;
  /// Names in declarations that have a syntax error: their uses are not reported as undefined.
  std::set<std::string_view> poisoned;
  bool has_syntax_errors = false;

  const Expr &operator[](ExprRef ref) const { return exprs[ref.index]; }
};

/// The tree as text, one declaration or statement a line.
std::string print(const File &file);

} // namespace cgc::ast
