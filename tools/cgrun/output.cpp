#include "output.h"

#include "elements.h"
#include "npy.h"
#include "scalar_text.h"
#include "usage.h"

#include "emit/temporary_file.h"

#include <llvm/Support/raw_ostream.h>

#include <filesystem>
#include <system_error>
#include <type_traits>
#include <utility>

namespace cgrun {

namespace {

namespace fs = std::filesystem;

/// One name for one file. Follows symbolic links, so that a rename replaces the file and not the
/// link.
std::string resolve(const std::string &path) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path : resolved.string();
}

} // namespace

OutputFile::OutputFile(const std::string &buffer, const std::string &path)
    : buffer_(buffer), target_(resolve(path)) {
  const auto refuse = [&](const std::string &reason) {
    return usage_error("--out " + buffer + ": cannot write " + path + ": " + reason);
  };
  std::error_code ignored; // status() says `not_found` or `none` then, and create() the reason
  const fs::file_status status = fs::status(target_, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw refuse(fs::is_directory(status) ? "it is a folder" : "it is not a regular file");
  }
  auto temporary = cgc::create_temporary_file(target_ + ".%%%%%%%%.tmp");
  if (!temporary) {
    throw refuse(llvm::toString(temporary.takeError()));
  }
  temporary_.emplace(std::move(*temporary));
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : buffer_(std::move(other.buffer_)), target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, std::nullopt)) {}

OutputFile::~OutputFile() {
  if (temporary_) {
    // Nobody is left to tell, and a file that is already gone is what was wanted.
    llvm::consumeError(temporary_->discard());
  }
}

void OutputFile::write(const cgrt::BufferView &view, std::span<const std::byte> bytes) {
  llvm::raw_fd_ostream out(temporary_->FD, /*shouldClose=*/false);
  out << npy_header(view.type, view.shape);
  out.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  out.flush();
  if (out.has_error()) {
    const std::string reason = out.error().message();
    out.clear_error();
    throw cgrt::Error(cgrt::ErrorCode::Device,
                      "--out " + buffer_ + ": cannot write " + target_ + ": " + reason);
  }
}

void OutputFile::commit() {
  llvm::sys::fs::TempFile temporary = std::move(*std::exchange(temporary_, std::nullopt));
  if (llvm::Error error = temporary.keep(target_)) {
    throw cgrt::Error(cgrt::ErrorCode::Device, "--out " + buffer_ + ": cannot write " + target_ +
                                                   ": " + llvm::toString(std::move(error)));
  }
}

void print_values(llvm::raw_ostream &out, const std::string &name, const cgrt::BufferView &view,
                  std::span<const std::byte> bytes) {
  out << "# " << name << " " << type_text(view.type, view.shape) << "\n";
  const std::size_t row = view.shape.size() == 1 ? 1 : view.shape.back();
  std::size_t column = 0;
  for_each_element(view.type, bytes, [&](auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>) {
      out << scalar_text(value);
    } else {
      out << value;
    }
    column = (column + 1) % row;
    out << (column == 0 ? '\n' : ' ');
  });
}

} // namespace cgrun
