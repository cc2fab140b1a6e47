// Expressions as polynomials over what they cannot be taken apart into, so that the distance of two
// offsets shows whatever way they were written.
#pragma once

#include "format/expr.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

namespace cgc {

/// An integer constant plus products of atoms with integer coefficients.
struct Polynomial {
  struct Term {
    std::vector<std::uint32_t> atoms; ///< expressions, ascending; at least one
    std::int64_t coefficient = 0;     ///< not 0

    bool operator==(const Term &) const = default;
  };
  std::int64_t constant = 0;
  std::vector<Term> terms; ///< ascending by atoms, each product once

  bool is_constant() const { return terms.empty(); }
  bool operator==(const Polynomial &) const = default;
};

/// Nothing where a coefficient does not fit.
std::optional<Polynomial> add(const Polynomial &a, const Polynomial &b, std::int64_t factor = 1);

class Polynomials {
public:
  /// The table may grow, but must outlive this.
  explicit Polynomials(const cgrt::format::ExprTable &table) : table_(table) {}

  /// Of an integer expression. Equal ones compute the same value, or a fault. The address stays
  /// valid.
  const Polynomial &of(cgrt::format::ExprId id);

  bool equal(cgrt::format::ExprId a, cgrt::format::ExprId b) { return a == b || of(a) == of(b); }

  /// From now on the value of `id` is taken to be at least 0: an extent, which is checked.
  void assume_nonnegative(cgrt::format::ExprId id);

  /// Whether it is at least 0 for all values of its atoms that the assumptions allow, as far as
  /// that shows.
  bool nonnegative(const Polynomial &polynomial) const;

private:
  Polynomial make(cgrt::format::ExprId id) const;
  static Polynomial atom(cgrt::format::ExprId id) { return {0, {{{id.index}, 1}}}; }

  const cgrt::format::ExprTable &table_;
  std::deque<Polynomial> known_;                     ///< parallel to the table's first expressions
  std::set<std::vector<std::uint32_t>> nonnegative_; ///< products of atoms
};

} // namespace cgc
