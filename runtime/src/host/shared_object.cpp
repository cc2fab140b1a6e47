#include "host/shared_object.h"

#include <cgrt/types.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace cgrt {

namespace {

[[noreturn]] void fail(const std::string &what) {
  throw Error(ErrorCode::Device, "a shared object cannot be loaded: " + what);
}

[[noreturn]] void fail_with(int code, const std::string &what) {
  fail(what + ": " + std::generic_category().message(code));
}

/// The loader maps what the headers say and would end the process where the file ends too early.
void check_whole(std::span<const std::byte> image) {
  Elf64_Ehdr header{};
  if (image.size() < sizeof header || std::memcmp(image.data(), ELFMAG, SELFMAG) != 0) {
    fail("it is no shared object");
  }
  std::memcpy(&header, image.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (header.e_phoff > image.size() || image.size() - header.e_phoff < (i + 1) * sizeof segment) {
      fail("it is cut off");
    }
    std::memcpy(&segment, image.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_offset > image.size() || segment.p_filesz > image.size() - segment.p_offset) {
      fail("it is cut off");
    }
  }
}

void write_all(const FileDescriptor &file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      fail_with(errno, "it cannot be written to a file");
    }
    bytes = bytes.subspan(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
}

/// A file without a name, in memory where the kernel allows it.
FileDescriptor anonymous_file() {
  FileDescriptor memory(memfd_create("cgraph-host-code", MFD_CLOEXEC));
  if (memory.valid()) {
    return memory;
  }
  const char *folder = std::getenv("TMPDIR");
  std::string path = std::string(folder == nullptr ? "/tmp" : folder) + "/cgraph-XXXXXX";
  FileDescriptor disk(mkostemp(path.data(), O_CLOEXEC));
  if (!disk.valid()) {
    fail_with(errno, "no file can be made at " + path);
  }
  unlink(path.c_str());
  return disk;
}

std::string path_of(const FileDescriptor &file) {
  return "/proc/self/fd/" + std::to_string(file.number());
}

/// The loader takes a path it has seen for the object it loaded then, and an object may stay loaded
/// when its file is closed. So the file gets a number that no loaded object has for a name.
FileDescriptor with_fresh_name(FileDescriptor file) {
  while (void *other = dlopen(path_of(file).c_str(), RTLD_NOW | RTLD_NOLOAD)) {
    dlclose(other);
    FileDescriptor copy(fcntl(file.number(), F_DUPFD_CLOEXEC, file.number() + 1));
    if (!copy.valid()) {
      fail_with(errno, "no file descriptor is left");
    }
    file = std::move(copy);
  }
  return file;
}

FileDescriptor file_of(std::span<const std::byte> image) {
  check_whole(image);
  FileDescriptor file = anonymous_file();
  write_all(file, image);
  return with_fresh_name(std::move(file));
}

} // namespace

FileDescriptor::~FileDescriptor() {
  if (valid()) {
    close(number_);
  }
}

FileDescriptor &FileDescriptor::operator=(FileDescriptor &&other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

SharedObject::SharedObject(std::span<const std::byte> image)
    : file_(file_of(image)), handle_(dlopen(path_of(file_).c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) {
    const char *reason = dlerror();
    fail(reason == nullptr ? "the loader gives no reason" : reason);
  }
}

SharedObject::~SharedObject() {
  dlclose(handle_);
}

void *SharedObject::find(const char *name) const {
  return dlsym(handle_, name);
}

} // namespace cgrt
