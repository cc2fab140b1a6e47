// The syntax tree of one file: names unresolved, nothing checked. Expressions lie in one pool in
// which operands stand before their users, so that no phase recurses along an operator chain.
// Blocks nest as far as brackets may (max_nesting), so phases may recurse along those.
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
using cgrt::format::CallableKind;
using cgrt::format::ExprOp;
using cgrt::format::LaunchKind;
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
  Name,    ///< name, qualifier
  Unary,   ///< op, operands[0]
  Binary,  ///< op, operands[0..1]
  Select,  ///< operands[0] ? operands[1] : operands[2]
  Cast,    ///< type, operands[0]
  Call,    ///< name, arguments
  Type,    ///< type, as the argument of sizeof
  Index,   ///< operands[0] is the Name or Index it is taken of; arguments: one for each dimension
  Range,   ///< operands[0] : operands[1], each may be missing; only as an argument of an Index
};

struct Expr {
  ExprKind kind = ExprKind::Literal;
  ExprOp op = ExprOp::Const;
  ScalarType type = ScalarType::I32;
  SourceRange range;
  Value value;
  std::string_view name;
  std::string_view qualifier; ///< the module in front of a dot
  std::uint32_t first = 0;    ///< the expression and all below it are exprs[first] to itself
  std::array<ExprRef, 3> operands;
  std::vector<ExprRef> arguments;
};

/// What it is made of, in order.
template <typename Visit> void for_each_operand(const Expr &expr, const Visit &visit) {
  for (const ExprRef operand : expr.operands) {
    if (operand.valid()) {
      visit(operand);
    }
  }
  for (const ExprRef argument : expr.arguments) {
    visit(argument);
  }
}

/// `@priority(-1)`
struct Attribute {
  Name name;
  std::vector<ExprRef> arguments;
  std::optional<std::string> text; ///< its argument where that is a string
  SourceRange range;
};
using Attributes = std::vector<Attribute>;

