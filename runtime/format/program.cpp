#include "format/program.h"

#include <array>

namespace cgrt::format {

std::string_view spelling(Mode mode) {
  constexpr std::array<std::string_view, 3> names = {"in", "out", "inout"};
  return names[static_cast<std::size_t>(mode)];
}

std::string_view spelling(ImageKind kind) {
  constexpr std::array<std::string_view, 4> names = {"cubin", "ptx", "host", "fatbin"};
  return names[static_cast<std::size_t>(kind)];
}

std::size_t Graph::edge_count() const {
  std::size_t count = 0;
  for (const Node &node : nodes) {
    count += node.dependencies.size();
  }
  return count;
}

SourceLocation Program::locate(const Place &place) const {
  if (place.line == 0 || place.file.index >= files.size()) {
    return {};
  }
  return {files[place.file.index], place.line, place.column};
}

namespace {

/// Gathers what a node's fields do to memory.
class EffectCollector {
public:
  explicit EffectCollector(const Program &program) : program_(program) {}

  void operator()(const NodeField &, KernelId kernel) { kernel_ = kernel; }
  void operator()(const NodeField &, ExprId) {}
  void operator()(const NodeField &, const Extents &) {}
  void operator()(const NodeField &field, const Region &region) {
    effects_.push_back(
        {region, field.access == FieldAccess::Read, field.access == FieldAccess::Write});
  }
  void operator()(const NodeField &, const Arguments &arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (const auto *region = std::get_if<Region>(&arguments[i])) {
        const Mode mode = program_[kernel_].params[i].mode;
        effects_.push_back({*region, mode != Mode::Out, mode != Mode::In});
      }
    }
  }

  std::vector<Effect> take() { return std::move(effects_); }

private:
  const Program &program_;
  KernelId kernel_; ///< stands before the arguments
  std::vector<Effect> effects_;
};

class Describer {
public:
  explicit Describer(const Program &program) : program_(program) {}

  void operator()(const NodeField &, KernelId kernel) { text_ += " " + program_[kernel].name; }
  void operator()(const NodeField &, ExprId) {}
  void operator()(const NodeField &, const Extents &) {}
  void operator()(const NodeField &, const Arguments &) {}
  void operator()(const NodeField &field, const Region &region) {
    text_ += field.access == FieldAccess::Read ? " <- " : " ";
    text_ += program_[region.buffer].name;
  }

  std::string take() { return std::move(text_); }

private:
  const Program &program_;
  std::string text_;
};

} // namespace

std::vector<Effect> effects_of(const Program &program, const Node &node) {
  EffectCollector collector(program);
  std::visit([&](const auto &work) { for_each_field(work, collector); }, node.work);
  return collector.take();
}

std::string describe(const Program &program, const Node &node) {
  Describer describer(program);
  std::visit([&](const auto &work) { for_each_field(work, describer); }, node.work);
  return std::string(info(node.kind()).spelling) + describer.take();
}

} // namespace cgrt::format
