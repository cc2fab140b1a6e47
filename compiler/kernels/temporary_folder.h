// Temporary files that do not outlive their process.
#pragma once

#include <string>
#include <system_error>
#include <vector>

namespace cgc {

/// A folder of this user's for files of given names, which others write. It is removed with them by
/// the destructor, and when SIGHUP, SIGINT or SIGTERM ends the process.
class TemporaryFolder {
public:
  explicit TemporaryFolder(const std::vector<std::string> &files);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  /// Why there is no folder.
  std::error_code error() const { return error_; }
  const std::string &path() const { return path_; }
  /// Of one of the files, as they were given.
  const std::string &file(std::size_t index) const { return files_[index]; }

  /// For the destructor and the signal handler; calls nothing but the system.
  void remove() const noexcept;

private:
  std::string path_;
  std::vector<std::string> files_;
  std::error_code error_;
};

} // namespace cgc
