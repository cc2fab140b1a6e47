// Worker threads that live as long as their device.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cgrt {

/// Not thread-safe: one run() at a time. Its threads have a SignalStack.
class ThreadPool {
public:
  using Task = std::function<void(std::uint32_t worker)>;

  /// `workers` counts the caller of run() too: at least 1.
  explicit ThreadPool(std::uint32_t workers);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  std::uint32_t workers() const { return static_cast<std::uint32_t>(threads_.size()) + 1; }

  /// Calls `task` once on each of the first `workers` workers, number 0 being the calling thread,
  /// and returns when all are done. Rethrows the first exception.
  void run(std::uint32_t workers, const Task &task);

private:
  void serve(std::uint32_t worker);
  void call(const Task &task, std::uint32_t worker);

  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  const Task *task_ = nullptr;     ///< of the current round
  std::uint32_t participants_ = 0; ///< workers of the current round
  std::uint32_t busy_ = 0;         ///< workers other than 0 that are not done with it
  std::uint64_t round_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;
  std::vector<std::thread> threads_; ///< workers 1, 2, …
};

} // namespace cgrt
