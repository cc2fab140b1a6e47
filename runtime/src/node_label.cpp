#include "node_label.h"

#include <utility>

namespace cgrt {

NodeLabel::NodeLabel(std::string text, SourceLocation where)
    : words_(std::make_shared<const Words>(Words{std::move(text), std::move(where)})) {}

std::string NodeLabel::text() const {
  return node_ != nullptr ? format::describe(*program_, *node_) : words_ ? words_->text : "";
}

SourceLocation NodeLabel::where() const {
  return node_ != nullptr ? program_->locate(node_->place)
         : words_         ? words_->where
                          : SourceLocation{};
}

} // namespace cgrt
