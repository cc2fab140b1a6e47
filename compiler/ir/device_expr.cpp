#include "ir/device_expr.h"

#include "ir/constant_source.h"
#include "kernels/kernel_text.h"
#include "sema/function.h"

#include "format/scalar_type.h"

#include <algorithm>
#include <limits>
#include <set>

namespace cgc {

using ast::ExprKind;
using ast::ExprRef;
using cgrt::MemorySpace;
using cgrt::ScalarType;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::Region;
using cgrt::format::Value;
using cgrt::format::ValueKind;

namespace {

/// Beyond these, literals stand in the code.
constexpr std::size_t most_constant_arguments = 64;

std::string cpp(ScalarType type) {
  return std::string(cpp_spelling(type));
}

/// C's integer promotions, and float for 16-bit floats.
ScalarType promoted(ScalarType type) {
  switch (type) {
  case ScalarType::Bool:
  case ScalarType::I8:
  case ScalarType::U8:
  case ScalarType::I16:
  case ScalarType::U16:
    return ScalarType::I32;
  case ScalarType::F16:
  case ScalarType::BF16:
    return ScalarType::F32;
  default:
    return type;
  }
}

/// C's usual arithmetic conversions: the later of these that either side has.
ScalarType common(ScalarType a, ScalarType b) {
  for (const ScalarType type :
       {ScalarType::F64, ScalarType::F32, ScalarType::U64, ScalarType::I64, ScalarType::U32}) {
    if (promoted(a) == type || promoted(b) == type) {
      return type;
    }
  }
  return ScalarType::I32;
}

/// What a C++ literal of that value has.
ScalarType natural_type(const Value &value) {
  switch (value.kind()) {
  case ValueKind::Bool:
    return ScalarType::Bool;
  case ValueKind::Uint:
    return ScalarType::U64;
  case ValueKind::Float:
    return ScalarType::F64;
  case ValueKind::Int:
    break;
  }
  const auto wide = value.as_wide();
  return wide >= std::numeric_limits<std::int32_t>::min() &&
                 wide <= std::numeric_limits<std::int32_t>::max()
             ? ScalarType::I32
             : ScalarType::I64;
}

bool is_comparison(ExprOp op) {
  return op == ExprOp::Lt || op == ExprOp::Le || op == ExprOp::Gt || op == ExprOp::Ge ||
         op == ExprOp::Eq || op == ExprOp::Ne;
}

/// The text for a string literal, not too long.
std::string printable(std::string text) {
  constexpr std::size_t most = 60;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; },
      ' ');
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

/// The function of stdlib_kernels/device_expr.cuh.
std::string_view function_name(ExprOp op) {
  switch (op) {
  case ExprOp::BitAnd:
    return "bitand_";
  case ExprOp::BitXor:
    return "bitxor_";
  case ExprOp::BitOr:
    return "bitor_";
  case ExprOp::BitNot:
    return "bitnot_";
  case ExprOp::Min:
    return "min_";
  case ExprOp::Max:
    return "max_";
  case ExprOp::Abs:
    return "abs_";
  default:
    return cgrt::format::spelling(op);
  }
}

class DeviceExprLowering {
public:
  DeviceExprLowering(ExprRef root, Frame &frame, DeviceCode &code, LoweringContext &context)
      : frame_(frame), file_(frame.file()), code_(code), context_(context), root_(root),
        on_device_(file_, root), first_(file_[root].first), parts_(root.index - first_ + 1) {
    find_dynamic();
  }

  /// Of the whole expression.
  DeviceValue value() {
    part(root_).wanted = true;
    spread_wants();
    emit();
    return part(root_).value;
  }

  /// The element that the expression is, for writing.
  std::string target() {
    want_subscripts(root_);
    spread_wants();
    emit();
    return element(root_, false, true);
  }

