// The source files of a program that was read as IR text, as far as that text quotes them.
#pragma once

#include "kernels/kernel_compiler.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cgc {

/// Code and places of several files. Each file is rebuilt from what is known of it, everything at
/// its own line and column, so that errors name the lines that they would have named.
class CodeFiles {
public:
  explicit CodeFiles(const std::vector<std::string> &names) : files_(names.size()), names_(names) {}

  /// The whole text of a file.
  void set_text(std::uint32_t file, std::string text) { files_[file].text = std::move(text); }

  /// Returns the piece's number. An empty text is a mere place.
  std::size_t add(const Place &place, std::string text);

  /// Adds all files, in order. The first piece that does not fit among the others, or lies too far
  /// away for a source file, is returned.
  std::optional<std::size_t> build(SourceFiles &files);

  /// After build().
  const SourceRange &range(std::size_t piece) const { return pieces_[piece].range; }

private:
  struct Piece {
    Place place;
    std::string text;
    SourceRange range;
  };
  struct File {
    std::optional<std::string> text;
    std::vector<std::size_t> pieces;
  };

  std::string rebuild(File &file) const;
  bool locate(Piece &piece, FileId id, const SourceFile &file) const;

  std::vector<File> files_;
  std::vector<Piece> pieces_;
  const std::vector<std::string> &names_;
};

} // namespace cgc
