// The kernels of the program: each one, or each instance of a generic one, once.
#pragma once

#include "ir/lowering_context.h"

#include <map>
#include <vector>

namespace cgc {

class KernelInstances {
public:
  explicit KernelInstances(LoweringContext &context) : context_(context) {}

  /// Adds the kernels of the main file that are not generic, so that what is wrong in their bodies
  /// shows even where nothing launches them.
  void add_main_file();

  cgrt::format::KernelId get(const Symbol &kernel, const std::vector<ast::ScalarType> &types);

  /// Fills contiguous elements: (n: i64, value: T, destination: out T[n]).
  cgrt::format::KernelId fill(ast::ScalarType type, const SourceRange &range);
  /// Fills elements at three strides: (n0, n1, n2, s0, s1, s2: i64, value: T, destination).
  cgrt::format::KernelId fill_strided(ast::ScalarType type, const SourceRange &range);

  /// A kernel of generated code (device expressions), or an equal one that is there; `name` is that
  /// of a new one. Its arguments may overlap, and their strides are the code's own matter.
  cgrt::format::KernelId device_code(const std::string &name,
                                     const std::vector<cgrt::format::KernelParam> &params,
                                     const std::string &text, const SourceRange &range);

private:
  struct Key {
    std::uint32_t module;
    std::uint32_t kernel;
    std::vector<ast::ScalarType> types;
    auto operator<=>(const Key &) const = default;
  };

  cgrt::format::KernelId add(const Symbol &symbol, const std::vector<ast::ScalarType> &types);
  cgrt::format::KernelId add_generated(std::string_view name, ast::ScalarType type,
                                       std::vector<cgrt::format::KernelParam> params,
                                       std::string_view body, const SourceRange &range);
  cgrt::format::KernelId append_generated(const std::string &name,
                                          std::vector<cgrt::format::KernelParam> params,
                                          const CodeText &body, std::uint32_t scope);
  KernelSource source(const Symbol &symbol, const std::vector<ast::ScalarType> &types);
  std::uint32_t scope(const CheckedFile &file);
  std::string prefix(const CheckedFile &file) const;

  LoweringContext &context_;
  std::map<Key, cgrt::format::KernelId> kernels_;
  std::map<std::pair<std::string_view, ast::ScalarType>, cgrt::format::KernelId> generated_;
  std::map<std::uint32_t, std::uint32_t> scopes_;              ///< by module
  std::map<std::string, cgrt::format::KernelId> device_codes_; ///< by parameters and text
  std::optional<std::uint32_t> generated_scope_;
  std::optional<std::uint32_t> device_code_scope_;
};

} // namespace cgc