  /// Of the element that the expression is.
  ScalarType target_type() { return element_type(root_); }

private:
  struct Part {
    bool wanted = false;  ///< its value stands in the code
    bool dynamic = false; ///< reads at an index that the device computes, or has a part that does
    ExprId host;          ///< of a wanted host expression
    std::optional<Element> element; ///< of one, once it is known
    DeviceValue value;
  };
  /// Where the code of an operand that may be left out begins, and whose operand it is.
  struct Opening {
    ExprRef at;
    ExprRef of;
  };

  Part &part(ExprRef ref) { return parts_[ref.index - first_]; }
  bool on_device(ExprRef ref) const { return on_device_.has(ref); }

  template <typename Visit> void for_each_operand(ExprRef ref, const Visit &visit) const {
    ast::for_each_operand(file_[ref], visit);
  }

  void find_dynamic() {
    for (std::uint32_t i = first_; i <= root_.index; ++i) {
      bool dynamic = false;
      for_each_operand({i}, [&](ExprRef operand) { dynamic = dynamic || part(operand).dynamic; });
      if (file_[{i}].kind == ExprKind::Index) {
        for (const ExprRef subscript : file_[{i}].arguments) {
          dynamic = dynamic || on_device(subscript);
        }
      }
      part({i}).dynamic = dynamic;
    }
  }

  /// Of `x[i[0]][j]` the element is one thing, with subscripts in several places. The host's are
  /// part of the region.
  void want_subscripts(ExprRef element) {
    for (; file_[element].kind == ExprKind::Index; element = file_[element].operands[0]) {
      for (const ExprRef subscript : file_[element].arguments) {
        part(subscript).wanted = on_device(subscript);
      }
    }
  }

  void spread_wants() {
    for (std::uint32_t i = root_.index + 1; i-- > first_;) {
      const ExprRef ref{i};
      if (!part(ref).wanted || !on_device(ref)) {
        continue;
      }
      if (file_[ref].kind == ExprKind::Index) {
        want_subscripts(ref);
      } else {
        for_each_operand(ref, [&](ExprRef operand) { part(operand).wanted = true; });
      }
    }
  }

  void emit() {
    for (std::uint32_t i = first_; i <= root_.index; ++i) {
      set_type({i});
    }
    find_openings();
    auto opening = openings_.begin();
    for (std::uint32_t i = first_; i <= root_.index; ++i) {
      for (; opening != openings_.end() && opening->at.index == i; ++opening) {
        open(*opening);
      }
      if (part({i}).wanted) {
        emit(ExprRef{i});
      }
    }
  }

  void set_type(ExprRef ref) {
    ScalarType &type = part(ref).value.type;
    if (!on_device(ref) || part(ref).wanted) { // else it is a part of an element
      type = type_of(ref);
      type = is_small_float(type) ? ScalarType::F32 : type;
    }
    if (!on_device(ref) && part(ref).wanted) {
      part(ref).host = frame_.lower(ref);
      fit_host_value(ref);
    }
  }

  /// By C's rules, from those of its operands.
  ScalarType type_of(ExprRef ref) {
    const ast::Expr &expr = file_[ref];
    switch (expr.kind) {
    case ExprKind::Literal:
      return natural_type(expr.value);
    case ExprKind::Name:
      return type_of_name(ref);
    case ExprKind::Index:
      return element_type(ref);
    case ExprKind::Cast:
      return expr.type;
    case ExprKind::Select: {
      const ScalarType yes = part(expr.operands[1]).value.type;
      const ScalarType no = part(expr.operands[2]).value.type;
      return yes == no ? yes : common(yes, no);
    }
    case ExprKind::Call:
      if (find_function(expr.name)->kind != FunctionKind::Operator) {
        return ScalarType::I64; // len, dim and sizeof
      }
      return operation_type(ref, operator_of(expr));
    case ExprKind::Unary:
    case ExprKind::Binary: {
      const bool is_truth = expr.op == ExprOp::Not || expr.op == ExprOp::And ||
                            expr.op == ExprOp::Or || is_comparison(expr.op);
      return is_truth ? ScalarType::Bool : operation_type(ref, expr.op);
    }
    case ExprKind::Type:
    case ExprKind::Range:
      break;
    }
    return ScalarType::I32; // no value
  }

