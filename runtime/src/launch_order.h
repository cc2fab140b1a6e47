// The order of one instance's launches, across streams.
#pragma once

#include "device.h"

#include <cgrt/cgrt.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace cgrt {

class LaunchOrder {
public:
  using Queue = std::shared_ptr<DeviceQueue>;

  explicit LaunchOrder(DeviceBackend &backend)
      : backend_(backend), own_{nullptr, backend.create_queue()}, last_(own_) {}

  /// Where the next launch goes; without a stream to the instance's own.
  DeviceQueue &next(CUstream_st *stream, Order order) {
    ++launches_;
    if (order == Order::AfterEarlier) {
      if (stream == last_.stream && beside_.empty()) [[likely]] {
        return *last_.queue;
      }
      const One next = find(stream);
      next.queue->follow(*last_.queue);
      for (const One &other : beside_) {
        next.queue->follow(*other.queue);
      }
      beside_.clear();
      last_ = next;
      return *last_.queue;
    }
    const One next = find(stream);
    if (next.queue != last_.queue) {
      beside_.push_back(next);
    }
    return *next.queue;
  }

  std::uint64_t launches() const { return launches_; }
  /// Whether nothing has been launched since the last settle().
  bool is_settled() const { return launches_ == settled_; }

  /// What is to be waited for, to see all launches so far done.
  std::vector<Queue> pending() const {
    std::vector<Queue> queues = {last_.queue};
    for (const One &other : beside_) {
      queues.push_back(other.queue);
    }
    return queues;
  }

  void wait() {
    for (const Queue &queue : pending()) {
      queue->wait();
    }
    settle();
  }

  /// All launches so far are done: streams of the caller's are not needed any more.
  void settle() {
    settled_ = launches_;
    beside_.clear();
    last_ = own_;
  }

private:
  struct One {
    CUstream_st *stream;
    Queue queue;
  };

  One find(CUstream_st *stream) const {
    if (stream == nullptr) {
      return own_;
    }
    if (stream == last_.stream) {
      return last_;
    }
    for (const One &other : beside_) {
      if (other.stream == stream) {
        return other;
      }
    }
    return {stream, backend_.wrap_queue(stream)};
  }

  DeviceBackend &backend_;
  One own_;
  One last_; ///< of the last launch in order
  std::uint64_t launches_ = 0;
  std::uint64_t settled_ = 0; ///< of them are known to be done
  std::vector<One> beside_;   ///< of launches that nothing is ordered after yet
};

} // namespace cgrt
