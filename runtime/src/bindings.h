// What the embedding program has bound: C++ functions and events.
#pragma once

#include "device.h"
#include "format/program.h"

#include <cgrt/callable.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace cgrt {

/// Parallel to the program's callables and events.
struct Bindings {
  struct Function {
    HostCall host;     ///< a callback, or what a captured function is on the host device
    StreamCall stream; ///< a captured function
  };

  std::vector<Function> functions;
  std::vector<std::shared_ptr<DeviceEvent>> events; ///< null: not bound
  bool on_host = true; ///< which of a captured function's two forms the device takes
};

/// What callbacks of one executable threw. Callbacks run on a thread of CUDA's.
class CallbackFailures {
public:
  void add(const Error &error) {
    const std::lock_guard lock(mutex_);
    if (!first_) {
      first_ = error;
    }
  }
  /// The first since the last call.
  std::optional<Error> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(first_, std::nullopt);
  }

private:
  std::mutex mutex_;
  std::optional<Error> first_;
};

/// While one lives, this thread runs a callback.
class CallbackScope {
public:
  CallbackScope() { ++depth; }
  ~CallbackScope() { --depth; }
  CallbackScope(const CallbackScope &) = delete;
  CallbackScope &operator=(const CallbackScope &) = delete;

  /// Error{Usage} there: what waits for the callback must not be waited for by it.
  static void refuse() {
    if (depth != 0) {
      throw Error(ErrorCode::Usage, "cgrt cannot be called from a callback");
    }
  }

private:
  static thread_local int depth;
};

} // namespace cgrt
