// Source files and places in them.
#pragma once

#include "format/program.h"

#include <llvm/Support/Error.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace cgc {

using cgrt::format::FileId;
using cgrt::format::Place;

/// Bytes [begin, end) of a file.
struct SourceRange {
  FileId file;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool valid() const { return file.valid(); }
};

/// From the first byte of `first` to the last of `last`.
inline SourceRange join(SourceRange first, SourceRange last) {
  return {first.file, first.begin, last.end};
}

/// The largest source file, in bytes.
inline constexpr std::uint64_t max_source_bytes = std::uint64_t{256} << 20;

/// A file's text with its byte-order mark dropped and every line end made LF, so that lines count
/// the same whatever their ends.
class SourceFile {
public:
  SourceFile(std::string name, std::string_view raw);

  const std::string &name() const { return name_; }
  std::string_view text() const { return text_; }
  /// 1-based.
  std::uint32_t line_of(std::uint32_t offset) const;
  std::uint32_t column_of(std::uint32_t offset) const;
  std::uint32_t line_count() const { return static_cast<std::uint32_t>(line_starts_.size()); }
  /// The text of a line without its end, as a range; the last line for a number beyond it.
  std::pair<std::uint32_t, std::uint32_t> line_bounds(std::uint32_t line) const;

private:
  std::string name_;
  std::string text_;
  std::vector<std::uint32_t> line_starts_;
};

/// All files of one compilation. Addresses of files stay valid.
class SourceFiles {
public:
  /// Reads a file; the error says why it cannot be used.
  llvm::Expected<FileId> open(const std::string &path);
  /// Text that is not in a file, held to the same.
  llvm::Expected<FileId> take(const std::string &name, std::string_view text);
  FileId add(std::string name, std::string_view text);

  const SourceFile &operator[](FileId id) const { return files_[id.index]; }
  std::size_t size() const { return files_.size(); }
  /// Notes a file that something else than open() has read.
  void add_input(const std::string &path);
  /// The paths of what has been read from disk, each once, in order.
  const std::vector<std::string> &inputs() const { return inputs_; }
  std::string_view text(const SourceRange &range) const;
  Place place(const SourceRange &range) const;
  SourceRange line(FileId file, std::uint32_t line) const;

private:
  std::deque<SourceFile> files_;
  std::vector<std::string> inputs_;
};

} // namespace cgc
