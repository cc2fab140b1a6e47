// What in a program depends on what: so that a change is looked at only where it matters.
#pragma once

#include "format/program.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace cgrt {

/// For each of a dense range of keys a list of values; built once, in one block.
template <typename Value> class Lists {
public:
  Lists() = default;
  /// Keeps the order in which each key's values stand.
  Lists(std::size_t keys, const std::vector<std::pair<std::uint32_t, Value>> &pairs)
      : begins_(keys + 1, 0), values_(pairs.size()) {
    for (const auto &[key, value] : pairs) {
      ++begins_[key + 1];
    }
    for (std::size_t key = 0; key < keys; ++key) {
      begins_[key + 1] += begins_[key];
    }
    std::vector<std::uint32_t> next(begins_.begin(), begins_.end());
    for (const auto &[key, value] : pairs) {
      values_[next[key]++] = value;
    }
  }

  std::span<const Value> operator[](std::uint32_t key) const {
    return std::span(values_).subspan(begins_[key], begins_[key + 1] - begins_[key]);
  }

private:
  std::vector<std::uint32_t> begins_;
  std::vector<Value> values_;
};

/// Where a node uses an expression or a buffer.
struct Use {
  enum class Where : std::uint8_t {
    Argument,    ///< of a kernel: the value itself, or the address of an element
    Destination, ///< the address, of a copy or fill
    Source,      ///< likewise
    Anywhere,
  };

  std::uint32_t node = 0; ///< counted through all graphs
  Where where = Where::Anywhere;
  bool in_place = true;              ///< CUDA can change it in an executable
  ScalarType type = ScalarType::I64; ///< of an Argument that is a value
  std::uint32_t argument = 0;
  std::string_view field; ///< of the node
};

class Dependents {
public:
  /// The program must outlive this object.
  explicit Dependents(const format::Program &program);

  /// The expressions that read a parameter, operands before their users.
  std::span<const format::ExprId> of(format::ParamId param) const { return exprs_[param.index]; }
  std::span<const Use> uses(format::ExprId expr) const { return expr_uses_[expr.index]; }
  std::span<const Use> uses(format::BufferId buffer) const { return buffer_uses_[buffer.index]; }
  /// The checks that an expression is a side of; by their number.
  std::span<const std::uint32_t> checks(format::ExprId expr) const { return checks_[expr.index]; }
  /// The buffers whose shape an expression is part of.
  std::span<const format::BufferId> shapes(format::ExprId expr) const {
    return shapes_[expr.index];
  }

  struct Place {
    format::GraphId graph;
    std::uint32_t node = 0;
  };
  Place place(std::uint32_t node) const { return places_[node]; }
  std::uint32_t node_count() const { return static_cast<std::uint32_t>(places_.size()); }

private:
  Lists<format::ExprId> exprs_;
  Lists<Use> expr_uses_, buffer_uses_;
  Lists<std::uint32_t> checks_;
  Lists<format::BufferId> shapes_;
  std::vector<Place> places_;
};

} // namespace cgrt
