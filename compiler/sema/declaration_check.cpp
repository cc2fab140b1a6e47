#include "sema/declaration_check.h"

#include "sema/attribute_check.h"
#include "sema/cpp_word.h"

#include <algorithm>

namespace cgc {

namespace {

constexpr std::size_t max_dimensions = 8;

/// Refuses names that stand twice.
class ParameterNames {
public:
  explicit ParameterNames(Diagnostics &diagnostics) : diagnostics_(diagnostics) {}

  void declare(const ast::Name &name) {
    const auto [place, added] = seen_.emplace(name.text, name.range);
    if (!added) {
      diagnostics_.report(Diag::Redefined, name.range, name.text)
          .notes.push_back({place->second, "the first declaration"});
    }
  }

private:
  Diagnostics &diagnostics_;
  std::unordered_map<std::string_view, SourceRange> seen_;
};

class KernelCheck {
public:
  KernelCheck(const ast::Kernel &kernel, ExprCheck &exprs, Diagnostics &diagnostics)
      : kernel_(kernel), exprs_(exprs), diagnostics_(diagnostics), names_(diagnostics) {}

  KernelClauses run() {
    check_attributes(kernel_.attributes, Attributed::Kernel, "a kernel", {}, exprs_, diagnostics_);
    check_type_parameters();
    check_parameters();
    for (const ast::KernelClause &clause : kernel_.clauses) {
      check_clause(clause);
    }
    check_body();
    for (const auto &[part, name] :
         {std::pair(clauses_.grid, "grid"), std::pair(clauses_.block, "block")}) {
      if (part == nullptr) {
        diagnostics_.report(Diag::MissingGeometry, kernel_.name.range, kernel_.name.text, name);
      }
    }
    return clauses_;
  }

private:
  void declare(const ast::Name &name) {
    check_seen_by_bodies(name, diagnostics_);
    names_.declare(name);
  }

  void check_type_parameters() {
    for (const ast::TypeParameter &type : kernel_.type_parameters) {
      declare(type.name);
      const bool used = std::any_of(kernel_.parameters.begin(), kernel_.parameters.end(),
                                    [&](const ast::Parameter &it) {
                                      return it.type_name && it.type_name->text == type.name.text;
                                    });
      if (!used) {
        diagnostics_.report(Diag::NeverDeduced, type.name.range, type.name.text);
      }
    }
  }

  void check_parameters() {
    const ExprScope shapes = {&kernel_, nullptr, false, false, "a kernel parameter's shape"};
    for (const ast::Parameter &parameter : kernel_.parameters) {
      declare(parameter.name);
      if (parameter.type_name && !is_type_parameter(parameter.type_name->text)) {
        diagnostics_.report(Diag::UndefinedName, parameter.type_name->range,
                            parameter.type_name->text, " as a type");
      }
      check_shape(parameter.shape, parameter.name, shapes, exprs_, diagnostics_);
    }
  }

  bool is_type_parameter(std::string_view name) const {
    return std::any_of(kernel_.type_parameters.begin(), kernel_.type_parameters.end(),
                       [name](const ast::TypeParameter &it) { return it.name.text == name; });
  }

  void check_clause(const ast::KernelClause &clause) {
    const std::string name(clause.name.text);
    const bool model = name == "flops" || name == "bytes"; // of what a launch does, for profiles
    if (!model && name != "grid" && name != "block" && name != "shared") {
      diagnostics_.report(Diag::UnknownClause, clause.name.range, name);
      return;
    }
    if (!seen_clauses_.insert(name).second) {
      diagnostics_.report(Diag::RepeatedClause, clause.range, name);
      return;
    }
    (name == "grid"    ? clauses_.grid
     : name == "block" ? clauses_.block
     : model           ? model_
                       : clauses_.shared) = &clause;
    const std::size_t most = name == "grid" || name == "block" ? 3 : 1;
    if (clause.values.size() > most) {
      diagnostics_.report(Diag::ClauseArity, clause.range, name,
                          most == 1 ? "1 value" : "1 to 3 values", clause.values.size());
    }
    const ExprScope scope = {&kernel_, nullptr, false, true, "a kernel's clause"};
    for (const ast::ExprRef value : clause.values) {
      if (model) {
        exprs_.check(value, scope);
      } else {
        exprs_.check_integer(value, scope, name);
      }
    }
  }

  void check_body() {
    const ast::KernelBody &body = kernel_.body;
    if (body.kind == ast::BodyKind::Binary && !body.symbol) {
      diagnostics_.report(Diag::BinarySymbol, body.range);
    }
    if (body.kind != ast::BodyKind::Cuda && !kernel_.type_parameters.empty()) {
      diagnostics_.report(Diag::GenericNeedsBody, kernel_.name.range, kernel_.name.text);
    }
  }

  const ast::Kernel &kernel_;
  ExprCheck &exprs_;
  Diagnostics &diagnostics_;
  KernelClauses clauses_;
  const ast::KernelClause *model_ = nullptr;
  std::set<std::string> seen_clauses_;
  ParameterNames names_;
};

} // namespace

void check_seen_by_bodies(const ast::Name &name, Diagnostics &diagnostics) {
  if (is_cpp_word(name.text)) {
    diagnostics.report(Diag::CppWord, name.range, name.text);
  }
}

void check_shape(const std::vector<ast::ExprRef> &shape, const ast::Name &name,
                 const ExprScope &scope, ExprCheck &exprs, Diagnostics &diagnostics) {
  if (shape.size() > max_dimensions) {
    diagnostics.report(Diag::TooManyDimensions, name.range, shape.size());
  }
  for (const ast::ExprRef extent : shape) {
    exprs.check_integer(extent, scope, "an extent of '" + std::string(name.text) + "'");
  }
}

void check_buffer(const ast::Buffer &buffer, const ExprScope &scope, ExprCheck &exprs,
                  Diagnostics &diagnostics) {
  const bool host = buffer.space == ast::MemorySpace::Host;
  check_attributes(buffer.attributes, host ? Attributed::Buffer : Attributed::Other,
                   host ? "a host buffer" : "a device buffer", scope, exprs, diagnostics);
  check_shape(buffer.shape, buffer.name, scope, exprs, diagnostics);
}

KernelClauses check_kernel(const ast::Kernel &kernel, ExprCheck &exprs, Diagnostics &diagnostics) {
  return KernelCheck(kernel, exprs, diagnostics).run();
}

void check_callable(const ast::Callable &callable, ExprCheck &exprs, Diagnostics &diagnostics) {
  check_attributes(callable.attributes, Attributed::Callable, "the declaration of a function", {},
                   exprs, diagnostics);
  ParameterNames names(diagnostics);
  const ExprScope shapes = {&callable, nullptr, false, false, "a parameter's shape"};
  for (const ast::Parameter &parameter : callable.parameters) {
    names.declare(parameter.name);
    if (parameter.launch) {
      diagnostics.report(Diag::GraphParameter, parameter.name.range, parameter.name.text);
    }
    if (parameter.type_name) {
      diagnostics.report(Diag::UndefinedName, parameter.type_name->range, parameter.type_name->text,
                         " as a type");
    }
    check_shape(parameter.shape, parameter.name, shapes, exprs, diagnostics);
  }
}

ast::ScalarType parameter_type(const ast::Signature &kernel, const ast::Parameter &parameter,
                               const std::vector<ast::ScalarType> &types) {
  if (parameter.type_name) {
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (kernel.type_parameters[i].name.text == parameter.type_name->text) {
        return types[i];
      }
    }
  }
  return parameter.type;
}

} // namespace cgc
