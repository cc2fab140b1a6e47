#include "kernels/code_unit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace cgc {

using cgrt::format::KernelId;
using cgrt::format::Program;

namespace {

using Kind = CodeUnit::Kind;

/// Whether its GPU code is made here.
bool is_compiled(const KernelSource &source) {
  return source.kind == BodyKind::Cuda || source.kind == BodyKind::Source;
}

Kind kind_of_body(const KernelSource &source) {
  return source.kind == BodyKind::Source ? Kind::Source : Kind::Bodies;
}

/// Parts of nearly equal size, none larger than a unit may be.
void append_parts(const CodeUnit &whole, std::vector<CodeUnit> &units) {
  const std::size_t count = whole.kernels.size();
  const std::size_t parts = (count + max_kernels_per_unit - 1) / max_kernels_per_unit;
  for (std::size_t part = 0; part < parts; ++part) {
    CodeUnit &unit = units.emplace_back(whole);
    const auto begin = whole.kernels.begin();
    unit.kernels.assign(begin + static_cast<std::ptrdiff_t>(count * part / parts),
                        begin + static_cast<std::ptrdiff_t>(count * (part + 1) / parts));
  }
}

/// Groups the kernels by what they share; `kind_of` says nothing for a kernel to leave out. A `.cu`
/// file is one unit however many kernels name it.
template <typename KindOf>
std::vector<CodeUnit> make_units(const Program &program, const KernelUnit &all,
                                 const KindOf &kind_of) {
  std::map<std::tuple<Kind, std::uint32_t>, std::size_t> found;
  std::vector<CodeUnit> wholes;
  for (std::uint32_t index = 0; index < all.sources.size(); ++index) {
    const KernelSource &source = all.sources[index];
    const std::optional<Kind> kind = kind_of(source);
    if (!kind) {
      continue;
    }
    const std::uint32_t shared =
        *kind == Kind::Source ? source.body.range.file.index : source.scope;
    const auto [place, is_new] = found.try_emplace({*kind, shared}, wholes.size());
    if (is_new) {
      wholes.push_back({program, all, *kind, source.scope, {}});
    }
    wholes[place->second].kernels.push_back({index});
  }
  std::vector<CodeUnit> units;
  for (const CodeUnit &whole : wholes) {
    if (whole.kind == Kind::Source) {
      units.push_back(whole);
    } else {
      append_parts(whole, units);
    }
  }
  return units;
}

} // namespace

bool has_instances(const CodeUnit &unit) {
  return std::any_of(unit.kernels.begin(), unit.kernels.end(),
                     [&](KernelId kernel) { return !unit.source(kernel).types.empty(); });
}

std::vector<CodeUnit> cuda_units(const Program &program, const KernelUnit &all) {
  return make_units(program, all, [](const KernelSource &source) -> std::optional<Kind> {
    if (!is_compiled(source)) {
      return std::nullopt;
    }
    return kind_of_body(source);
  });
}

std::vector<CodeUnit> host_units(const Program &program, const KernelUnit &all) {
  return make_units(program, all, [](const KernelSource &source) -> std::optional<Kind> {
    if (source.host) {
      return Kind::Host;
    }
    if (!is_compiled(source)) {
      return std::nullopt;
    }
    return kind_of_body(source);
  });
}

} // namespace cgc
