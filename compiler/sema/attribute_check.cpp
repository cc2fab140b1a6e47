#include "sema/attribute_check.h"

#include <algorithm>
#include <array>
#include <set>

namespace cgc {

namespace {

enum class Takes : std::uint8_t { Nothing, Integer, UpToThreeIntegers, Text };

struct AttributeInfo {
  std::string_view name;
  Takes takes;
  std::uint16_t goes_with; ///< a bit for each Attributed
  std::string_view wanted;
};

constexpr std::uint16_t bit(Attributed what) {
  return static_cast<std::uint16_t>(1U << static_cast<unsigned>(what));
}

constexpr std::uint16_t launches = bit(Attributed::Kernel) | bit(Attributed::Launch) |
                                   bit(Attributed::Child) | bit(Attributed::Block);

constexpr auto attributes_known = std::to_array<AttributeInfo>({
    {"cancellable", Takes::Nothing, bit(Attributed::Graph), "graphs"},
    {"cluster", Takes::UpToThreeIntegers, launches, "kernels and their launches"},
    {"concurrent", Takes::Nothing, bit(Attributed::Callable), "callbacks and captured functions"},
    {"cooperative", Takes::Nothing, launches, "kernels and their launches"},
    {"device_launch", Takes::Nothing, bit(Attributed::Graph), "graphs"},
    {"explicit", Takes::Nothing, bit(Attributed::Graph), "graphs"},
    {"external", Takes::Nothing, bit(Attributed::Event), "events"},
    {"inplace", Takes::Nothing, bit(Attributed::Kernel), "kernels"},
    {"mapped", Takes::Nothing, bit(Attributed::Buffer), "host buffers"},
    {"name", Takes::Text,
     bit(Attributed::Launch) | bit(Attributed::Child) | bit(Attributed::Memory) |
         bit(Attributed::Call) | bit(Attributed::EventNode) | bit(Attributed::Start),
     "statements that make one node"},
    {"priority", Takes::Integer, launches | bit(Attributed::Stream),
     "kernels, their launches and streams"},
    {"timing", Takes::Nothing, bit(Attributed::Event), "events"},
    {"updatable", Takes::Nothing, bit(Attributed::Launch), "launches of kernels"},
});

std::string_view describe(Takes takes) {
  switch (takes) {
  case Takes::Nothing:
    return "no argument";
  case Takes::Integer:
    return "one constant integer";
  case Takes::UpToThreeIntegers:
    return "one to three constant integers";
  case Takes::Text:
    return "one string";
  }
  return "";
}

bool arguments_match(const ast::Attribute &attribute, Takes takes) {
  const std::size_t count = attribute.arguments.size();
  switch (takes) {
  case Takes::Nothing:
    return count == 0 && !attribute.text;
  case Takes::Integer:
    return count == 1 && !attribute.text;
  case Takes::UpToThreeIntegers:
    return count >= 1 && count <= 3 && !attribute.text;
  case Takes::Text:
    return count == 0 && attribute.text.has_value();
  }
  return false;
}

} // namespace

void check_attributes(const ast::Attributes &attributes, Attributed what, std::string_view noun,
                      const ExprScope &scope, ExprCheck &exprs, Diagnostics &diagnostics) {
  ExprScope constant = scope;
  constant.params = false;
  constant.buffers = false;
  constant.user = "an attribute";
  std::set<std::string_view> seen;
  for (const ast::Attribute &attribute : attributes) {
    const std::string_view name = attribute.name.text;
    const auto *known =
        std::find_if(attributes_known.begin(), attributes_known.end(),
                     [name](const AttributeInfo &info) { return info.name == name; });
    if (known == attributes_known.end()) {
      diagnostics.report(Diag::UnknownAttribute, attribute.name.range, "@" + std::string(name));
    } else if ((known->goes_with & bit(what)) == 0) {
      diagnostics.report(Diag::MisplacedAttribute, attribute.range, name, known->wanted, noun);
    } else if (!arguments_match(attribute, known->takes)) {
      diagnostics.report(Diag::AttributeArguments, attribute.range, name, describe(known->takes));
    } else if (!seen.insert(name).second) {
      diagnostics.report(Diag::RepeatedAttribute, attribute.range, name);
    } else {
      for (const ast::ExprRef argument : attribute.arguments) {
        exprs.check_integer(argument, constant, "@" + std::string(name));
      }
    }
  }
}

const ast::Attribute *find_attribute(const ast::Attributes &attributes, std::string_view name) {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(),
                   [name](const ast::Attribute &it) { return it.name.text == name; });
  return found == attributes.end() ? nullptr : &*found;
}

} // namespace cgc