  ScalarType type_of_name(ExprRef ref) {
    const Symbol &symbol = file_.symbol(ref);
    switch (symbol.kind) {
    case SymbolKind::Param:
      return file_.file->params[symbol.index].type;
    case SymbolKind::DefParameter:
      return file_.file->defs[symbol.owner].parameters[symbol.index].type;
    case SymbolKind::Const: {
      const ast::File &declared = *context_.checked[symbol].file;
      const ast::Expr &value = declared[declared.consts[symbol.index].value];
      if (value.kind == ExprKind::Cast) {
        return value.type;
      }
      break;
    }
    case SymbolKind::LocalConst:
    case SymbolKind::Loop:
      break;
    default:
      return ScalarType::I32; // no value
    }
    const auto known = context_.known(frame_.lower(ref), file_[ref].range, "this expression");
    return known ? natural_type(*known) : ScalarType::I64;
  }

  /// A constant that its C type does not hold has a wider one; what depends on params must fit.
  void fit_host_value(ExprRef ref) {
    Part &host = part(ref);
    const auto known = context_.known(host.host, file_[ref].range, "this expression");
    if (!known) {
      // So that an error has the place and the words of the program.
      if (host.value.type == ScalarType::Bool) {
        context_.require(host.host, cgrt::format::Check::Relation::LessEqual, context_.integer(1),
                         "range", "", file_[ref].range);
      } else if (file_[ref].kind != ExprKind::Name) {
        context_.require_fits(host.host, host.value.type, "'" + frame_.text(ref) + "'",
                              file_[ref].range);
      }
    } else if (cgrt::format::to_scalar_bits(*known, host.value.type).fault !=
               cgrt::format::Fault::None) {
      host.value.type = natural_type(*known);
    }
  }

  static ExprOp operator_of(const ast::Expr &expr) {
    return expr.kind == ExprKind::Call ? find_function(expr.name)->op : expr.op;
  }

  /// The type in which an operator computes.
  ScalarType operation_type(ExprRef ref, ExprOp op) {
    std::vector<ScalarType> types;
    for_each_operand(ref, [&](ExprRef operand) { types.push_back(part(operand).value.type); });
    const bool one = types.size() == 1 || op == ExprOp::Shl || op == ExprOp::Shr;
    return one ? promoted(types[0]) : common(types[0], types[1]);
  }

  const Element &element_of(ExprRef ref) {
    std::optional<Element> &known = part(ref).element;
    if (!known) {
      known = frame_.element(ref, on_device_); // which reports, so once
    }
    return *known;
  }

  ScalarType element_type(ExprRef ref) {
    return context_.program[element_of(ref).region.buffer].type;
  }

  /// Only reads at computed indices must not happen where C would not do them.
  void find_openings() {
    for (std::uint32_t i = first_; i <= root_.index; ++i) {
      const ast::Expr &expr = file_[{i}];
      if (!part({i}).wanted || !on_device({i})) {
        continue;
      }
      const bool logical =
          expr.kind == ExprKind::Binary && (expr.op == ExprOp::And || expr.op == ExprOp::Or);
      if (logical && part(expr.operands[1]).dynamic) {
        openings_.push_back({{file_[expr.operands[1]].first}, {i}});
      } else if (expr.kind == ExprKind::Select && is_lazy_select(expr)) {
        openings_.push_back({{file_[expr.operands[1]].first}, {i}});
        openings_.push_back({{file_[expr.operands[2]].first}, {i}});
      }
    }
    std::stable_sort(openings_.begin(), openings_.end(),
                     [](const Opening &a, const Opening &b) { return a.at.index < b.at.index; });
  }

