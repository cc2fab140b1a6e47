// The accesses to one buffer that later ones may conflict with, found without looking at all.
#pragma once

#include "ir/polynomial.h"

#include "format/program.h"

#include <map>
#include <optional>
#include <vector>

namespace cgc {

struct Access {
  cgrt::format::NodeId node;
  cgrt::format::Region region;
};

/// Accesses are sorted by where they lie in one dimension of the buffer, in multiples of a unit: 1,
/// or a product of parameters. Those that have no such place are looked at each time.
class AccessIndex {
public:
  /// `dimension` is the one to sort by.
  AccessIndex(Polynomials &polynomials, std::size_t dimension)
      : polynomials_(polynomials), dimension_(dimension) {}

  void add(Access access);

  /// Calls `visit(access)` for each access that may overlap the region, and removes those for which
  /// it returns true.
  template <typename Visit> void visit_near(const cgrt::format::Region &region, Visit visit) {
    const std::optional<Key> key = key_of(region);
    visit_all(unsorted_, visit);
    for (auto &[unit, sizes] : sorted_) {
      for (auto &[size, places] : sizes) {
        if (key && key->unit == unit) {
          // None of this size class that begins further to the left reaches the region.
          const std::int64_t reach = size < 62 ? std::int64_t{2} << size : INT64_MAX;
          const std::int64_t first =
              key->begin < INT64_MIN + reach ? INT64_MIN : key->begin - reach;
          visit_some(places, places.upper_bound(first), places.lower_bound(key->end), visit);
        } else {
          visit_some(places, places.begin(), places.end(), visit);
        }
      }
    }
  }

private:
  using Unit = std::vector<std::uint32_t>;
  using Places = std::multimap<std::int64_t, Access>; ///< by begin
  struct Key {
    Unit unit;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  std::optional<Key> key_of(const cgrt::format::Region &region);

  template <typename Visit> static void visit_all(std::vector<Access> &accesses, Visit &visit) {
    std::erase_if(accesses, [&](const Access &access) { return visit(access); });
  }
  template <typename Visit>
  static void visit_some(Places &places, Places::iterator begin, Places::iterator end,
                         Visit &visit) {
    while (begin != end) {
      begin = visit(begin->second) ? places.erase(begin) : std::next(begin);
    }
  }

  Polynomials &polynomials_;
  std::size_t dimension_;
  std::vector<Access> unsorted_;
  std::map<Unit, std::map<unsigned, Places>> sorted_; ///< by unit, then by log2 of the length
};

} // namespace cgc
