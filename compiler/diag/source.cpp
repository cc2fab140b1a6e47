#include "diag/source.h"

#include <llvm/Support/ConvertUTF.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <system_error>

namespace cgc {

namespace {

std::string normalized(std::string_view raw) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (raw.substr(0, byte_order_mark.size()) == byte_order_mark) {
    raw.remove_prefix(byte_order_mark.size());
  }
  std::string text;
  text.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] != '\r') {
      text.push_back(raw[at]);
      continue;
    }
    text.push_back('\n');
    if (at + 1 < raw.size() && raw[at + 1] == '\n') {
      ++at;
    }
  }
  return text;
}

llvm::Error unusable(const std::string &path, const std::string &why) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument), "%s",
                                 ("cannot read '" + path + "': " + why).c_str());
}

std::string system_message(int error) {
  return std::generic_category().message(error);
}

struct CloseFile {
  void operator()(std::FILE *file) const {
    // Nothing was written, so closing has no failure that matters.
    static_cast<void>(std::fclose(file));
  }
};

/// Stops soon after the most a source may have, so that pipes and devices end too.
llvm::Expected<std::string> read_bytes(const std::string &path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  if (!file) {
    return unusable(path, system_message(errno));
  }
  std::string bytes;
  constexpr std::size_t chunk = std::size_t{1} << 20;
  std::size_t count = chunk;
  while (count == chunk && bytes.size() <= max_source_bytes) {
    const std::size_t before = bytes.size();
    bytes.resize(before + chunk);
    count = std::fread(bytes.data() + before, 1, chunk, file.get());
    bytes.resize(before + count);
  }
  if (std::ferror(file.get()) != 0) {
    return unusable(path, system_message(errno));
  }
  if (bytes.size() > max_source_bytes) {
    return unusable(path, "it is larger than " + std::to_string(max_source_bytes >> 20) + " MiB");
  }
  return bytes;
}

struct BadByte {
  std::size_t offset;
  std::string what;
};

std::optional<BadByte> find_bad_byte(std::string_view raw) {
  const std::size_t nul = raw.find('\0');
  const std::string_view before_nul = raw.substr(0, nul);
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(before_nul.data());
  const llvm::UTF8 *at = begin;
  if (llvm::isLegalUTF8String(&at, begin + before_nul.size()) == 0) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    const std::string hex{digits[*at >> 4], digits[*at & 15]};
    return BadByte{static_cast<std::size_t>(at - begin), "byte 0x" + hex + " is not valid UTF-8"};
  }
  if (nul != std::string_view::npos) {
    return BadByte{nul, "a NUL byte; is this a text file?"};
  }
  return std::nullopt;
}

} // namespace

SourceFile::SourceFile(std::string name, std::string_view raw)
    : name_(std::move(name)), text_(normalized(raw)), line_starts_{0} {
  for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) {
    line_starts_.push_back(static_cast<std::uint32_t>(at + 1));
  }
}

std::uint32_t SourceFile::line_of(std::uint32_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<std::uint32_t>(after - line_starts_.begin());
}

std::uint32_t SourceFile::column_of(std::uint32_t offset) const {
  return offset - line_starts_[line_of(offset) - 1] + 1;
}

std::pair<std::uint32_t, std::uint32_t> SourceFile::line_bounds(std::uint32_t line) const {
  line = std::clamp(line, std::uint32_t{1}, line_count());
  const std::uint32_t begin = line_starts_[line - 1];
  const std::uint32_t end =
      line < line_count() ? line_starts_[line] - 1 : static_cast<std::uint32_t>(text_.size());
  return {begin, end};
}

llvm::Expected<FileId> SourceFiles::open(const std::string &path) {
  llvm::Expected<std::string> raw = read_bytes(path);
  if (!raw) {
    return raw.takeError();
  }
  auto file = take(path, *raw);
  if (file) {
    add_input(path);
  }
  return file;
}

llvm::Expected<FileId> SourceFiles::take(const std::string &name, std::string_view text) {
  if (text.size() > max_source_bytes) {
    return unusable(name, "it is larger than " + std::to_string(max_source_bytes >> 20) + " MiB");
  }
  if (const std::optional<BadByte> bad = find_bad_byte(text)) {
    const SourceFile before(name, text.substr(0, bad->offset));
    const auto end = static_cast<std::uint32_t>(before.text().size());
    return unusable(name, "line " + std::to_string(before.line_of(end)) + ", column " +
                              std::to_string(before.column_of(end)) + ": " + bad->what);
  }
  return add(name, text);
}

void SourceFiles::add_input(const std::string &path) {
  if (std::find(inputs_.begin(), inputs_.end(), path) == inputs_.end()) {
    inputs_.push_back(path);
  }
}

FileId SourceFiles::add(std::string name, std::string_view text) {
  files_.emplace_back(std::move(name), text);
  return FileId{static_cast<std::uint32_t>(files_.size() - 1)};
}

std::string_view SourceFiles::text(const SourceRange &range) const {
  return files_[range.file.index].text().substr(range.begin, range.end - range.begin);
}

Place SourceFiles::place(const SourceRange &range) const {
  if (!range.valid()) {
    return {};
  }
  const SourceFile &file = files_[range.file.index];
  return {range.file, file.line_of(range.begin), file.column_of(range.begin)};
}

SourceRange SourceFiles::line(FileId file, std::uint32_t line) const {
  const auto [begin, end] = files_[file.index].line_bounds(line);
  return {file, begin, end};
}

} // namespace cgc
