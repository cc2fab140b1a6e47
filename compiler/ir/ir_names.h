// The names of a program's things in IR text.
#pragma once

#include "ir/ir_parser.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace cgc {

/// What the names of one kind of thing stand for. That none stands twice is verify()'s matter.
template <typename Id> class IrNames {
public:
  explicit IrNames(std::string_view what) : what_(what) {}

  template <typename Things> void add(Things &things, typename Things::value_type thing) {
    const std::string name = thing.name;
    add(things, std::move(thing), name);
  }
  /// A thing that has another name in the text.
  template <typename Things>
  void add(Things &things, typename Things::value_type thing, const std::string &name) {
    ids_.emplace(name, Id{static_cast<std::uint32_t>(things.size())});
    things.push_back(std::move(thing));
  }

  /// The thing of that name, which stands at `range`.
  Id find(IrParser &parser, const std::string &name, const SourceRange &range) const {
    const auto found = ids_.find(name);
    if (found == ids_.end()) {
      parser.fail(Diag::IrUnknown, range, std::string(what_) + " '" + name + "'");
      return {};
    }
    return found->second;
  }

  /// The thing whose name is next.
  Id read(IrParser &parser) const {
    const SourceRange range = parser.token().range;
    return find(parser, parser.name(), range);
  }

private:
  std::string_view what_;
  std::unordered_map<std::string, Id> ids_;
};

} // namespace cgc
