#include "parse/ast_builder.h"

#include "parse/broken_tree.h"
#include "parse/expr_builder.h"
#include "parse/statement_builder.h"
#include "parse/string_literal.h"

#include <algorithm>
#include <utility>

namespace cgc {

AstBuilder::AstBuilder(CGraphParser &parser, const SourceFiles &files, FileId id,
                       Diagnostics &diagnostics)
    : parser_(parser), diagnostics_(diagnostics), exprs_(file_, files[id], diagnostics),
      statements_(file_, exprs_, diagnostics) {
  file_.id = id;
  // About as many as there will be: growing step by step would copy them again and again.
  constexpr std::size_t characters_for_each = 4;
  constexpr std::size_t most = std::size_t{1} << 22;
  file_.exprs.reserve(std::min(files[id].text().size() / characters_for_each, most));
}

void AstBuilder::enterEveryRule(antlr4::ParserRuleContext *rule) {
  const std::size_t kind = rule->getRuleIndex();
  const bool declaration = kind == CGraphParser::RuleDeclaration;
  // A statement inside of another one belongs to that.
  const bool statement = kind == CGraphParser::RuleStatement && open_.size() == 1;
  if (declaration) {
    names_outside_ = std::exchange(file_.names_in_errors, {});
  }
  if (declaration || statement) {
    open_.push_back({rule, std::move(parser_.getTreeTracker())});
    parser_.getTreeTracker() = {};
  }
}

void AstBuilder::exitEveryRule(antlr4::ParserRuleContext *rule) {
  if (open_.empty() || open_.back().rule != rule) {
    return;
  }
  if (auto *statement = dynamic_cast<CGraphParser::StatementContext *>(rule)) {
    statements_.add(block_, *statement);
  } else {
    add_declaration(dynamic_cast<CGraphParser::DeclarationContext &>(*rule));
    block_ = {};
    file_.names_in_errors.merge(names_outside_);
  }
  rule->children.clear();
  parser_.getTreeTracker().reset();
  parser_.getTreeTracker() = std::move(open_.back().outer);
  open_.pop_back();
}

void AstBuilder::visitErrorNode(antlr4::tree::ErrorNode *node) {
  statements_.note_errors(*node);
}

void AstBuilder::add_declaration(CGraphParser::DeclarationContext &tree) {
  if (is_broken(tree)) {
    add_broken(tree);
    return;
  }
  const ast::Attributes attributes = statements_.attributes(tree.attribute());
  if (auto *import = tree.importDeclaration()) {
    add_import(*import);
  } else if (auto *constant = tree.constDeclaration()) {
    file_.consts.push_back(statements_.constant(*constant));
  } else if (auto *param = tree.paramDeclaration()) {
    add_param(*param);
  } else if (auto *buffers = tree.bufferDeclaration()) {
    const ast::BufferStatement added = statements_.buffers(*buffers, attributes);
    for (std::uint32_t i = 0; i < added.count; ++i) {
      file_.file_buffers.push_back(added.first + i);
    }
  } else if (auto *kernel = tree.kernelDeclaration()) {
    add_kernel(*kernel, attributes);
  } else if (auto *block = tree.cudaDeclaration()) {
    file_.cuda_blocks.push_back(body_range(*block->RAW_BODY()->getSymbol()));
  } else if (auto *function = tree.callableDeclaration()) {
    const auto kind = function->kind->getType() == CGraphParser::CALLBACK
                          ? ast::CallableKind::Callback
                          : ast::CallableKind::Captured;
    ast::Callable callable;
    callable.name = exprs_.word(*function->word());
    callable.parameters = parameters(*function->parameters());
    callable.kind = kind;
    callable.attributes = attributes;
    file_.callables.push_back(std::move(callable));
  } else if (auto *def = tree.defDeclaration()) {
    file_.defs.push_back({exprs_.word(*def->word()), parameters(*def->parameters()),
                          std::move(block_), file_.names_in_errors});
  } else if (auto *graph = tree.graphDeclaration()) {
    file_.graphs.push_back({exprs_.name(*graph->name()), std::move(block_), attributes});
  }
}

/// A graph whose head is right is worth its statements' errors; a def without its body would only
/// make its calls fail.
void AstBuilder::add_broken(CGraphParser::DeclarationContext &tree) {
  auto *graph = tree.graphDeclaration();
  if (graph != nullptr && graph->name() != nullptr && graph->block() != nullptr &&
      !is_broken(*graph->name())) {
    file_.graphs.push_back({exprs_.name(*graph->name()), std::move(block_), {}});
  } else {
    statements_.note_errors(tree);
  }
}

void AstBuilder::add_import(CGraphParser::ImportDeclarationContext &tree) {
  ast::Import import;
  if (tree.path != nullptr) {
    import.range = exprs_.range(*tree.path);
    import.path = string_value(exprs_.text(import.range), import.range, diagnostics_);
    // "path/to/other.cgraph" is called `other`.
    import.name = {exprs_.text(import.range), import.range};
    import.name.text.remove_prefix(1);
    import.name.text.remove_suffix(1);
    import.name.text.remove_prefix(import.name.text.find_last_of('/') + 1);
    import.name.text = import.name.text.substr(0, import.name.text.find('.'));
  } else {
    const auto words = tree.word();
    import.standard = true;
    import.range = join(exprs_.range(*words.front()), exprs_.range(*words.back()));
    for (CGraphParser::WordContext *word : words) {
      import.path += (import.path.empty() ? "" : ".") + std::string(exprs_.word(*word).text);
    }
    import.name = exprs_.word(*words.back());
  }
  if (tree.name() != nullptr) {
    import.name = exprs_.name(*tree.name());
    import.renamed = true;
  }
  file_.imports.push_back(std::move(import));
}

void AstBuilder::add_param(CGraphParser::ParamDeclarationContext &tree) {
  ast::Param param;
  param.name = exprs_.name(*tree.name());
  param.type = exprs_.scalar_type(*tree.scalarType());
  if (tree.expression() != nullptr) {
    param.default_value = exprs_.build(*tree.expression());
  }
  file_.params.push_back(param);
}

std::vector<ast::Parameter> AstBuilder::parameters(CGraphParser::ParametersContext &tree) {
  std::vector<ast::Parameter> result;
  for (CGraphParser::ParameterContext *declared : tree.parameter()) {
    ast::Parameter parameter;
    parameter.name = exprs_.name(*declared->name());
    CGraphParser::ElementTypeContext *type = declared->elementType();
    if (type == nullptr) {
      parameter.launch = launch_kind(*declared->launch);
      parameter.type = ast::ScalarType::U64;
    } else if (type->scalarType() != nullptr) {
      parameter.type = exprs_.scalar_type(*type->scalarType());
    } else {
      parameter.type_name = exprs_.name(*type->name());
    }
    if (declared->access != nullptr) {
      parameter.mode = declared->access->getType() == CGraphParser::IN    ? ast::Mode::In
                       : declared->access->getType() == CGraphParser::OUT ? ast::Mode::Out
                                                                          : ast::Mode::InOut;
      parameter.shape = exprs_.build_all(declared->shape()->expression());
    }
    result.push_back(std::move(parameter));
  }
  return result;
}

void AstBuilder::add_kernel(CGraphParser::KernelDeclarationContext &tree,
                            const ast::Attributes &attributes) {
  ast::Kernel kernel;
  kernel.name = exprs_.word(*tree.word());
  kernel.attributes = attributes;
  if (tree.typeParameters() != nullptr) {
    for (CGraphParser::TypeParameterContext *type : tree.typeParameters()->typeParameter()) {
      kernel.type_parameters.push_back({exprs_.name(*type->name()), {}});
      for (CGraphParser::ScalarTypeContext *allowed : type->scalarType()) {
        kernel.type_parameters.back().types.push_back(exprs_.scalar_type(*allowed));
      }
    }
  }
  kernel.parameters = parameters(*tree.parameters());
  for (CGraphParser::KernelClauseContext *clause : tree.kernelClause()) {
    const SourceRange name = exprs_.range(*clause->clause);
    kernel.clauses.push_back(
        {{exprs_.text(name), name}, exprs_.range(*clause), exprs_.build_all(clause->expression())});
  }
  kernel.body = body(*tree.kernelBody());
  if (tree.hostBody != nullptr) {
    kernel.host = body_range(*tree.hostBody);
  }
  file_.kernels.push_back(std::move(kernel));
}

SourceRange AstBuilder::body_range(const antlr4::Token &body) const {
  SourceRange range = exprs_.range(body);
  ++range.begin; // without the braces
  --range.end;
  return range;
}

ast::KernelBody AstBuilder::body(CGraphParser::KernelBodyContext &tree) {
  ast::KernelBody result;
  if (tree.EXTERNAL() != nullptr) {
    result.kind = ast::BodyKind::External;
    result.range = exprs_.range(*tree.EXTERNAL()->getSymbol());
    return result;
  }
  if (tree.origin == nullptr) {
    result.range = body_range(*tree.RAW_BODY()->getSymbol());
    return result;
  }
  result.kind = tree.origin->getType() == CGraphParser::SOURCE ? ast::BodyKind::Source
                                                               : ast::BodyKind::Binary;
  const auto text = [&](std::size_t index) {
    const SourceRange range = exprs_.range(*tree.STRING(index)->getSymbol());
    return string_value(exprs_.text(range), range, diagnostics_);
  };
  result.range = exprs_.range(*tree.STRING(0)->getSymbol());
  result.path = text(0);
  if (tree.SYMBOL() != nullptr) {
    result.symbol = text(1);
  }
  return result;
}

} // namespace cgc
