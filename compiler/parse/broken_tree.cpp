#include "parse/broken_tree.h"

namespace cgc {

// Iterative: the tree may be deep.
bool is_broken(antlr4::tree::ParseTree &tree) {
  std::vector<antlr4::tree::ParseTree *> pending = {&tree};
  while (!pending.empty()) {
    antlr4::tree::ParseTree *part = pending.back();
    pending.pop_back();
    auto *rule = dynamic_cast<antlr4::ParserRuleContext *>(part);
    if ((rule != nullptr && rule->exception != nullptr) ||
        dynamic_cast<antlr4::tree::ErrorNode *>(part) != nullptr) {
      return true;
    }
    for (antlr4::tree::ParseTree *child : part->children) {
      if (dynamic_cast<CGraphParser::BlockContext *>(child) == nullptr) {
        pending.push_back(child);
      }
    }
  }
  return false;
}

} // namespace cgc
