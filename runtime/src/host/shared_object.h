// A shared object loaded from memory.
#pragma once

#include <cstddef>
#include <span>

namespace cgrt {

/// A file descriptor that is closed.
class FileDescriptor {
public:
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor &&other) noexcept : number_(other.number_) { other.number_ = -1; }
  FileDescriptor &operator=(FileDescriptor &&other) noexcept;

  int number() const { return number_; }
  bool valid() const { return number_ >= 0; }

private:
  int number_;
};

/// A shared object loaded from memory; unloaded by its destructor.
class SharedObject {
public:
  /// Error{Device} with the loader's reason.
  explicit SharedObject(std::span<const std::byte> image);
  ~SharedObject();
  SharedObject(const SharedObject &) = delete;
  SharedObject &operator=(const SharedObject &) = delete;

  /// Null where it does not export the name.
  void *find(const char *name) const;

private:
  FileDescriptor file_; ///< stays open: the loader tells objects apart by its name
  void *handle_;
};

} // namespace cgrt
