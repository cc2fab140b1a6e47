#include "statistics.h"

#include "elements.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace cgrun {

namespace {

/// Sums doubles with Neumaier's compensation.
class FloatSum {
public:
  void add(double value) {
    const double total = sum_ + value;
    lost_ += std::fabs(sum_) >= std::fabs(value) ? (sum_ - total) + value : (value - total) + sum_;
    sum_ = total;
  }
  // Past an infinity the compensation is NaN and the plain sum is right.
  double value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

private:
  double sum_ = 0;
  double lost_ = 0;
};

class IntegerSum {
public:
  template <typename T> void add(T value) { sum_ += value; }
  double value() const { return static_cast<double>(sum_); }

private:
  __extension__ __int128 sum_ = 0;
};

template <typename T> bool is_nan([[maybe_unused]] T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

/// T is what for_each_element() hands out.
template <typename T> class Collector {
public:
  using Wide = std::conditional_t<std::is_floating_point_v<T>, double, T>;

  void add(T value) {
    if (count_ == 0 || is_nan(value)) {
      min_ = max_ = value;
    } else if (!is_nan(min_)) { // once NaN, always NaN
      min_ = std::min<Wide>(min_, value);
      max_ = std::max<Wide>(max_, value);
    }
    sum_.add(value);
    ++count_;
  }

  std::optional<Statistics> result() const {
    if (count_ == 0) {
      return std::nullopt;
    }
    return Statistics{min_, max_, sum_.value() / static_cast<double>(count_)};
  }

private:
  std::size_t count_ = 0;
  Wide min_ = 0;
  Wide max_ = 0;
  std::conditional_t<std::is_floating_point_v<T>, FloatSum, IntegerSum> sum_;
};

} // namespace

std::optional<Statistics> statistics(cgrt::ScalarType type, std::span<const std::byte> bytes) {
  std::variant<Collector<std::int64_t>, Collector<std::uint64_t>, Collector<float>,
               Collector<double>>
      collector;
  for_each_element(type, bytes, [&collector](auto value) {
    using Element = Collector<decltype(value)>;
    if (!std::holds_alternative<Element>(collector)) {
      collector.emplace<Element>();
    }
    std::get<Element>(collector).add(value);
  });
  return std::visit([](const auto &collected) { return collected.result(); }, collector);
}

} // namespace cgrun
