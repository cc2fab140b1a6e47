// The line that shows, on a terminal, what takes so long.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace cgrun {

/// Shows nothing for the first two seconds, then one line on standard error, renewed twice a
/// second, if that is a terminal. Members may be called from one thread at a time.
class Progress {
public:
  Progress();
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// What goes on from now: "compiling saxpy.cgraph". `total` steps, or 0 for one without steps.
  void begin(std::string phase, std::uint64_t total = 0);
  void step() { done_.fetch_add(1, std::memory_order_relaxed); }
  /// Writes other text to standard error.
  void say(const std::string &text);
  /// Takes the line away for good.
  void end();

private:
  void show(const std::stop_token &stop);
  void clear();
  std::string line() const;

  std::chrono::steady_clock::time_point start_;
  std::atomic<std::uint64_t> done_ = 0;
  std::mutex mutex_; ///< guards standard error and the three below
  std::string phase_;
  std::uint64_t total_ = 0;
  bool shown_ = false;
  std::condition_variable_any ended_;
  std::jthread thread_; ///< last: it uses the others
};

} // namespace cgrun
