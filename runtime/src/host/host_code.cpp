#include "host/host_code.h"

#include <span>
#include <string>

namespace cgrt {

namespace {

[[noreturn]] void fail(const std::string &what) {
  throw Error(ErrorCode::Device, "the program's host code cannot be used: " + what);
}

std::span<const std::byte> host_image(const format::Program &program) {
  std::string others;
  for (const format::Image &image : program.images) {
    if (image.kind != format::ImageKind::HostSharedObject) {
      continue;
    }
    if (image.architecture == host_abi::architecture) {
      return image.bytes;
    }
    others += (others.empty() ? "" : ", ") + image.architecture;
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
  object_.emplace(host_image(program));
  check_version(*object_);
  for (const format::Kernel &kernel : program.kernels) {
    const std::string symbol = std::string(format::host_symbol_prefix) + kernel.symbol;
    void *entry = object_->find(symbol.c_str());
    if (entry == nullptr) {
      throw Error(ErrorCode::Device, "kernel " + kernel.name + ": the host code does not hold it",
                  program.locate(kernel.place));
    }
    functions_.emplace_back(reinterpret_cast<host_abi::Entry *>(entry));
  }
}

} // namespace cgrt
