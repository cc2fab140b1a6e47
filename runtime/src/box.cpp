#include "box.h"

namespace cgrt {

namespace {

/// The dimensions of a box that have more than one element, from the last to the first.
class Dimensions {
public:
  explicit Dimensions(const Box &box) : box_(box), axis_(box.rank) { skip(); }

  bool done() const { return axis_ == 0; }
  std::int64_t count() const { return box_.count[axis_ - 1]; }
  std::int64_t stride() const { return stride_; }
  void next() {
    pass();
    skip();
  }

private:
  void pass() { stride_ *= box_.extent[--axis_]; }
  void skip() {
    while (axis_ > 0 && box_.count[axis_ - 1] == 1) {
      pass();
    }
  }

  const Box &box_;
  std::size_t axis_; ///< one more than the current dimension
  std::int64_t stride_ = 1;
};

} // namespace

bool Box::empty() const {
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (count[axis] == 0) {
      return true;
    }
  }
  return false;
}

bool Box::contiguous() const {
  return empty() || Loops(*this).size() == 1;
}

std::int64_t Box::first() const {
  std::int64_t element = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    element = element * extent[axis] + begin[axis];
  }
  return element;
}

bool Box::overlaps(const Box &other) const {
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (begin[axis] >= other.begin[axis] + other.count[axis] ||
        other.begin[axis] >= begin[axis] + count[axis]) {
      return false;
    }
  }
  return !empty() && !other.empty();
}

std::string Box::text() const {
  std::string result;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    result += (axis == 0 ? "[" : ", ") + std::to_string(count[axis]);
  }
  return result + "]";
}

bool same_extents(const Box &a, const Box &b) {
  std::size_t i = 0;
  std::size_t j = 0;
  const auto skip = [](const Box &box, std::size_t &axis) {
    while (axis < box.rank && box.count[axis] == 1) {
      ++axis;
    }
  };
  for (skip(a, i), skip(b, j); i < a.rank && j < b.rank; skip(a, ++i), skip(b, ++j)) {
    if (a.count[i] != b.count[j]) {
      return false;
    }
  }
  return i == a.rank && j == b.rank;
}

Loops::Loops(const Box &a, const Box &b) {
  Dimensions in_a(a);
  Dimensions in_b(b);
  for (; !in_a.done() && !in_b.done(); in_a.next(), in_b.next()) {
    Loop &inner = loops_[size_ - 1];
    if (in_a.stride() == inner.count * inner.stride[0] &&
        in_b.stride() == inner.count * inner.stride[1]) {
      inner.count *= in_a.count();
    } else {
      loops_[size_++] = {in_a.count(), {in_a.stride(), in_b.stride()}};
    }
  }
}

} // namespace cgrt
