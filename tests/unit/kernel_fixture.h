// A program of kernels written by hand, for tests of the kernel compilers.
#pragma once

#include "kernels/kernel_compiler.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace cgc::testing {

/// Kernels of one source file. Each is given as "name(params) cuda { body }" somewhere in the text.
class KernelFixture {
public:
  explicit KernelFixture(const std::string &text, const std::string &file_name = "t.cgraph")
      : file_(files_.add(file_name, text)) {}

  /// `name` must stand in the text; the body is between the first `{` behind it and `end`.
  void add(const std::string &name, std::vector<cgrt::format::KernelParam> params,
           const std::string &end = "\n}") {
    const std::string_view text = files_[file_].text();
    const std::size_t at = text.find("kernel " + name);
    const std::size_t open = text.find('{', at);
    const std::size_t close = text.find(end, open);
    if (at == std::string_view::npos || close == std::string_view::npos) {
      throw std::invalid_argument("no kernel " + name);
    }
    const auto name_at = static_cast<std::uint32_t>(at + 7);
    const auto name_end = static_cast<std::uint32_t>(name_at + name.size());
    const SourceRange body{file_, static_cast<std::uint32_t>(open + 1),
                           static_cast<std::uint32_t>(close + end.size() - 1)};
    KernelSource &source = sources.emplace_back();
    source.body = {files_.text(body), body};
    source.name = {file_, name_at, name_end};
    program.kernels.push_back({name, name, std::move(params), {}});
  }

  /// What must stand in the file's text, with its place.
  CodeText text_of(const std::string &text) const {
    const std::size_t at = files_[file_].text().find(text);
    if (at == std::string_view::npos) {
      throw std::invalid_argument("no text " + text);
    }
    const SourceRange range{file_, static_cast<std::uint32_t>(at),
                            static_cast<std::uint32_t>(at + text.size())};
    return {files_.text(range), range};
  }

  /// A file-scope `cuda { }` that holds `text`, which must stand in the file's text.
  void add_block(const std::string &text) { scopes.front().blocks.push_back(text_of(text)); }

  /// A kernel that has nothing but its declaration in the text.
  KernelSource &declare(const std::string &name, std::vector<cgrt::format::KernelParam> params) {
    const std::size_t at = files_[file_].text().find("kernel " + name);
    if (at == std::string_view::npos) {
      throw std::invalid_argument("no kernel " + name);
    }
    const auto begin = static_cast<std::uint32_t>(at + 7);
    KernelSource &source = sources.emplace_back();
    source.name = {file_, begin, static_cast<std::uint32_t>(begin + name.size())};
    program.kernels.push_back({name, name, std::move(params), {}});
    return source;
  }

  /// A kernel whose function is in a `.cu` file of this text.
  void add_source(const std::string &name, std::vector<cgrt::format::KernelParam> params,
                  const std::string &function, FileId file) {
    KernelSource &source = declare(name, std::move(params));
    source.kind = BodyKind::Source;
    source.body = whole(file);
    source.cuda_symbol = function;
  }

  FileId add_file(const std::string &name, const std::string &text) {
    return files_.add(name, text);
  }

  CodeText whole(FileId file) const {
    const std::string_view text = files_[file].text();
    return {text, {file, 0, static_cast<std::uint32_t>(text.size())}};
  }

  KernelUnit unit() const { return {files_, scopes, sources}; }
  const SourceFiles &files() const { return files_; }

  std::string printed(const Diagnostics &diagnostics) const {
    std::string out;
    llvm::raw_string_ostream stream(out);
    diagnostics.print(stream, files_, false);
    return stream.str();
  }

  cgrt::format::Program program;
  std::vector<CodeScope> scopes{1};
  std::vector<KernelSource> sources;

private:
  SourceFiles files_;
  FileId file_;
};

inline cgrt::format::KernelParam scalar(std::string name, cgrt::ScalarType type) {
  return {std::move(name), type, false, cgrt::format::Mode::In};
}

inline cgrt::format::KernelParam buffer(std::string name, cgrt::ScalarType type,
                                        cgrt::format::Mode mode) {
  return {std::move(name), type, true, mode};
}

} // namespace cgc::testing
