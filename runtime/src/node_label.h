// Whom an error is about.
#pragma once

#include "format/program.h"

#include <memory>
#include <string>

namespace cgrt {

/// Mostly a node of a program, which is only referred to: building a graph makes no strings, an
/// error does. What is referred to must outlive the label and its copies.
class NodeLabel {
public:
  /// Nobody.
  NodeLabel() = default;
  /// Something else than a node, in its own words.
  NodeLabel(std::string text, SourceLocation where);
  NodeLabel(const format::Program &program, const format::Node &node)
      : program_(&program), node_(&node) {}

  bool is_nobody() const { return node_ == nullptr && !words_; }
  /// "kernel saxpy"; empty for nobody.
  std::string text() const;
  SourceLocation where() const;

private:
  struct Words {
    std::string text;
    SourceLocation where;
  };

  const format::Program *program_ = nullptr;
  const format::Node *node_ = nullptr;
  std::shared_ptr<const Words> words_;
};

} // namespace cgrt
