#include "ir/code_files.h"

#include <algorithm>
#include <tuple>

namespace cgc {

namespace {

/// No source file of a line a statement comes near; a few digits cannot ask for more memory.
constexpr std::uint32_t max_lines = 1U << 24;

} // namespace

std::size_t CodeFiles::add(const Place &place, std::string text) {
  files_[place.file.index].pieces.push_back(pieces_.size());
  pieces_.push_back({place, std::move(text), {}});
  return pieces_.size() - 1;
}

/// Text with every piece at its place; what does not fit is left out.
std::string CodeFiles::rebuild(File &file) const {
  std::stable_sort(file.pieces.begin(), file.pieces.end(), [this](std::size_t a, std::size_t b) {
    const Place &left = pieces_[a].place;
    const Place &right = pieces_[b].place;
    return std::tie(left.line, left.column) < std::tie(right.line, right.column);
  });
  std::string text;
  std::uint32_t line = 1;
  std::size_t line_start = 0;
  for (const std::size_t index : file.pieces) {
    const Piece &piece = pieces_[index];
    const std::size_t column = piece.place.column - 1;
    if (piece.place.line > max_lines || piece.place.line < line || column > max_source_bytes ||
        (piece.place.line == line && line_start + column < text.size()) ||
        text.size() + (piece.place.line - line) + column + piece.text.size() > max_source_bytes) {
      continue;
    }
    if (piece.place.line > line) {
      text.append(piece.place.line - line, '\n');
      line = piece.place.line;
      line_start = text.size();
    }
    text.resize(line_start + column, ' ');
    text += piece.text;
    if (const std::size_t last_end = piece.text.rfind('\n'); last_end != std::string::npos) {
      line += static_cast<std::uint32_t>(std::count(piece.text.begin(), piece.text.end(), '\n'));
      line_start = text.size() - piece.text.size() + last_end + 1;
    }
  }
  return text;
}

/// Whether the file has the piece at its place.
bool CodeFiles::locate(Piece &piece, FileId id, const SourceFile &file) const {
  const auto [begin, end] = file.line_bounds(piece.place.line);
  const std::uint32_t offset = piece.place.column - 1;
  const bool is_there = piece.place.line <= file.line_count() && offset <= end - begin &&
                        file.text().substr(begin + offset, piece.text.size()) == piece.text;
  const std::uint32_t at = is_there ? begin + offset : begin;
  piece.range = {id, at, at + static_cast<std::uint32_t>(is_there ? piece.text.size() : 0)};
  return is_there;
}

std::optional<std::size_t> CodeFiles::build(SourceFiles &files) {
  std::optional<std::size_t> misfit;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    File &file = files_[i];
    const FileId id = files.add(names_[i], file.text ? *file.text : rebuild(file));
    for (const std::size_t piece : file.pieces) {
      if (!locate(pieces_[piece], id, files[id])) {
        misfit = std::min(piece, misfit.value_or(piece));
      }
    }
  }
  return misfit;
}

} // namespace cgc
