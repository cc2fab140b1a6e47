#include "driver/defines.h"

#include "parse/number.h"

#include "format/expr.h"

#include <algorithm>

namespace cgc {

namespace {

std::optional<ast::Value> parse_value(std::string_view text) {
  if (text == "true" || text == "false") {
    return ast::Value::of(text == "true");
  }
  if (!text.starts_with('-')) {
    return parse_number(text);
  }
  const auto magnitude = parse_number(text.substr(1));
  if (!magnitude) {
    return std::nullopt;
  }
  if (magnitude->is_float()) {
    return ast::Value::of(-magnitude->as_double());
  }
  // Through the expression table, for its overflow check.
  cgrt::format::ExprTable table;
  const auto negated = table.known(table.unary(ast::ExprOp::Neg, table.constant(*magnitude)));
  return negated->ok() ? std::optional(negated->value) : std::nullopt;
}

} // namespace

llvm::Expected<Defines> parse_defines(const std::vector<std::string> &texts) {
  Defines defines;
  for (const std::string &text : texts) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto value =
        parse_value(equals == std::string::npos ? "1" : std::string_view(text).substr(equals + 1));
    if (name.empty() || !value) {
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "-D %s: write NAME=VALUE with a number, true or false",
                                     text.c_str());
    }
    defines[name] = *value;
  }
  return defines;
}

llvm::Error check_defines(const Defines &defines, const ast::File &file) {
  for (const auto &[name, value] : defines) {
    const bool known =
        std::any_of(file.consts.begin(), file.consts.end(),
                    [&name = name](const ast::Const &item) { return item.name.text == name; });
    if (!known && !file.has_syntax_errors) {
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "-D %s: the file declares no const of that name",
                                     name.c_str());
    }
  }
  return llvm::Error::success();
}

} // namespace cgc
