#include "parse/ast_builder.h"

#include "parse/expr_builder.h"

namespace cgc {

namespace {

class AstBuilder {
public:
  AstBuilder(const SourceFiles &files, FileId id, Diagnostics &diagnostics)
      : diagnostics_(diagnostics), exprs_(file_, files[id], diagnostics) {
    file_.id = id;
  }

  ast::File build(CGraphParser::FileContext &tree) {
    for (antlr4::tree::ParseTree *child : tree.children) {
      if (auto *declaration = dynamic_cast<CGraphParser::DeclarationContext *>(child)) {
        add_declaration(*declaration);
      }
    }
    return std::move(file_);
  }

private:
  /// Whether a syntax error lies in this part of the tree. Iterative: the tree may be deep.
  static bool is_broken(antlr4::tree::ParseTree &tree) {
    std::vector<antlr4::tree::ParseTree *> pending = {&tree};
    while (!pending.empty()) {
      antlr4::tree::ParseTree *part = pending.back();
      pending.pop_back();
      auto *rule = dynamic_cast<antlr4::ParserRuleContext *>(part);
      if ((rule != nullptr && rule->exception != nullptr) ||
          dynamic_cast<antlr4::tree::ErrorNode *>(part) != nullptr) {
        return true;
      }
      pending.insert(pending.end(), part->children.begin(), part->children.end());
    }
    return false;
  }

  void poison(antlr4::tree::ParseTree &tree) {
    std::vector<antlr4::tree::ParseTree *> pending = {&tree};
    while (!pending.empty()) {
      antlr4::tree::ParseTree *part = pending.back();
      pending.pop_back();
      if (auto *leaf = dynamic_cast<antlr4::tree::TerminalNode *>(part)) {
        const antlr4::Token &token = *leaf->getSymbol();
        // Tokens that the parser made up have no text in the file.
        if (token.getType() == CGraphParser::IDENTIFIER && token.getTokenIndex() != INVALID_INDEX) {
          file_.poisoned.insert(exprs_.text(exprs_.range(token)));
        }
      }
      pending.insert(pending.end(), part->children.begin(), part->children.end());
    }
  }

  void add_declaration(CGraphParser::DeclarationContext &tree) {
    if (tree.graphDeclaration() != nullptr) {
      add_graph(*tree.graphDeclaration());
    } else if (is_broken(tree)) {
      poison(tree);
    } else if (tree.constDeclaration() != nullptr) {
      auto &declaration = *tree.constDeclaration();
      file_.consts.push_back(
          {exprs_.name(*declaration.name()), exprs_.build(*declaration.expression())});
    } else if (tree.paramDeclaration() != nullptr) {
      add_param(*tree.paramDeclaration());
    } else if (tree.bufferDeclaration() != nullptr) {
      add_buffers(*tree.bufferDeclaration());
    } else if (tree.kernelDeclaration() != nullptr) {
      add_kernel(*tree.kernelDeclaration());
    }
  }

  void add_param(CGraphParser::ParamDeclarationContext &tree) {
    ast::Param param;
    param.name = exprs_.name(*tree.name());
    param.type = exprs_.scalar_type(*tree.scalarType());
    if (tree.expression() != nullptr) {
      param.default_value = exprs_.build(*tree.expression());
    }
    file_.params.push_back(param);
  }

  std::vector<ast::ExprRef>
  build_all(const std::vector<CGraphParser::ExpressionContext *> &expressions) {
    std::vector<ast::ExprRef> refs;
    refs.reserve(expressions.size());
    for (CGraphParser::ExpressionContext *expression : expressions) {
      refs.push_back(exprs_.build(*expression));
    }
    return refs;
  }

  void add_buffers(CGraphParser::BufferDeclarationContext &tree) {
    ast::Buffer buffer;
    buffer.type = exprs_.scalar_type(*tree.scalarType());
    buffer.space = tree.space->getType() == CGraphParser::HOST ? ast::MemorySpace::Host
                                                               : ast::MemorySpace::Device;
    if (tree.access != nullptr) {
      buffer.access = tree.access->getType() == CGraphParser::IN    ? ast::CallerAccess::In
                      : tree.access->getType() == CGraphParser::OUT ? ast::CallerAccess::Out
                                                                    : ast::CallerAccess::InOut;
    }
    buffer.shape = build_all(tree.shape()->expression());
    for (CGraphParser::NameContext *name : tree.name()) {
      buffer.name = exprs_.name(*name);
      file_.buffers.push_back(buffer);
    }
  }