  bool is_lazy_select(const ast::Expr &expr) {
    return part(expr.operands[1]).dynamic || part(expr.operands[2]).dynamic;
  }

  void open(const Opening &opening) {
    const ast::Expr &expr = file_[opening.of];
    DeviceValue &result = part(opening.of).value;
    const std::string condition = part(expr.operands[0]).value.truth();
    if (expr.kind == ExprKind::Binary) {
      result.text = code_.variable();
      code_.line("bool " + result.text + " = " + condition + ";");
      code_.line("if (" + std::string(expr.op == ExprOp::And ? "" : "!") + result.text + ") {");
    } else if (result.text.empty()) {
      result.text = code_.variable();
      code_.line(cpp(result.type) + " " + result.text + ";");
      code_.line("if (" + condition + ") {");
    } else {
      code_.line(result.text + " = " + part(expr.operands[1]).value.text + ";");
      code_.line("} else {");
    }
  }

  void emit(ExprRef ref) {
    const ast::Expr &expr = file_[ref];
    DeviceValue &result = part(ref).value;
    if (!on_device(ref)) {
      // As an argument, so that code that differs in constants alone is one kernel.
      const bool literal =
          expr.kind == ExprKind::Literal && code_.arguments() >= most_constant_arguments;
      result.text = literal ? cpp_literal(expr.value) : code_.scalar(part(ref).host, result.type);
      return;
    }
    if (!result.text.empty()) { // it has been opened
      const DeviceValue &last = part(expr.operands[expr.kind == ExprKind::Select ? 2 : 1]).value;
      code_.line(result.text + " = " + (expr.kind == ExprKind::Select ? last.text : last.truth()) +
                 ";");
      code_.line("}");
      return;
    }
    const std::string computed = text_of(ref);
    result.text = code_.variable();
    code_.line("const " + cpp(result.type) + " " + result.text + " = " + computed + ";");
  }

  std::string text_of(ExprRef ref) {
    const ast::Expr &expr = file_[ref];
    const auto operand = [&](std::size_t i) -> const DeviceValue & {
      return part(expr.operands[i]).value;
    };
    if (expr.kind == ExprKind::Index) {
      const std::string read = element(ref, true, false);
      return is_small_float(element_type(ref)) ? "static_cast<float>(" + read + ")" : read;
    }
    if (expr.kind == ExprKind::Cast) {
      return cast(expr.type, operand(0));
    }
    if (expr.kind == ExprKind::Select) {
      return operand(0).truth() + " ? static_cast<" + cpp(part(ref).value.type) + ">(" +
             operand(1).text + ") : static_cast<" + cpp(part(ref).value.type) + ">(" +
             operand(2).text + ")";
    }
    const ExprOp op = operator_of(expr);
    switch (op) {
    case ExprOp::Not:
      return "!" + operand(0).truth();
    case ExprOp::And:
      return operand(0).truth() + " && " + operand(1).truth();
    case ExprOp::Or:
      return operand(0).truth() + " || " + operand(1).truth();
    default:
      break;
    }
    std::string arguments;
    for_each_operand(ref, [&](ExprRef each) {
      arguments += (arguments.empty() ? "" : ", ") + part(each).value.text;
    });
    return "cg_expr::" + std::string(function_name(op)) + "<" + cpp(operation_type(ref, op)) +
           ">(" + arguments + ")";
  }

  /// A 16-bit float computes on as float.
  static std::string cast(ScalarType type, const DeviceValue &value) {
    const std::string result = converted(type, value);
    return is_small_float(type) ? "static_cast<float>(" + result + ")" : result;
  }

