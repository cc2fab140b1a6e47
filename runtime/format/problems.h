// What verify() and its parts find.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cgrt::format {

struct Program;

/// Keeps the first `limit` problems and counts them all.
class Problems {
public:
  explicit Problems(std::size_t limit) : limit_(limit) {}

  /// `where` names the thing under inspection.
  void add(const std::string &where, std::string_view what) {
    ++count_;
    if (texts_.size() < limit_) {
      texts_.push_back(where + ": ");
      texts_.back() += what;
    }
  }
  std::size_t count() const { return count_; }
  std::vector<std::string> take() { return std::move(texts_); }

private:
  std::size_t limit_;
  std::size_t count_ = 0;
  std::vector<std::string> texts_;
};

/// The part of verify() about expressions: each by itself, and that operands stand before it.
void verify_exprs(const Program &program, Problems &problems);

/// The part about what kernels launch, and about graphs for device launch; all else is sound.
void verify_launches(const Program &program, Problems &problems);

} // namespace cgrt::format
