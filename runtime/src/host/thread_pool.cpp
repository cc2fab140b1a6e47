#include "host/thread_pool.h"

#include "host/fault_trap.h"

#include <algorithm>

namespace cgrt {

ThreadPool::ThreadPool(std::uint32_t workers) {
  threads_.reserve(workers - 1);
  for (std::uint32_t worker = 1; worker < workers; ++worker) {
    threads_.emplace_back([this, worker] { serve(worker); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread &thread : threads_) {
    thread.join();
  }
}

void ThreadPool::run(std::uint32_t workers, const Task &task) {
  const std::uint32_t participants = std::min(workers, this->workers());
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    participants_ = participants;
    busy_ = participants - 1;
    ++round_;
    error_ = nullptr;
  }
  if (participants > 1) {
    begin_.notify_all();
  }
  call(task, 0);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [this] { return busy_ == 0; });
  if (error_) {
    std::rethrow_exception(error_);
  }
}

void ThreadPool::serve(std::uint32_t worker) {
  const SignalStack stack;
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) {
      return;
    }
    seen = round_;
    if (worker >= participants_) {
      continue;
    }
    const Task &task = *task_;
    lock.unlock();
    call(task, worker);
    lock.lock();
    if (--busy_ == 0) {
      end_.notify_one();
    }
  }
}

void ThreadPool::call(const Task &task, std::uint32_t worker) {
  try {
    task(worker);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!error_) {
      error_ = std::current_exception();
    }
  }
}

} // namespace cgrt