  std::string element(ExprRef ref, bool reads, bool writes) {
    const Element &found = element_of(ref);
    const auto &buffer = context_.program[found.region.buffer];
    if (buffer.space == MemorySpace::Host && !buffer.mapped) {
      context_.diagnostics.report(Diag::HostElement, frame_.range(ref), buffer.name);
    }
    // Which element it is shows on the device only: all others may keep their values.
    const bool keeps = writes && !found.indices.empty();
    const std::string pointer = code_.pointer(found.region, buffer.type, reads || keeps, writes);
    std::string offset;
    for (const Element::Index &index : found.indices) {
      const ExprId extent = found.region.ranges[index.dimension].count;
      offset += (offset.empty() ? "" : " + ") +
                std::string("cg_expr::index(static_cast<long long>(") +
                part(index.subscript).value.text + "), " + code_.scalar(extent, ScalarType::I64) +
                ", \"" + where(ref, index) + "\")" + stride_of(buffer, index.dimension);
    }
    return pointer + "[" + (offset.empty() ? "0" : offset) + "]";
  }

  /// "dimension 1 of x[0, i[0]] (line 12)"
  std::string where(ExprRef ref, const Element::Index &index) {
    return "dimension " + std::to_string(index.dimension) + " of " + printable(frame_.text(ref)) +
           " (line " + std::to_string(context_.files.place(frame_.range(ref)).line) + ")";
  }

  /// " * s4", the elements from one index of the dimension to the next; nothing for 1.
  std::string stride_of(const cgrt::format::Buffer &buffer, std::size_t dimension) {
    ExprId stride = context_.integer(1);
    const std::vector<ExprId> shape = buffer.shape;
    for (std::size_t i = dimension + 1; i < shape.size(); ++i) {
      stride = context_.program.exprs.binary(ExprOp::Mul, stride, shape[i]);
    }
    return stride == context_.integer(1) ? "" : " * " + code_.scalar(stride, ScalarType::I64);
  }

  Frame &frame_;
  const CheckedFile &file_;
  DeviceCode &code_;
  LoweringContext &context_;
  ExprRef root_;
  DeviceParts on_device_;
  std::uint32_t first_;
  std::vector<Part> parts_; ///< of the expressions from first_ to root_
  std::vector<Opening> openings_;
};

} // namespace

std::string DeviceValue::truth() const {
  return type == ScalarType::Bool ? text : "(" + text + " != 0)";
}

std::vector<Region> regions_read(ExprRef root, Frame &frame) {
  const CheckedFile &file = frame.file();
  const DeviceParts on_device(file, root);
  std::set<ExprRef> bases; // of other elements
  std::vector<Region> regions;
  for (std::uint32_t i = root.index + 1; i-- > file[root].first;) {
    if (file[{i}].kind == ExprKind::Index) {
      bases.insert(file[{i}].operands[0]);
      if (!bases.contains({i})) {
        regions.push_back(frame.element({i}, on_device).region);
      }
    }
  }
  return regions;
}

std::optional<Value> constant_value(ExprRef root, Frame &frame, LoweringContext &context) {
  if (DeviceParts(frame.file(), root).has(root)) {
    return std::nullopt;
  }
  return context.known(frame.lower(root), frame.range(root), "this expression");
}

DeviceValue lower_device_expr(ExprRef root, Frame &frame, DeviceCode &code,
                              LoweringContext &context) {
  return DeviceExprLowering(root, frame, code, context).value();
}

// 16-bit floats are classes.
std::string converted(ScalarType type, const DeviceValue &value) {
  return is_small_float(type) ? "static_cast<" + cpp(type) + ">(static_cast<" +
                                    cpp(promoted(value.type)) + ">(" + value.text + "))"
                              : "cg_expr::to<" + cpp(type) + ">(" + value.text + ")";
}

void lower_assignment(const ast::AssignStatement &assignment, Frame &frame, DeviceCode &code,
                      LoweringContext &context) {
  const DeviceValue value = lower_device_expr(assignment.value, frame, code, context);
  DeviceExprLowering written(assignment.target, frame, code, context);
  const std::string target = written.target();
  code.line(target + " = " + converted(written.target_type(), value) + ";");
}

} // namespace cgc