struct Import {
  std::string path; ///< as written; "std.blas1" for a standard module
  bool standard = false;
  Name name; ///< what the file calls it
  bool renamed = false;
  SourceRange range; ///< of the path
  /// Set by load_modules(): the file's position there; none where it cannot be used.
  std::optional<std::uint32_t> module;
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

/// At file scope or in a block.
struct Buffer {
  Name name;
  ScalarType type = ScalarType::F32;
  MemorySpace space = MemorySpace::Device;
  CallerAccess access = CallerAccess::Private;
  std::vector<ExprRef> shape;
  Attributes attributes;
};

/// A type parameter of a generic kernel.
struct TypeParameter {
  Name name;
  std::vector<ScalarType> types; ///< the ones allowed; empty: any
};

/// Of a kernel or a def.
struct Parameter {
  Name name;
  ScalarType type = ScalarType::I32;
  std::optional<Name> type_name;    ///< stands in the place of `type`: a type parameter
  std::optional<Mode> mode;         ///< none: a scalar, or a graph
  std::optional<LaunchKind> launch; ///< a graph that a kernel launches in this way
  std::vector<ExprRef> shape;
};

struct KernelClause {
  Name name; ///< grid, block, shared, flops or bytes
  SourceRange range;
  std::vector<ExprRef> values;
};

enum class BodyKind : std::uint8_t { Cuda, Source, Binary, External };

struct KernelBody {
  BodyKind kind = BodyKind::Cuda;
  SourceRange range; ///< of the text between the braces, of the path, or of the word `external`
  std::string path;  ///< Source, Binary
  std::optional<std::string> symbol; ///< likewise
  /// Set by load_modules(): the file's text of a Source; its bytes of a Binary.
  FileId file;
  std::string bytes;
  bool missing = false; ///< the file cannot be read, which has been reported
};

/// What a launch or call of it gives.
struct Signature {
  Name name;
  std::vector<TypeParameter> type_parameters; ///< of kernels only
  std::vector<Parameter> parameters;
};

struct Kernel : Signature {
  std::vector<KernelClause> clauses;
  KernelBody body;
  std::optional<SourceRange> host; ///< the text of its `host { }` between the braces
  Attributes attributes;
};

/// A C++ function that the embedding program binds: `callback` or `captured`.
struct Callable : Signature {
  CallableKind kind = CallableKind::Callback;
  Attributes attributes;
};

/// A stream or an event, or an array of them.
struct Handle {
  Name name;
  ExprRef count; ///< of an array
  Attributes attributes;
};

struct Statement;

struct Block {
  std::vector<Statement> statements;
};

struct CopyStatement {
  ExprRef destination;
  ExprRef source;
};

struct FillStatement {
  ExprRef destination;
  ExprRef value;
};

/// The `<<<grid, block, shared>>>` of a launch.
struct GeometryOverride {
  SourceRange range;
  std::vector<ExprRef> grid, block;
  ExprRef shared; ///< none: as declared
};

/// A kernel, a def, a callback or a captured function, called.
struct LaunchStatement {
  ExprRef callee; ///< a Name
  std::vector<ExprRef> arguments;
  std::optional<GeometryOverride> geometry;
  bool child = false;
};

struct ForStatement {
  std::uint32_t variable = 0; ///< into File::loops
  ExprRef begin, end;
  Block body;
};

/// Writes one element of a buffer.
struct AssignStatement {
  ExprRef target;
  ExprRef value;
};

/// `if`, each `else if` and the `else`, in order.
struct IfStatement {
  struct Branch {
    ExprRef condition; ///< none: the `else`
    Block body;
  };
  std::vector<Branch> branches;
};

/// `while (…) { … }` and `do { … } while (…);`
struct LoopStatement {
  bool body_first = false;
  ExprRef condition;
  ExprRef limit; ///< its `max`; none: without
  Block body;
};

struct RepeatStatement {
  ExprRef count;
  Block body;
};

struct SwitchStatement {
  struct Case {
    std::vector<ExprRef> labels; ///< none: `default`
    SourceRange range;           ///< of the labels
    Block body;
  };
  ExprRef value;
  std::vector<Case> cases;
};

struct SyncStatement {};

/// Declares the `count` from `first` on of File::events or File::streams.
struct HandleStatement {
  bool is_event = false;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// `on s { … }`
struct OnStatement {
  ExprRef stream; ///< a Name or one element of it
  Block body;
};

struct RecordStatement {
  ExprRef event; ///< a Name or one element of it
};

struct WaitStatement {
  ExprRef event; ///< likewise
};

/// `tail g when (…);`, `detach g;`, `sibling g;`
struct StartStatement {
  LaunchKind kind = LaunchKind::Tail;
  ExprRef target;    ///< a Name; `self` is the graph that the statement is in
  ExprRef condition; ///< none: in any case
};

/// `grid(L) = (gx, gy, gz);`, `enable(L) = c;`, `arg(L, p) = e;`
struct UpdateStatement {
  Name what; ///< grid, enable or arg
  Name label;
  std::optional<Name> parameter;
  std::vector<ExprRef> values;
};

struct ScopeStatement {
  Block body;
};

/// Declares File::buffers[first] and the `count - 1` behind it.
struct BufferStatement {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Declares File::local_consts[index].
struct ConstStatement {
  std::uint32_t index = 0;
};

struct Statement {
  std::variant<CopyStatement, FillStatement, LaunchStatement, AssignStatement, ForStatement,
               IfStatement, LoopStatement, RepeatStatement, SwitchStatement, SyncStatement,
               HandleStatement, OnStatement, RecordStatement, WaitStatement, StartStatement,
               UpdateStatement, ScopeStatement, BufferStatement, ConstStatement>
      action;
  SourceRange range; ///< without the body of a block
  std::optional<Name> label;
  std::vector<Name> after;
  Attributes attributes;
};

/// The blocks of a statement, in order.
template <typename Visit> void for_each_block(const Statement &statement, Visit &&visit) {
  std::visit(
      [&](const auto &action) {
        if constexpr (requires { action.body; }) {
          visit(action.body);
        } else if constexpr (requires { action.branches; }) {
          for (const auto &branch : action.branches) {
            visit(branch.body);
          }
        } else if constexpr (requires { action.cases; }) {
          for (const auto &one : action.cases) {
            visit(one.body);
          }
        }
      },
      statement.action);
}

/// What names the graph itself where a graph is launched.
inline constexpr std::string_view self_name = "self";

struct Def {
  Name name;
  std::vector<Parameter> parameters;
  Block body;
  std::set<std::string_view> names_in_errors; ///< as of the file
};

struct Graph {
  Name name;
  Block body;
  Attributes attributes;
};

struct File {
  FileId id;
  std::vector<Expr> exprs;
  std::vector<Import> imports;
  std::vector<Const> consts;
  std::vector<Const> local_consts; ///< those in blocks
  std::vector<Param> params;
  std::vector<Buffer> buffers;             ///< those in blocks, too
  std::vector<std::uint32_t> file_buffers; ///< those at file scope
  std::vector<Kernel> kernels;
  std::vector<Callable> callables;
  std::vector<Def> defs;
  std::vector<Graph> graphs;
  std::vector<SourceRange> cuda_blocks; ///< the text between the braces
  std::vector<Handle> streams, events;  ///< those of all blocks
  std::vector<Name> loops;              ///< the variables of `for` statements
  /// Names in what has a syntax error. It may declare them, so that uses are not reported as
  /// undefined, and nobody knows what else it does to them.
  std::set<std::string_view> names_in_errors;
  bool has_syntax_errors = false;

  const Expr &operator[](ExprRef ref) const { return exprs[ref.index]; }
};

/// The tree as text, one declaration or statement a line.
std::string print(const File &file);

} // namespace cgc::ast
