#include "passes/access_index.h"

#include <bit>

namespace cgc {

std::optional<AccessIndex::Key> AccessIndex::key_of(const cgrt::format::Region &region) {
  const Polynomial &begin = polynomials_.of(region.ranges[dimension_].begin);
  const Polynomial &count = polynomials_.of(region.ranges[dimension_].count);
  Key key;
  std::int64_t length = 0;
  if (count.is_constant() && begin.is_constant()) {
    key.begin = begin.constant;
    length = count.constant;
  } else {
    const bool fits = count.constant == 0 && count.terms.size() == 1 && begin.constant == 0 &&
                      (begin.terms.empty() ||
                       (begin.terms.size() == 1 && begin.terms[0].atoms == count.terms[0].atoms));
    if (!fits) {
      return std::nullopt;
    }
    key.unit = count.terms[0].atoms;
    key.begin = begin.terms.empty() ? 0 : begin.terms[0].coefficient;
    length = count.terms[0].coefficient;
  }
  if (length <= 0 || __builtin_add_overflow(key.begin, length, &key.end)) {
    return std::nullopt;
  }
  return key;
}

void AccessIndex::add(Access access) {
  if (const std::optional<Key> key = key_of(access.region)) {
    const auto length = static_cast<std::uint64_t>(key->end - key->begin);
    const auto size = static_cast<unsigned>(std::bit_width(length) - 1);
    sorted_[key->unit][size].emplace(key->begin, std::move(access));
  } else {
    unsorted_.push_back(std::move(access));
  }
}

} // namespace cgc
