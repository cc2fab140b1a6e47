#include "kernels/temporary_folder.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <unistd.h>

namespace cgc {

namespace {

/// The folders that are there, for signals; a handler can be told in no other way. It takes signals
/// only while there are any, and hands them on to who took them before.
class Interrupts {
public:
  static Interrupts &instance() {
    static Interrupts interrupts;
    return interrupts;
  }

  void add(const TemporaryFolder *folder) {
    const std::lock_guard lock(mutex_);
    if (count_++ == 0) {
      take_signals();
    }
    const auto free = std::find(folders_.begin(), folders_.end(), nullptr);
    if (free != folders_.end()) { // else it is removed by its destructor alone
      *free = folder;
    }
  }

  void remove(const TemporaryFolder *folder) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find(folders_.begin(), folders_.end(), folder);
    if (found != folders_.end()) {
      *found = nullptr;
    }
    if (--count_ == 0) {
      give_signals_back();
    }
  }

private:
  static constexpr std::array<int, 3> signals = {SIGHUP, SIGINT, SIGTERM};

  static void on_signal(int number) {
    Interrupts &self = instance();
    for (const std::atomic<const TemporaryFolder *> &folder : self.folders_) {
      if (const TemporaryFolder *there = folder) {
        there->remove();
      }
    }
    const auto index = std::find(signals.begin(), signals.end(), number) - signals.begin();
    sigaction(number, &self.before_[static_cast<std::size_t>(index)], nullptr);
    raise(number); // arrives when this handler returns
  }

  void take_signals() {
    struct sigaction ours = {};
    ours.sa_handler = on_signal;
    ours.sa_flags = SA_RESTART;
    sigemptyset(&ours.sa_mask);
    for (std::size_t i = 0; i < signals.size(); ++i) {
      sigaction(signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) {
        sigaction(signals[i], &ours, nullptr);
      }
    }
  }

  void give_signals_back() {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      struct sigaction now = {};
      sigaction(signals[i], nullptr, &now);
      if (now.sa_handler == on_signal) { // else someone has taken it since
        sigaction(signals[i], &before_[i], nullptr);
      }
    }
  }

  std::mutex mutex_;
  std::size_t count_ = 0;
  std::array<std::atomic<const TemporaryFolder *>, 8> folders_{};
  std::array<struct sigaction, signals.size()> before_{};
};

} // namespace

TemporaryFolder::TemporaryFolder(const std::vector<std::string> &files) {
  llvm::SmallString<128> path;
  error_ = llvm::sys::fs::createUniqueDirectory("cgraph", path);
  if (error_) {
    return;
  }
  path_ = path.str().str();
  for (const std::string &name : files) {
    files_.push_back(path_ + "/" + name);
  }
  Interrupts::instance().add(this);
}

TemporaryFolder::~TemporaryFolder() {
  if (!error_) {
    Interrupts::instance().remove(this);
    remove();
  }
}

void TemporaryFolder::remove() const noexcept {
  for (const std::string &file : files_) {
    unlink(file.c_str());
  }
  rmdir(path_.c_str());
}

} // namespace cgc
