// Wall-clock time of the phases, for --time-passes.
#pragma once

#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cgc {

class PhaseTimer {
public:
  explicit PhaseTimer(bool enabled) : enabled_(enabled) {}

  /// Runs `phase` and returns what it returns.
  template <typename Phase> auto time(std::string_view name, Phase &&phase) {
    const Recorder recorder(*this, name);
    return std::forward<Phase>(phase)();
  }

  /// One line for each phase so far, in milliseconds; nothing unless enabled.
  void print(llvm::raw_ostream &out) const {
    for (const auto &[name, milliseconds] : times_) {
      out << llvm::format("%10.3f ms  ", milliseconds) << name << "\n";
    }
  }

private:
  using Clock = std::chrono::steady_clock;

  /// Records on destruction, so that it does not matter what the phase returns.
  class Recorder {
  public:
    Recorder(PhaseTimer &timer, std::string_view name) : timer_(timer), name_(name) {}
    Recorder(const Recorder &) = delete;
    Recorder &operator=(const Recorder &) = delete;
    ~Recorder() {
      if (timer_.enabled_) {
        const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start_;
        timer_.times_.emplace_back(name_, elapsed.count());
      }
    }

  private:
    PhaseTimer &timer_;
    std::string_view name_;
    Clock::time_point start_ = Clock::now();
  };

  bool enabled_;
  std::vector<std::pair<std::string, double>> times_;
};

} // namespace cgc
