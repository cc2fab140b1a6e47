#include "ir/region_relation.h"

namespace cgc {

using cgrt::format::ExprId;
using cgrt::format::Range;
using cgrt::format::Region;

namespace {

/// What holds of two ranges, or one value, for sure.
class Distance {
public:
  explicit Distance(Polynomials &polynomials) : polynomials_(polynomials) {}

  /// The end of `a` lies at least `gap` before the begin of `b`.
  bool ends_before(const Range &a, const Range &b, std::int64_t gap) {
    Polynomial limit;
    limit.constant = -gap;
    return holds(limit, {{b.begin, 1}, {a.begin, -1}, {a.count, -1}});
  }
  /// `a` begins at least `gap` before the end of `b`.
  bool begins_before_end(const Range &a, const Range &b, std::int64_t gap) {
    Polynomial limit;
    limit.constant = -gap;
    return holds(limit, {{b.begin, 1}, {b.count, 1}, {a.begin, -1}});
  }
  bool begins_at_or_before(const Range &a, const Range &b) {
    return holds({}, {{b.begin, 1}, {a.begin, -1}});
  }
  bool ends_at_or_after(const Range &a, const Range &b) {
    return holds({}, {{a.begin, 1}, {a.count, 1}, {b.begin, -1}, {b.count, -1}});
  }
  bool at_least(ExprId value, std::int64_t least) {
    Polynomial limit;
    limit.constant = -least;
    return holds(limit, {{value, 1}});
  }
  bool is_zero(ExprId value) { return polynomials_.of(value) == Polynomial{}; }

private:
  struct Part {
    ExprId id;
    std::int64_t factor;
  };

  bool holds(Polynomial sum, std::initializer_list<Part> parts) {
    for (const Part &part : parts) {
      auto next = add(sum, polynomials_.of(part.id), part.factor);
      if (!next) {
        return false;
      }
      sum = *std::move(next);
    }
    return polynomials_.nonnegative(sum);
  }

  Polynomials &polynomials_;
};

} // namespace

Overlap overlap(Polynomials &polynomials, const Region &a, const Region &b) {
  if (a.buffer != b.buffer) {
    return Overlap::No;
  }
  Distance distance(polynomials);
  Overlap result = Overlap::Yes;
  for (std::size_t i = 0; i < a.ranges.size(); ++i) {
    const Range &left = a.ranges[i];
    const Range &right = b.ranges[i];
    const bool empty = distance.is_zero(left.count) || distance.is_zero(right.count);
    if (empty || distance.ends_before(left, right, 0) || distance.ends_before(right, left, 0)) {
      return Overlap::No;
    }
    const bool meets = distance.begins_before_end(left, right, 1) &&
                       distance.begins_before_end(right, left, 1) &&
                       distance.at_least(left.count, 1) && distance.at_least(right.count, 1);
    result = meets ? result : Overlap::Maybe;
  }
  return result;
}

bool covers(Polynomials &polynomials, const Region &a, const Region &b) {
  Distance distance(polynomials);
  for (std::size_t i = 0; i < a.ranges.size(); ++i) {
    if (a.ranges[i].begin == b.ranges[i].begin && a.ranges[i].count == b.ranges[i].count) {
      continue;
    }
    if (!distance.begins_at_or_before(a.ranges[i], b.ranges[i]) ||
        !distance.ends_at_or_after(a.ranges[i], b.ranges[i])) {
      return false;
    }
  }
  return true;
}

void assume_extents(Polynomials &polynomials, const cgrt::format::Program &program) {
  for (const auto &buffer : program.buffers) {
    for (const ExprId extent : buffer.shape) {
      polynomials.assume_nonnegative(extent);
    }
  }
}

} // namespace cgc
