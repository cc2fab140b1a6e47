// A program's host code, loaded.
#pragma once

#include "device.h"
#include "format/host_abi.h"
#include "host/shared_object.h"

#include <optional>
#include <vector>

namespace cgrt {

class HostFunction : public Function {
public:
  explicit HostFunction(host_abi::Entry *address) : entry_(address) {}
  host_abi::Entry *entry() const { return entry_; }

private:
  host_abi::Entry *entry_;
};

class HostCode : public LoadedCode {
public:
  /// Loads the image for this machine, which must hold all kernels; a program without kernels needs
  /// none. Error{Device} otherwise.
  explicit HostCode(const format::Program &program);

  const Function &function(format::KernelId kernel) const override {
    return functions_[kernel.index];
  }

private:
  std::optional<SharedObject> object_;
  std::vector<HostFunction> functions_; ///< parallel to the program's kernels
};

} // namespace cgrt
