#include "ir/kernel_instances.h"

#include "ir/constant_source.h"
#include "sema/attribute_check.h"
#include "sema/declaration_check.h"

#include "stdlib_kernels.h"

#include "format/scalar_type.h"

#include <algorithm>
#include <cctype>

namespace cgc {

using ast::ScalarType;
using cgrt::format::Kernel;
using cgrt::format::KernelId;
using cgrt::format::KernelParam;

namespace {

/// An identifier made of a name.
std::string identifier(std::string name) {
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

} // namespace

void KernelInstances::add_main_file() {
  const CheckedFile &main = context_.checked.main();
  for (std::uint32_t i = 0; i < main.file->kernels.size(); ++i) {
    const Symbol kernel = {SymbolKind::Kernel, i, main.module};
    if (main.file->kernels[i].type_parameters.empty() &&
        !context_.checked.broken_declarations.contains(kernel)) {
      get(kernel, {});
    }
  }
}

KernelId KernelInstances::get(const Symbol &kernel, const std::vector<ScalarType> &types) {
  const auto [place, added] = kernels_.try_emplace({kernel.module, kernel.index, types});
  if (added) {
    place->second = add(kernel, types);
  }
  return place->second;
}

/// "blas1." for what the module blas1 declares; nothing for the main file.
std::string KernelInstances::prefix(const CheckedFile &file) const {
  if (&file == &context_.checked.main()) {
    return {};
  }
  std::string name = context_.files[file.file->id].name();
  name.erase(0, name.find_last_of('/') + 1);
  return name.substr(0, name.find('.')) + ".";
}

KernelId KernelInstances::add(const Symbol &symbol, const std::vector<ScalarType> &types) {
  const CheckedFile &file = context_.checked[symbol];
  const ast::Kernel &declared = file.file->kernels[symbol.index];
  Kernel kernel;
  std::string name = prefix(file) + std::string(declared.name.text);
  for (std::size_t i = 0; i < types.size(); ++i) {
    name += (i == 0 ? "<" : ", ") + std::string(cgrt::format::spelling(types[i]));
  }
  name += types.empty() ? "" : ">";
  kernel.name = context_.kernel_names.add(name);
  kernel.symbol = context_.kernel_symbols.add(identifier("cg_" + name), '_');
  kernel.place = context_.files.place(declared.name.range);
  kernel.inplace = find_attribute(declared.attributes, "inplace") != nullptr;
  kernel.external = declared.body.kind == ast::BodyKind::External;
  for (const ast::Parameter &parameter : declared.parameters) {
    kernel.params.push_back({std::string(parameter.name.text),
                             parameter_type(declared, parameter, types), parameter.mode.has_value(),
                             parameter.mode.value_or(ast::Mode::In), parameter.launch.has_value()});
  }
  const KernelId id{static_cast<std::uint32_t>(context_.program.kernels.size())};
  context_.program.kernels.push_back(std::move(kernel));
  context_.module.kernel_sources.push_back(source(symbol, types));
  return id;
}

KernelSource KernelInstances::source(const Symbol &symbol, const std::vector<ScalarType> &types) {
  const CheckedFile &file = context_.checked[symbol];
  const ast::Kernel &declared = file.file->kernels[symbol.index];
  const auto code = [this](const SourceRange &range) {
    return CodeText{context_.files.text(range), range};
  };
  KernelSource result;
  result.scope = scope(file);
  result.name = declared.name.range;
  for (std::size_t i = 0; i < types.size(); ++i) {
    result.types.emplace_back(declared.type_parameters[i].name.text, types[i]);
  }
  if (declared.host) {
    result.host = code(*declared.host);
  }
  const ast::KernelBody &body = declared.body;
  if (body.kind == ast::BodyKind::Source || body.kind == ast::BodyKind::Binary) {
    result.cuda_symbol = body.symbol.value_or(std::string(declared.name.text));
  }
  switch (body.kind) {
  case ast::BodyKind::Cuda:
    result.body = code(body.range);
    break;
  case ast::BodyKind::Source: {
    result.kind = BodyKind::Source;
    const auto size = static_cast<std::uint32_t>(context_.files[body.file].text().size());
    result.body = code({body.file, 0, size});
    break;
  }
  case ast::BodyKind::Binary: {
    result.kind = BodyKind::Binary;
    const auto *bytes = reinterpret_cast<const std::byte *>(body.bytes.data());
    result.binary.assign(bytes, bytes + body.bytes.size());
    break;
  }
  case ast::BodyKind::External:
    result.kind = BodyKind::External;
    break;
  }
  return result;
}

/// What the file's kernels share.
std::uint32_t KernelInstances::scope(const CheckedFile &file) {
  const auto [place, added] =
      scopes_.emplace(file.module, static_cast<std::uint32_t>(context_.module.scopes.size()));
  if (!added) {
    return place->second;
  }
  CodeScope scope;
  for (std::size_t i = 0; i < file.file->consts.size(); ++i) {
    const ast::Const &constant = file.file->consts[i];
    if (!file.const_values[i]) {
      continue; // an error, and no kernel will be compiled
    }
    const ast::Expr &expr = file[constant.value];
    // A cast's type, else the one that a C++ literal of that value has.
    std::optional<ScalarType> type;
    if (expr.kind == ast::ExprKind::Cast) {
      type = expr.type;
    }
    scope.constants.push_back(
        make_constant_source(std::string(constant.name.text), *file.const_values[i], type));
  }
  for (const SourceRange &block : file.file->cuda_blocks) {
    scope.blocks.push_back({context_.files.text(block), block});
  }
  context_.module.scopes.push_back(std::move(scope));
  return place->second;
}

KernelId KernelInstances::fill(ScalarType type, const SourceRange &range) {
  return add_generated("fill", type,
                       {{"n", ScalarType::I64, false, ast::Mode::In},
                        {"value", type, false, ast::Mode::In},
                        {"destination", type, true, ast::Mode::Out}},
                       embedded::stdlib_kernels_fill_cuh, range);
}

KernelId KernelInstances::fill_strided(ScalarType type, const SourceRange &range) {
  std::vector<KernelParam> params;
  for (const char *name : {"n0", "n1", "n2", "s0", "s1", "s2"}) {
    params.push_back({name, ScalarType::I64, false, ast::Mode::In});
  }
  params.push_back({"value", type, false, ast::Mode::In});
  params.push_back({"destination", type, true, ast::Mode::Out});
  const KernelId id = add_generated("fill_strided", type, std::move(params),
                                    embedded::stdlib_kernels_fill_strided_cuh, range);
  context_.program.kernels[id.index].strided = true;
  return id;
}

KernelId KernelInstances::add_generated(std::string_view name, ScalarType type,
                                        std::vector<KernelParam> params, std::string_view body,
                                        const SourceRange &range) {
  const auto [place, added] = generated_.try_emplace({name, type});
  if (!added) {
    return place->second;
  }
  if (!generated_scope_) {
    generated_scope_ = static_cast<std::uint32_t>(context_.module.scopes.size());
    context_.module.scopes.emplace_back();
  }
  const std::string full =
      std::string(name) + "<" + std::string(cgrt::format::spelling(type)) + ">";
  place->second = append_generated(full, std::move(params), {body, range}, *generated_scope_);
  return place->second;
}

KernelId KernelInstances::append_generated(const std::string &name, std::vector<KernelParam> params,
                                           const CodeText &body, std::uint32_t scope) {
  Kernel kernel;
  kernel.name = context_.kernel_names.add(name);
  kernel.symbol = context_.kernel_symbols.add(identifier("cg_" + name), '_');
  kernel.params = std::move(params);
  kernel.place = context_.files.place(body.range);
  const KernelId id{static_cast<std::uint32_t>(context_.program.kernels.size())};
  context_.program.kernels.push_back(std::move(kernel));
  KernelSource source;
  source.scope = scope;
  source.body = body;
  source.name = body.range;
  context_.module.kernel_sources.push_back(std::move(source));
  return id;
}

KernelId KernelInstances::device_code(const std::string &name,
                                      const std::vector<KernelParam> &params,
                                      const std::string &text, const SourceRange &range) {
  std::string key = text;
  for (const KernelParam &param : params) {
    key += std::string(cgrt::format::spelling(param.type)) +
           (param.is_buffer ? std::string(spelling(param.mode)) : "") +
           (param.is_graph ? "graph" : "") + ",";
  }
  const auto [place, added] = device_codes_.try_emplace(key);
  if (!added) {
    return place->second;
  }
  if (!device_code_scope_) {
    device_code_scope_ = static_cast<std::uint32_t>(context_.module.scopes.size());
    CodeScope scope;
    scope.blocks.push_back({embedded::stdlib_kernels_device_expr_cuh, range});
    context_.module.scopes.push_back(std::move(scope));
  }
  const std::string &kept = context_.module.texts.emplace_back("\n" + text);
  place->second = append_generated(name, params, {kept, range}, *device_code_scope_);
  Kernel &kernel = context_.program.kernels[place->second.index];
  kernel.inplace = true;
  kernel.strided = true;
  return place->second;
}

} // namespace cgc
