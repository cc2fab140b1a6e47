#include "emit/output_file.h"

#include "emit/temporary_file.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include <optional>
#include <utility>
#include <vector>

namespace cgc {

namespace {

llvm::Error failure(const std::string &path, const std::error_code &error) {
  return llvm::createStringError(error, "cannot write '%s': %s", path.c_str(),
                                 error.message().c_str());
}

llvm::Error write_standard_output(std::string_view contents) {
  llvm::raw_fd_ostream &out = llvm::outs();
  out << llvm::StringRef(contents.data(), contents.size());
  out.flush();
  const std::error_code error = out.error();
  out.clear_error();
  return error ? failure("standard output", error) : llvm::Error::success();
}

/// A device such as /dev/null takes the bytes itself; renaming over it would replace it.
bool is_special(const std::string &path) {
  llvm::sys::fs::file_status status;
  return !llvm::sys::fs::status(path, status) && llvm::sys::fs::exists(status) &&
         !llvm::sys::fs::is_regular_file(status) && !llvm::sys::fs::is_directory(status);
}

llvm::Error write_in_place(const std::string &path, std::string_view contents) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (!error) {
    out << llvm::StringRef(contents.data(), contents.size());
    out.close();
    error = out.error();
    out.clear_error();
  }
  return error ? failure(path, error) : llvm::Error::success();
}

/// A temporary file, written, which goes unless it is kept.
class StagedFile {
public:
  static llvm::Expected<StagedFile> write(const OutputFile &file) {
    if (llvm::sys::fs::is_directory(file.path)) {
      return failure(file.path, std::make_error_code(std::errc::is_a_directory));
    }
    if (file.path.empty()) {
      return failure(file.path, std::make_error_code(std::errc::no_such_file_or_directory));
    }
    auto temporary = create_temporary_file(file.path + ".%%%%%%%%");
    if (!temporary) {
      return failure(file.path, llvm::errorToErrorCode(temporary.takeError()));
    }
    StagedFile staged(file.path, std::move(*temporary));
    llvm::raw_fd_ostream out(staged.temporary_->FD, /*shouldClose=*/false);
    out << llvm::StringRef(file.contents.data(), file.contents.size());
    out.flush();
    const std::error_code error = out.error();
    out.clear_error();
    if (error) {
      return failure(file.path, error);
    }
    return staged;
  }

  StagedFile(StagedFile &&other) noexcept
      : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, std::nullopt)) {}
  StagedFile &operator=(StagedFile &&) = delete;
  ~StagedFile() {
    if (temporary_) {
      llvm::consumeError(temporary_->discard());
    }
  }

  llvm::Error keep() {
    llvm::sys::fs::TempFile temporary = std::move(*std::exchange(temporary_, std::nullopt));
    if (llvm::Error kept = temporary.keep(path_)) {
      return failure(path_, llvm::errorToErrorCode(std::move(kept)));
    }
    return llvm::Error::success();
  }

private:
  StagedFile(std::string path, llvm::sys::fs::TempFile temporary)
      : path_(std::move(path)), temporary_(std::move(temporary)) {}

  std::string path_;
  std::optional<llvm::sys::fs::TempFile> temporary_;
};

} // namespace

llvm::Error write_outputs(llvm::ArrayRef<OutputFile> files) {
  std::vector<StagedFile> staged;
  for (const OutputFile &file : files) {
    if (file.path == "-" || is_special(file.path)) {
      if (llvm::Error error = file.path == "-" ? write_standard_output(file.contents)
                                               : write_in_place(file.path, file.contents)) {
        return error;
      }
      continue;
    }
    auto temporary = StagedFile::write(file);
    if (!temporary) {
      return temporary.takeError();
    }
    staged.push_back(std::move(*temporary));
  }
  for (StagedFile &file : staged) {
    if (llvm::Error error = file.keep()) {
      return error;
    }
  }
  return llvm::Error::success();
}

} // namespace cgc
