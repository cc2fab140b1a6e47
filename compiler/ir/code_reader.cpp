#include "ir/code_reader.h"

#include "ir/code_files.h"

#include <llvm/ADT/StringExtras.h>

#include <algorithm>

namespace cgc {

bool CodeReader::read_line() {
  if (parser_.accept_word("file")) {
    read_file();
  } else if (parser_.accept_word("scope")) {
    read_scope();
  } else {
    return false;
  }
  return true;
}

/// The number of a thing, of which `count` stand above.
std::uint32_t CodeReader::read_known(std::size_t count, std::string_view what) {
  const SourceRange range = parser_.token().range;
  const std::uint32_t index = parser_.index(IrTokenKind::Number, "a number");
  if (index >= count) {
    parser_.fail(Diag::IrUnknown, range, std::string(what) + " " + std::to_string(index));
  }
  return index;
}

Place CodeReader::read_place() {
  if (!parser_.accept_symbol("@")) {
    return {};
  }
  Place place;
  place.file = {read_known(module_.program.files.size(), "file")};
  const SourceRange range = parser_.token().range;
  parser_.expect_symbol(":");
  place.line = parser_.index(IrTokenKind::Number, "a line");
  parser_.expect_symbol(":");
  place.column = parser_.index(IrTokenKind::Number, "a column");
  if (place.line == 0 || place.column == 0) {
    parser_.fail(Diag::IrExpected, range, "lines and columns from 1");
  }
  return parser_.failed() ? Place{} : place;
}

void CodeReader::read_file() {
  const std::string number = std::to_string(module_.program.files.size());
  if (parser_.token().text != number) {
    parser_.fail(number);
  }
  parser_.index(IrTokenKind::Number, "a number");
  module_.program.files.push_back(parser_.string());
  file_texts_.emplace_back();
  if (parser_.accept_word("text")) {
    file_texts_.back() = parser_.string();
  }
  parser_.expect_line_end();
}

void CodeReader::read_scope() {
  const auto index = static_cast<std::uint32_t>(module_.scopes.size());
  if (parser_.token().text != std::to_string(index)) {
    parser_.fail(std::to_string(index));
  }
  parser_.index(IrTokenKind::Number, "a number");
  parser_.expect_line_end();
  CodeScope &scope = module_.scopes.emplace_back();
  while (parser_.accept_word("constant")) {
    ConstantSource constant;
    constant.name = parser_.identifier();
    parser_.expect_symbol(":");
    constant.type = parser_.string();
    parser_.expect_symbol("=");
    constant.value = parser_.string();
    parser_.expect_line_end();
    scope.constants.push_back(std::move(constant));
  }
  while (parser_.accept_word("cuda")) {
    read_code(Slot::Block, index, {});
    if (pieces_.back().is_ours) {
      unplaced_.emplace(index, pieces_.size() - 1);
    }
  }
}

void CodeReader::read_kernel_code(const cgrt::format::Kernel &declared) {
  const Place &kernel = declared.place;
  const auto index = static_cast<std::uint32_t>(module_.kernel_sources.size());
  KernelSource source;
  pieces_.push_back({Slot::Name, index, kernel, {}, false, parser_.token().range});
  parser_.expect_word("scope");
  source.scope = read_known(module_.scopes.size(), "scope");
  parser_.expect_line_end();
  const auto [first, last] = unplaced_.equal_range(source.scope);
  std::for_each(first, last, [&](const auto &block) { pieces_[block.second].place = kernel; });
  unplaced_.erase(first, last);
  while (parser_.accept_word("type")) {
    const std::string name = parser_.identifier();
    parser_.expect_symbol("=");
    source.types.emplace_back(name, parser_.type());
    parser_.expect_line_end();
  }
  if (declared.external) {
    source.kind = BodyKind::External;
  } else {
    read_body(source, kernel);
  }
  if (parser_.accept_word("host")) {
    source.host.emplace();
    read_code(Slot::Host, index, kernel);
  }
  module_.kernel_sources.push_back(std::move(source));
}

void CodeReader::read_body(KernelSource &source, const Place &kernel) {
  const auto index = static_cast<std::uint32_t>(module_.kernel_sources.size());
  if (parser_.accept_word("cuda")) {
    read_code(Slot::Body, index, kernel);
    return;
  }
  if (parser_.accept_word("source")) {
    const SourceRange range = parser_.token().range;
    const std::uint32_t file = read_known(file_texts_.size(), "file");
    if (!parser_.failed() && !file_texts_[file]) {
      parser_.fail(Diag::IrUnknown, range, "text of file " + std::to_string(file));
    }
    source.kind = BodyKind::Source;
    source.body.range = {{module_.first_file + file}, 0, 0};
  } else if (parser_.accept_word("binary")) {
    source.kind = BodyKind::Binary;
  } else {
    parser_.fail("the kernel's code: cuda, source or binary");
  }
  parser_.expect_word("symbol");
  source.cuda_symbol = parser_.string();
  if (source.kind == BodyKind::Binary) {
    source.binary = read_bytes();
  }
  parser_.expect_line_end();
}

/// Hexadecimal digits in a string.
std::vector<std::byte> CodeReader::read_bytes() {
  const SourceRange range = parser_.token().range;
  const std::string digits = parser_.string();
  std::string bytes;
  if (digits.size() % 2 != 0 || !llvm::tryGetFromHex(digits, bytes)) {
    parser_.fail(Diag::IrExpected, range, "two hexadecimal digits for each byte");
  }
  const auto *const begin = reinterpret_cast<const std::byte *>(bytes.data());
  return {begin, begin + bytes.size()};
}

/// A string and its place. Code without one is ours, and errors in it belong to `fallback`.
void CodeReader::read_code(Slot slot, std::uint32_t owner, const Place &fallback) {
  Piece piece{slot, owner, {}, {}, false, parser_.token().range};
  piece.text = parser_.string();
  piece.place = read_place();
  piece.is_ours = piece.place.line == 0;
  piece.place = piece.is_ours ? fallback : piece.place;
  parser_.expect_line_end();
  pieces_.push_back(std::move(piece));
}

void CodeReader::put(const Piece &piece, const CodeText &code) {
  switch (piece.slot) {
  case Slot::Block:
    module_.scopes[piece.owner].blocks.push_back(code);
    break;
  case Slot::Body:
    module_.kernel_sources[piece.owner].body = code;
    break;
  case Slot::Host:
    module_.kernel_sources[piece.owner].host = code;
    break;
  case Slot::Name:
    module_.kernel_sources[piece.owner].name = code.range;
    break;
  }
}

void CodeReader::finish(SourceFiles &files) {
  if (!unplaced_.empty()) {
    parser_.fail(Diag::IrExpected, pieces_[unplaced_.begin()->second].token,
                 "the code's place, since no kernel uses it");
    return;
  }
  CodeFiles rebuilt(module_.program.files);
  for (std::uint32_t i = 0; i < file_texts_.size(); ++i) {
    if (file_texts_[i]) {
      rebuilt.set_text(i, std::move(*file_texts_[i]));
    }
  }
  for (const Piece &piece : pieces_) {
    rebuilt.add(piece.place, piece.is_ours ? std::string() : piece.text);
  }
  if (const auto misfit = rebuilt.build(files)) {
    parser_.fail(Diag::IrBroken, pieces_[*misfit].token,
                 "the file cannot have this at its line and column, beside the other code");
    return;
  }
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const SourceRange range = rebuilt.range(i);
    put(pieces_[i], {pieces_[i].is_ours ? module_.texts.emplace_back(std::move(pieces_[i].text))
                                        : files.text(range),
                     range});
  }
  for (KernelSource &source : module_.kernel_sources) {
    if (source.kind == BodyKind::Source) {
      const std::string_view text = files[source.body.range.file].text();
      source.body = {text, {source.body.range.file, 0, static_cast<std::uint32_t>(text.size())}};
    }
  }
}

} // namespace cgc
