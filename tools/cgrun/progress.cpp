#include "progress.h"

#include <llvm/Support/Process.h>
#include <llvm/Support/raw_ostream.h>

#include <utility>

namespace cgrun {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

Progress::Progress() : start_(steady_clock::now()) {
  if (llvm::sys::Process::StandardErrIsDisplayed()) {
    thread_ = std::jthread([this](const std::stop_token &stop) { show(stop); });
  }
}

Progress::~Progress() {
  end();
}

void Progress::begin(std::string phase, std::uint64_t total) {
  const std::lock_guard lock(mutex_);
  phase_ = std::move(phase);
  total_ = total;
  done_ = 0;
}

void Progress::say(const std::string &text) {
  const std::lock_guard lock(mutex_);
  clear();
  llvm::errs() << text;
}

void Progress::end() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  const std::lock_guard lock(mutex_);
  clear();
}

void Progress::show(const std::stop_token &stop) {
  std::unique_lock lock(mutex_);
  const auto never = [] { return false; };
  ended_.wait_for(lock, stop, seconds(2), never);
  while (!stop.stop_requested()) {
    clear();
    llvm::errs() << line();
    shown_ = true;
    ended_.wait_for(lock, stop, milliseconds(500), never);
  }
}

void Progress::clear() {
  if (std::exchange(shown_, false)) {
    llvm::errs() << "\r\x1b[K";
  }
}

std::string Progress::line() const {
  const auto elapsed = duration_cast<seconds>(steady_clock::now() - start_).count();
  std::string text = "cgrun: " + phase_;
  if (total_ != 0) {
    text += ", " + std::to_string(done_.load(std::memory_order_relaxed)) + " of " +
            std::to_string(total_);
  }
  return text + ", " + std::to_string(elapsed) + " s";
}

} // namespace cgrun
