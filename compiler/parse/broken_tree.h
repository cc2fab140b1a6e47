// Syntax errors in the parse tree.
#pragma once

#include "CGraphParser.h"

namespace cgc {

/// Whether a syntax error lies in this part of the tree; the statements of a block are looked at
/// one by one and do not count for what holds the block.
bool is_broken(antlr4::tree::ParseTree &tree);

/// Calls `visit` with each identifier that the file has in this part of the tree.
template <typename Visit> void for_each_identifier(antlr4::tree::ParseTree &tree, Visit visit) {
  std::vector<antlr4::tree::ParseTree *> pending = {&tree};
  while (!pending.empty()) {
    antlr4::tree::ParseTree *part = pending.back();
    pending.pop_back();
    if (auto *leaf = dynamic_cast<antlr4::tree::TerminalNode *>(part)) {
      const antlr4::Token &token = *leaf->getSymbol();
      // Tokens that the parser made up have no text in the file.
      if (token.getType() == CGraphParser::IDENTIFIER && token.getTokenIndex() != INVALID_INDEX) {
        visit(token);
      }
    }
    pending.insert(pending.end(), part->children.begin(), part->children.end());
  }
}

} // namespace cgc
