// What the embedding program has bound: C++ functions, external kernels and events.
#pragma once

#include "device.h"
#include "format/program.h"

#include <cgrt/callable.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace cgrt {

/// Parallel to the program's callables, kernels and events.
struct Bindings {
  struct Function {
    HostCall host;     ///< a callback, or what a captured function is on the host device
    StreamCall stream; ///< a captured function
  };

  struct Kernel {
    std::shared_ptr<const cgrt::Function> function; ///< on a CUDA device
    HostCall host;                                  ///< on the host device
  };

  std::vector<Function> functions;
  std::vector<Kernel> kernels; ///< of those that are not external nothing is bound
  std::vector<std::shared_ptr<DeviceEvent>> events; ///< null: not bound
  bool on_host = true; ///< which of the two forms of a captured function or kernel counts
};

/// The external kernel of that name; Error{Usage} that there is no such `what`.
format::KernelId find_external_kernel(const format::Program &program, const std::string &name,
                                      const std::string &what = "external kernel");

/// Error{Usage} where `node` launches an external kernel for which this device has no code.
void require_kernel(const format::Program &program, const Bindings &bindings,
                    const LoadedCode &code, const format::Node &node);

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

/// While one lives, this thread runs a callback, or a captured function: the instance is locked.
class CallbackScope {
public:
  CallbackScope() { ++depth; }
  ~CallbackScope() { --depth; }
  CallbackScope(const CallbackScope &) = delete;
  CallbackScope &operator=(const CallbackScope &) = delete;

  /// Error{Usage} there: what waits for the callback must not be waited for by it.
  static void refuse() {
    if (depth != 0) {
      throw Error(ErrorCode::Usage, "cgrt cannot be called from a callback or captured function");
    }
  }

private:
  static inline constinit thread_local int depth = 0;
};

} // namespace cgrt
