#include "ir/polynomial.h"

#include "format/scalar_type.h"

#include <algorithm>
#include <limits>

namespace cgc {

using cgrt::format::Expr;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::ScalarClass;
using cgrt::format::ValueKind;

namespace {

// Larger ones are rare, and are taken as atoms.
constexpr std::size_t max_terms = 16;
constexpr std::size_t max_degree = 6;

bool add_term(Polynomial &sum, Polynomial::Term term) {
  const auto place = std::lower_bound(
      sum.terms.begin(), sum.terms.end(), term,
      [](const Polynomial::Term &a, const Polynomial::Term &b) { return a.atoms < b.atoms; });
  if (place == sum.terms.end() || place->atoms != term.atoms) {
    sum.terms.insert(place, std::move(term));
    return true;
  }
  if (__builtin_add_overflow(place->coefficient, term.coefficient, &place->coefficient)) {
    return false;
  }
  if (place->coefficient == 0) {
    sum.terms.erase(place);
  }
  return true;
}

std::optional<Polynomial> multiply(const Polynomial &a, const Polynomial &b) {
  Polynomial product;
  if (__builtin_mul_overflow(a.constant, b.constant, &product.constant)) {
    return std::nullopt;
  }
  const auto add_scaled = [&product](const Polynomial &from, std::int64_t factor) {
    return std::all_of(from.terms.begin(), from.terms.end(), [&](Polynomial::Term term) {
      return factor == 0 || (!__builtin_mul_overflow(term.coefficient, factor, &term.coefficient) &&
                             add_term(product, std::move(term)));
    });
  };
  if (!add_scaled(a, b.constant) || !add_scaled(b, a.constant)) {
    return std::nullopt;
  }
  for (const Polynomial::Term &left : a.terms) {
    for (const Polynomial::Term &right : b.terms) {
      Polynomial::Term term;
      std::merge(left.atoms.begin(), left.atoms.end(), right.atoms.begin(), right.atoms.end(),
                 std::back_inserter(term.atoms));
      if (__builtin_mul_overflow(left.coefficient, right.coefficient, &term.coefficient) ||
          term.atoms.size() > max_degree || !add_term(product, std::move(term))) {
        return std::nullopt;
      }
    }
  }
  return product;
}

} // namespace

std::optional<Polynomial> add(const Polynomial &a, const Polynomial &b, std::int64_t factor) {
  Polynomial sum = a;
  std::int64_t scaled = 0;
  if (__builtin_mul_overflow(b.constant, factor, &scaled) ||
      __builtin_add_overflow(sum.constant, scaled, &sum.constant)) {
    return std::nullopt;
  }
  for (Polynomial::Term term : b.terms) {
    if (__builtin_mul_overflow(term.coefficient, factor, &term.coefficient) ||
        !add_term(sum, std::move(term))) {
      return std::nullopt;
    }
  }
  return sum;
}

const Polynomial &Polynomials::of(ExprId id) {
  while (known_.size() <= id.index) { // operands stand before their users
    known_.push_back(make({static_cast<std::uint32_t>(known_.size())}));
  }
  return known_[id.index];
}

Polynomial Polynomials::make(ExprId id) const {
  const Expr &expr = table_[id];
  const auto operand = [this](ExprId part) -> const Polynomial & { return known_[part.index]; };
  std::optional<Polynomial> result;
  switch (expr.op) {
  case ExprOp::Const: {
    const auto value = cgrt::format::Value::from_bits(expr.kind, expr.bits);
    if (!value.is_float() && value.as_wide() <= std::numeric_limits<std::int64_t>::max()) {
      return {static_cast<std::int64_t>(value.as_wide()), {}};
    }
    break;
  }
  case ExprOp::Add:
  case ExprOp::Sub:
    if (expr.kind != ValueKind::Float) {
      result = add(operand(expr.a), operand(expr.b), expr.op == ExprOp::Add ? 1 : -1);
    }
    break;
  case ExprOp::Neg:
    if (expr.kind != ValueKind::Float) {
      result = add({}, operand(expr.a), -1);
    }
    break;
  case ExprOp::Mul:
    if (expr.kind != ValueKind::Float) {
      result = multiply(operand(expr.a), operand(expr.b));
    }
    break;
  case ExprOp::Cast: // an integer that does not fit is a fault
    if (expr.kind != ValueKind::Float && expr.type != cgrt::ScalarType::Bool &&
        table_[expr.a].kind != ValueKind::Float) {
      return operand(expr.a);
    }
    break;
  default:
    break;
  }
  return result && result->terms.size() <= max_terms ? *std::move(result) : atom(id);
}

void Polynomials::assume_nonnegative(ExprId id) {
  const Polynomial &polynomial = of(id);
  if (polynomial.terms.size() == 1 && polynomial.constant == 0 &&
      polynomial.terms[0].coefficient > 0) {
    nonnegative_.insert(polynomial.terms[0].atoms);
  }
}

bool Polynomials::nonnegative(const Polynomial &polynomial) const {
  const auto known_atom = [this](std::uint32_t atom) {
    const Expr &expr = table_[{atom}];
    const bool by_type =
        expr.op == ExprOp::Param && cgrt::format::class_of(expr.type) == ScalarClass::Unsigned;
    return by_type || nonnegative_.contains({atom});
  };
  const auto known_term = [&](const Polynomial::Term &term) {
    return term.coefficient > 0 && (nonnegative_.contains(term.atoms) ||
                                    std::all_of(term.atoms.begin(), term.atoms.end(), known_atom));
  };
  return polynomial.constant >= 0 &&
         std::all_of(polynomial.terms.begin(), polynomial.terms.end(), known_term);
}

} // namespace cgc
