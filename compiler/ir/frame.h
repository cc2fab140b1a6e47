// What the names of one file stand for while its statements are lowered.
#pragma once

#include "ir/device_parts.h"
#include "ir/lowering_context.h"
#include "ir/view.h"
#include "sema/host_expr.h"

#include <map>
#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

namespace cgc {

/// A def's argument: a scalar or a slice.
using Bound = std::variant<cgrt::format::ExprId, View>;

/// An element of a buffer as a device expression reads or writes it.
struct Element {
  struct Index {
    std::size_t dimension; ///< of the buffer
    ast::ExprRef subscript;
  };
  cgrt::format::Region region; ///< within which it lies
  std::vector<Index> indices;  ///< those that the device computes, from the region's first element
};

/// One for each graph and for each call of a def. Expressions and references are lowered in it.
class Frame {
public:
  Frame(LoweringContext &context, const CheckedFile &file, std::vector<Bound> arguments = {});
  Frame(const Frame &) = delete;
  Frame &operator=(const Frame &) = delete;

  const CheckedFile &file() const { return file_; }
  const SourceRange &range(ast::ExprRef ref) const { return file_[ref].range; }
  std::string text(ast::ExprRef ref) const {
    return std::string(context_.files.text(file_[ref].range));
  }

  cgrt::format::ExprId lower(ast::ExprRef root);
  /// As a scalar of this type: floats are rounded to it, integers keep their value. Reports a value
  /// that is known not to fit; the graph builder checks those of nodes again.
  cgrt::format::ExprId lower_as(cgrt::ScalarType type, ast::ExprRef root);
  /// Reports slices that are out of range.
  View view(ast::ExprRef root) { return view(root, nullptr); }
  /// An element: of a dimension whose subscript the device computes, the view has all.
  Element element(ast::ExprRef root, const DeviceParts &on_device);
  /// An expression that has to be constant; nothing after reporting, as of `user`, that it is not.
  std::optional<std::int64_t> constant_integer(ast::ExprRef root, std::string_view user,
                                               cgrt::ScalarType type = cgrt::ScalarType::I64);

  void set_loop(std::uint32_t index, std::int64_t value) {
    loops_[index] = context_.integer(value);
  }
  void set_local_const(std::uint32_t index, cgrt::format::ExprId value) {
    local_consts_[index] = value;
  }
  /// The first of the instances that a stream or event, or an array of them, stands for.
  void set_handle(const Symbol &symbol, std::uint32_t first) { handles_[symbol] = first; }
  /// None where its declaration has an error.
  std::optional<std::uint32_t> handle(const Symbol &symbol) const {
    const auto found = handles_.find(symbol);
    return found == handles_.end() ? std::nullopt : std::optional(found->second);
  }
  void set_buffer(std::uint32_t index, cgrt::format::BufferId buffer) { buffers_[index] = buffer; }

private:
  /// What tells subscripts that the device computes, and takes them.
  struct Dynamic {
    const DeviceParts &on_device;
    std::vector<Element::Index> indices;
  };

  View view(ast::ExprRef root, Dynamic *dynamic);
  cgrt::format::BufferId buffer(const Symbol &symbol) const;
  cgrt::format::ExprId scalar(const Symbol &symbol);
  View slice(const View &base, const ast::Expr &index, Dynamic *dynamic);
  void slice_dimension(View &result, std::size_t dimension, const ast::Expr &part, ast::ExprRef ref,
                       bool is_element);
  void require_index(cgrt::format::ExprId index, cgrt::format::ExprId extent, const ast::Expr &part,
                     const std::string &name);
  bool check_bounds(const cgrt::format::Range &within, bool whole, cgrt::format::ExprId begin,
                    cgrt::format::ExprId end, const ast::Expr &part, std::string_view name);

  LoweringContext &context_;
  const CheckedFile &file_;
  std::vector<Bound> arguments_;
  ExprEnvironment environment_;
  std::unordered_map<std::uint32_t, cgrt::format::ExprId> loops_, local_consts_;
  std::unordered_map<std::uint32_t, cgrt::format::BufferId> buffers_;
  std::map<Symbol, std::uint32_t> handles_;
};

} // namespace cgc
