// A program's host code, loaded.
#pragma once

#include "device.h"
#include "format/host_abi.h"
#include "host/shared_object.h"

#include <memory>
#include <vector>

namespace cgrt {

class HostFunction : public Function {
public:
  HostFunction(host_abi::Entry *address, bool once) : entry_(address), once_(once) {}
  host_abi::Entry *entry() const { return entry_; }
  /// Whether it is a `host { }` body: called once for a whole launch.
  bool once() const { return once_; }

private:
  host_abi::Entry *entry_;
  bool once_;
};

class HostCode : public LoadedCode {
public:
  /// Loads the images for this machine, which together must hold all kernels but external ones.
  /// Error{Device} otherwise.
  explicit HostCode(const format::Program &program);

  const Function &function(format::KernelId kernel) const override {
    return functions_[kernel.index];
  }
  bool holds(format::KernelId kernel) const override {
    return functions_[kernel.index].entry() != nullptr;
  }

private:
  void load_objects(const format::Program &program);
  HostFunction find(const format::Program &program, format::KernelId kernel) const;

  /// Parallel to the program's images; null for those of other devices.
  std::vector<std::unique_ptr<SharedObject>> objects_;
  std::vector<HostFunction> functions_; ///< parallel to the program's kernels
};

} // namespace cgrt
