// The lines of IR text that hold files, scopes and the kernels' code.
#pragma once

#include "ir/code_files.h"
#include "ir/ir_parser.h"
#include "ir/module.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace cgc {

class CodeReader {
public:
  CodeReader(IrParser &parser, Module &module) : parser_(parser), module_(module) {}

  /// A line `file …`, or `scope …` with those that belong to it; false if it is neither.
  bool read_line();

  /// `@file:line:column`, if that is next.
  Place read_place();

  /// The lines behind that of a kernel.
  void read_kernel_code(const cgrt::format::Kernel &declared);

  /// Once everything is read: adds the files, and gives the code its texts.
  void finish(SourceFiles &files);

private:
  enum class Slot : std::uint8_t { Block, Body, Host, Name };

  /// Code, or the place of a kernel's name; its range is known once the files are.
  struct Piece {
    Slot slot = Slot::Block;
    std::uint32_t owner = 0; ///< scope or kernel
    Place place;
    std::string text;
    bool is_ours = false; ///< does not stand in the file that its place names
    SourceRange token;
  };

  void read_file();
  void read_scope();
  void read_body(KernelSource &source, const Place &kernel);
  void read_code(Slot slot, std::uint32_t owner, const Place &fallback);
  std::vector<std::byte> read_bytes();
  std::uint32_t read_known(std::size_t count, std::string_view what);
  void put(const Piece &piece, const CodeText &code);

  IrParser &parser_;
  Module &module_;
  std::vector<std::optional<std::string>> file_texts_; ///< parallel to Program::files
  std::vector<Piece> pieces_;
  /// Blocks of ours, by scope: errors in them belong to the first kernel there.
  std::multimap<std::uint32_t, std::size_t> unplaced_;
};

} // namespace cgc
