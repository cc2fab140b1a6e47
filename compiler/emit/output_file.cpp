#include "emit/output_file.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/raw_ostream.h>

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

} // namespace

llvm::Error write_output(const std::string &path, std::string_view contents) {
  if (path == "-") {
    return write_standard_output(contents);
  }
  if (llvm::sys::fs::is_directory(path)) {
    return failure(path, std::make_error_code(std::errc::is_a_directory));
  }
  if (is_special(path)) {
    return write_in_place(path, contents);
  }
  auto temporary = llvm::sys::fs::TempFile::create(path + ".%%%%%%%%");
  if (!temporary) {
    return failure(path, llvm::errorToErrorCode(temporary.takeError()));
  }
  llvm::raw_fd_ostream out(temporary->FD, /*shouldClose=*/false);
  out << llvm::StringRef(contents.data(), contents.size());
  out.flush();
  const std::error_code error = out.error();
  out.clear_error();
  if (error) {
    llvm::consumeError(temporary->discard());
    return failure(path, error);
  }
  if (llvm::Error kept = temporary->keep(path)) {
    return failure(path, llvm::errorToErrorCode(std::move(kept)));
  }
  return llvm::Error::success();
}

} // namespace cgc
