#include "parse/modules.h"

#include "parse/parser.h"

#include "CGraphLexer.h"
#include "stdlib_kernels.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <map>

namespace cgc {

namespace {

namespace path = llvm::sys::path;

/// How many files may import one another in a row.
constexpr std::size_t max_import_depth = 100;

struct StandardModule {
  std::string_view name;
  std::string_view text;
};

const StandardModule *find_standard_module(std::string_view name) {
  static const auto modules = std::to_array<StandardModule>({
      {"std.blas1", embedded::stdlib_kernels_blas1_cgraph},
      {"std.reduce", embedded::stdlib_kernels_reduce_cgraph},
  });
  const auto *found = std::find_if(modules.begin(), modules.end(),
                                   [name](const StandardModule &it) { return it.name == name; });
  return found == modules.end() ? nullptr : found;
}

/// Whether the whole text is one word that the grammar takes as a name.
bool is_name(std::string_view text) {
  antlr4::ANTLRInputStream input{std::string(text)};
  CGraphLexer lexer(&input);
  lexer.removeErrorListeners();
  const auto token = lexer.nextToken();
  const std::size_t type = token->getType();
  const bool word =
      type == CGraphLexer::IDENTIFIER || (type >= CGraphLexer::BLOCK && type <= CGraphLexer::WHEN);
  return word && token->getStopIndex() + 1 == text.size();
}

class ModuleLoader {
public:
  ModuleLoader(SourceFiles &files, const std::vector<std::string> &include_folders,
               Diagnostics &diagnostics)
      : files_(files), include_folders_(include_folders), diagnostics_(diagnostics) {}

  ModuleTrees run(FileId main) {
    load(main, identity(files_[main].name()));
    return std::move(trees_);
  }

private:
  /// What tells files apart, whatever path leads to them.
  static std::string identity(const std::string &name) {
    llvm::SmallString<256> real;
    return llvm::sys::fs::real_path(name, real) ? name : real.str().str();
  }

  std::uint32_t load(FileId id, const std::string &key) {
    auto tree = std::make_unique<ast::File>(parse(files_, id, diagnostics_));
    open_.push_back(key);
    for (ast::Import &import : tree->imports) {
      import.module = find(import, id);
    }
    open_.pop_back();
    for (ast::Kernel &kernel : tree->kernels) {
      read(kernel.body, id);
    }
    const auto index = static_cast<std::uint32_t>(trees_.size());
    trees_.push_back(std::move(tree));
    loaded_.emplace(key, index);
    return index;
  }

  std::optional<std::uint32_t> find(const ast::Import &import, FileId importer) {
    if (!is_name(import.name.text)) {
      diagnostics_.report(Diag::ImportName, import.range, import.name.text);
      return std::nullopt;
    }
    if (import.standard) {
      return find_standard(import);
    }
    const auto file = locate(import.path, importer, import.range);
    if (!file) {
      return std::nullopt;
    }
    const std::string key = identity(*file);
    if (const auto known = loaded_.find(key); known != loaded_.end()) {
      return known->second;
    }
    if (std::find(open_.begin(), open_.end(), key) != open_.end()) {
      report_cycle(import, key);
      return std::nullopt;
    }
    if (open_.size() >= max_import_depth) {
      diagnostics_.report(Diag::ImportDepth, import.range, max_import_depth);
      return std::nullopt;
    }
    auto opened = files_.open(*file);
    if (!opened) {
      diagnostics_.report(Diag::ImportFailed, import.range, llvm::toString(opened.takeError()));
      return std::nullopt;
    }
    return load(*opened, key);
  }

  std::optional<std::uint32_t> find_standard(const ast::Import &import) {
    if (const auto known = loaded_.find(import.path); known != loaded_.end()) {
      return known->second;
    }
    const StandardModule *standard = find_standard_module(import.path);
    if (standard == nullptr) {
      diagnostics_.report(Diag::NoStandardModule, import.range, import.path);
      return std::nullopt;
    }
    std::string name = import.path + ".cgraph";
    name[name.find('.')] = '/';
    return load(files_.add(name, standard->text), import.path);
  }

  void report_cycle(const ast::Import &import, const std::string &key) {
    std::string way;
    const auto first = std::find(open_.begin(), open_.end(), key);
    std::for_each(first, open_.end(), [&](const std::string &file) {
      way += path::filename(file).str() + " imports ";
    });
    diagnostics_.report(Diag::ImportCycle, import.range, way + path::filename(key).str());
  }

  /// The file that a path in `from` means, or nothing after reporting.
  std::optional<std::string> locate(const std::string &name, FileId from,
                                    const SourceRange &range) {
    std::vector<std::string> candidates;
    if (path::is_absolute(name)) {
      candidates.push_back(name);
    } else {
      const auto add = [&](llvm::StringRef folder) {
        llvm::SmallString<256> candidate(folder);
        path::append(candidate, name);
        candidates.push_back(candidate.str().str());
      };
      add(path::parent_path(files_[from].name()));
      std::for_each(include_folders_.begin(), include_folders_.end(), add);
    }
    for (const std::string &candidate : candidates) {
      if (llvm::sys::fs::exists(candidate)) {
        return candidate;
      }
    }
    diagnostics_.report(Diag::FileNotFound, range, name);
    return std::nullopt;
  }

  /// The file that a `source` or `binary` kernel names.
  void read(ast::KernelBody &body, FileId from) {
    if (body.kind != ast::BodyKind::Source && body.kind != ast::BodyKind::Binary) {
      return;
    }
    const auto file = locate(body.path, from, body.range);
    body.missing = !file || !read(body, *file);
  }

  bool read(ast::KernelBody &body, const std::string &file) {
    if (body.kind == ast::BodyKind::Binary) {
      if (!llvm::sys::fs::is_regular_file(file)) { // a device may have no end
        diagnostics_.report(Diag::ImportFailed, body.range,
                            "cannot read '" + file + "': it is no regular file");
        return false;
      }
      auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false);
      if (!buffer) {
        diagnostics_.report(Diag::ImportFailed, body.range,
                            "cannot read '" + file + "': " + buffer.getError().message());
        return false;
      }
      body.bytes = (*buffer)->getBuffer().str();
      files_.add_input(file);
      return true;
    }
    const std::string key = identity(file);
    if (const auto known = sources_.find(key); known != sources_.end()) {
      body.file = known->second;
      return true;
    }
    auto opened = files_.open(file);
    if (!opened) {
      diagnostics_.report(Diag::ImportFailed, body.range, llvm::toString(opened.takeError()));
      return false;
    }
    body.file = *opened;
    sources_.emplace(key, *opened);
    return true;
  }

  SourceFiles &files_;
  const std::vector<std::string> &include_folders_;
  Diagnostics &diagnostics_;
  ModuleTrees trees_;
  std::map<std::string, std::uint32_t> loaded_;
  std::map<std::string, FileId> sources_;
  std::vector<std::string> open_; ///< the files whose imports are being loaded, the main file first
};

} // namespace

ModuleTrees load_modules(SourceFiles &files, FileId main,
                         const std::vector<std::string> &include_folders,
                         Diagnostics &diagnostics) {
  return ModuleLoader(files, include_folders, diagnostics).run(main);
}

} // namespace cgc
