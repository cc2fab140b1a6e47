#include "kernels/included_files.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include <optional>
#include <set>

namespace cgc {

namespace {

namespace path = llvm::sys::path;

/// The names behind `#include`.
std::vector<std::string> included_names(llvm::StringRef text) {
  std::vector<std::string> names;
  constexpr llvm::StringRef word = "include";
  for (std::size_t at = text.find(word); at != llvm::StringRef::npos; at = text.find(word, at)) {
    const bool is_directive = text.substr(0, at).rtrim(" \t").endswith("#");
    at += word.size();
    const llvm::StringRef rest = text.substr(at).ltrim(" \t");
    if (is_directive && (rest.startswith("\"") || rest.startswith("<"))) {
      const llvm::StringRef line = rest.drop_front().take_until([](char c) { return c == '\n'; });
      names.push_back(line.take_until([](char c) { return c == '"' || c == '>'; }).str());
    }
  }
  return names;
}

class IncludeWalk {
public:
  explicit IncludeWalk(SourceFiles &files) : files_(files) {}

  /// `root` is the folder of the file that a compiler is given.
  void visit(llvm::StringRef text, llvm::StringRef folder, llvm::StringRef root) {
    pending_.push_back({folder.str(), included_names(text)});
    while (!pending_.empty()) {
      const Includes includes = std::move(pending_.back());
      pending_.pop_back();
      for (const std::string &name : includes.names) {
        const auto found = locate(name, {includes.folder, root});
        if (found && seen_.insert({root.str(), *found}).second) {
          read(*found);
        }
      }
    }
  }

private:
  struct Includes {
    std::string folder; ///< of the file they stand in
    std::vector<std::string> names;
  };

  static std::optional<std::string> locate(const std::string &name,
                                           llvm::ArrayRef<llvm::StringRef> folders) {
    for (const llvm::StringRef folder : folders) {
      llvm::SmallString<256> candidate(path::is_absolute(name) ? "" : folder);
      path::append(candidate, name);
      if (llvm::sys::fs::is_regular_file(candidate)) {
        return candidate.str().str();
      }
    }
    return std::nullopt;
  }

  /// What cannot be read is for the compiler to report.
  void read(const std::string &file) {
    const auto buffer = llvm::MemoryBuffer::getFile(file);
    if (buffer) {
      files_.add_input(file);
      pending_.push_back({path::parent_path(file).str(), included_names((*buffer)->getBuffer())});
    }
  }

  SourceFiles &files_;
  std::vector<Includes> pending_;
  std::set<std::pair<std::string, std::string>> seen_; ///< root and file
};

} // namespace

void add_included_files(SourceFiles &files) {
  IncludeWalk walk(files);
  for (std::uint32_t i = 0; i < files.size(); ++i) {
    const SourceFile &file = files[FileId{i}];
    const llvm::StringRef folder = path::parent_path(file.name());
    walk.visit({file.text().data(), file.text().size()}, folder, folder);
  }
}

} // namespace cgc