  ast::KernelParameter kernel_parameter(CGraphParser::KernelParameterContext &tree) {
    ast::KernelParameter parameter;
    parameter.name = exprs_.name(*tree.name());
    parameter.type = exprs_.scalar_type(*tree.scalarType());
    if (tree.access != nullptr) {
      parameter.mode = tree.access->getType() == CGraphParser::IN    ? ast::Mode::In
                       : tree.access->getType() == CGraphParser::OUT ? ast::Mode::Out
                                                                     : ast::Mode::InOut;
      parameter.shape = build_all(tree.shape()->expression());
    }
    return parameter;
  }

  void add_kernel(CGraphParser::KernelDeclarationContext &tree) {
    ast::Kernel kernel;
    kernel.name = exprs_.name(*tree.name());
    for (CGraphParser::KernelParameterContext *parameter : tree.kernelParameter()) {
      kernel.parameters.push_back(kernel_parameter(*parameter));
    }
    for (CGraphParser::KernelClauseContext *clause : tree.kernelClause()) {
      const std::size_t type = clause->clause->getType();
      kernel.clauses.push_back({type == CGraphParser::GRID    ? ast::ClauseKind::Grid
                                : type == CGraphParser::BLOCK ? ast::ClauseKind::Block
                                                              : ast::ClauseKind::Shared,
                                exprs_.range(*clause), build_all(clause->expression())});
    }
    kernel.body_range = exprs_.range(*tree.RAW_BODY()->getSymbol());
    ++kernel.body_range.begin; // without the braces
    --kernel.body_range.end;
    kernel.body = exprs_.text(kernel.body_range);
    file_.kernels.push_back(std::move(kernel));
  }

  void add_graph(CGraphParser::GraphDeclarationContext &tree) {
    if (tree.name() == nullptr || is_broken(*tree.name())) {
      return;
    }
    ast::Graph graph;
    graph.name = exprs_.name(*tree.name());
    for (antlr4::tree::ParseTree *child : tree.children) {
      auto *statement = dynamic_cast<CGraphParser::StatementContext *>(child);
      if (statement != nullptr && !is_broken(*statement)) {
        add_statement(graph, *statement);
      }
    }
    file_.graphs.push_back(std::move(graph));
  }

  /// `<-` is two tokens, but one word to the reader.
  void check_arrow(const std::vector<antlr4::tree::ParseTree *> &children) {
    for (std::size_t i = 0; i + 1 < children.size(); ++i) {
      auto *less = dynamic_cast<antlr4::tree::TerminalNode *>(children[i]);
      auto *minus = dynamic_cast<antlr4::tree::TerminalNode *>(children[i + 1]);
      if (less == nullptr || minus == nullptr) {
        continue;
      }
      const SourceRange arrow =
          join(exprs_.range(*less->getSymbol()), exprs_.range(*minus->getSymbol()));
      if (arrow.end - arrow.begin != 2) {
        diagnostics_.report(Diag::SplitArrow, arrow);
      }
      return;
    }
  }

  void add_statement(ast::Graph &graph, CGraphParser::StatementContext &tree) {
    ast::Statement statement;
    statement.range = exprs_.range(tree);
    if (auto *copy = tree.copyStatement()) {
      check_arrow(copy->children);
      statement.action = ast::CopyStatement{exprs_.name(*copy->bufferReference(0)->name()),
                                            exprs_.name(*copy->bufferReference(1)->name())};
    } else if (auto *fill = tree.fillStatement()) {
      check_arrow(fill->children);
      statement.action = ast::FillStatement{exprs_.name(*fill->bufferReference()->name()),
                                            exprs_.build(*fill->expression())};
    } else {
      auto &launch = *tree.launchStatement();
      statement.action =
          ast::LaunchStatement{exprs_.name(*launch.name()), build_all(launch.expression())};
    }
    graph.statements.push_back(std::move(statement));
  }

  ast::File file_;
  Diagnostics &diagnostics_;
  ExprBuilder exprs_;
};

} // namespace

ast::File build_ast(CGraphParser::FileContext &tree, const SourceFiles &files, FileId file,
                    Diagnostics &diagnostics) {
  return AstBuilder(files, file, diagnostics).build(tree);
}

} // namespace cgc
