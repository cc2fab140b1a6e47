#include "host/host_code.h"

#include <algorithm>
#include <string>

namespace cgrt {

namespace {

[[noreturn]] void fail(const std::string &what) {
  throw Error(ErrorCode::Device, "the program's host code cannot be used: " + what);
}

bool is_for_this_machine(const format::Image &image) {
  return image.kind == format::ImageKind::HostSharedObject &&
         image.architecture == host_abi::architecture;
}

/// There is no image for this machine.
[[noreturn]] void refuse(const format::Program &program) {
  std::string others;
  for (const format::Image &image : program.images) {
    if (image.kind == format::ImageKind::HostSharedObject &&
        others.find(image.architecture) == std::string::npos) {
      others += (others.empty() ? "" : ", ") + image.architecture;
    }
  }
  fail(others.empty() ? std::string("there is none; compile the program for the host device too")
                      : "it is for " + others + ", this machine is " + host_abi::architecture);
}

void check_version(const SharedObject &object) {
  const auto *version = static_cast<const unsigned *>(object.find(host_abi::version_symbol));
  if (version == nullptr) {
    fail("it does not tell its version");
  }
  if (*version != host_abi::version) {
    fail("it is of version " + std::to_string(*version) + ", this cgrt takes version " +
         std::to_string(host_abi::version) + "; compile the program again");
  }
}

} // namespace

HostCode::HostCode(const format::Program &program) {
  if (program.kernels.empty()) {
    return;
  }
  load_objects(program);
  functions_.reserve(program.kernels.size());
  for (std::uint32_t index = 0; index < program.kernels.size(); ++index) {
    functions_.push_back(find(program, {index}));
  }
}

void HostCode::load_objects(const format::Program &program) {
  const bool needs_image = std::any_of(program.kernels.begin(), program.kernels.end(),
                                       [](const format::Kernel &it) { return !it.external; });
  if (needs_image &&
      std::none_of(program.images.begin(), program.images.end(), is_for_this_machine)) {
    refuse(program);
  }
  objects_.resize(program.images.size());
  for (std::size_t index = 0; index < objects_.size(); ++index) {
    if (is_for_this_machine(program.images[index])) {
      objects_[index] = std::make_unique<SharedObject>(program.images[index].bytes);
      check_version(*objects_[index]);
    }
  }
}

HostFunction HostCode::find(const format::Program &program, format::KernelId id) const {
  const format::Kernel &kernel = program[id];
  for (std::size_t index = 0; index < objects_.size(); ++index) {
    const std::vector<format::KernelId> &held = program.images[index].kernels;
    if (objects_[index] == nullptr || !std::binary_search(held.begin(), held.end(), id)) {
      continue;
    }
    for (const bool once : {false, true}) {
      const std::string_view prefix =
          once ? format::host_once_symbol_prefix : format::host_symbol_prefix;
      if (void *entry = objects_[index]->find((std::string(prefix) + kernel.symbol).c_str())) {
        return {reinterpret_cast<host_abi::Entry *>(entry), once};
      }
    }
  }
  if (kernel.external) { // without `host { }`
    return {nullptr, false};
  }
  throw Error(ErrorCode::Device, "kernel " + kernel.name + ": the host code does not hold it",
              program.locate(kernel.place));
}

} // namespace cgrt
