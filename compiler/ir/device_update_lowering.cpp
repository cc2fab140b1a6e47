// `grid(L) = …`, `enable(L) = …` and `arg(L, p) = …`: a kernel of one thread that changes a node.
#include "ir/statement_lowering.h"

#include "kernels/kernel_text.h"
#include "sema/declaration_check.h"

#include "format/geometry.h"
#include "format/scalar_type.h"

#include <algorithm>

namespace cgc {

using cgrt::ScalarType;
using cgrt::format::UpdatableId;

namespace {

/// Where a kernel's parameter lies among its arguments in memory, as C++ lays them out.
std::size_t offset_of(const cgrt::format::Kernel &kernel, std::size_t parameter) {
  std::size_t offset = 0;
  for (std::size_t i = 0;; ++i) {
    const cgrt::format::KernelParam &param = kernel.params[i];
    const std::size_t bytes = param.is_buffer ? 8 : cgrt::format::size_of(param.type);
    offset = (offset + bytes - 1) / bytes * bytes;
    if (i == parameter) {
      return offset;
    }
    offset += bytes;
  }
}

/// Why a parameter cannot be changed on the device; empty: it can.
std::string why_fixed(const CheckedFile &file, const ast::Kernel &kernel,
                      const ast::Parameter &parameter) {
  if (parameter.mode || parameter.launch) {
    return parameter.mode ? "it is a buffer" : "it is a graph";
  }
  for (const ast::Parameter &other : kernel.parameters) {
    for (const ast::ExprRef extent : other.shape) {
      for (std::uint32_t i = file[extent].first; i <= extent.index; ++i) {
        if (file[{i}].kind == ast::ExprKind::Name && file[{i}].name == parameter.name.text) {
          return "the shape of '" + std::string(other.name.text) + "' rests on it";
        }
      }
    }
  }
  return {};
}

} // namespace

/// The launch that the label stands before, in the iteration or call that is being lowered.
UpdatableId StatementLowering::updatable(const LabelTarget &label) {
  const auto block = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                  [&](const OpenBlock &open) { return open.block == label.block; });
  const auto [place, added] = block->updatables.try_emplace(label.statement);
  if (added) {
    place->second = {static_cast<std::uint32_t>(context_.program.updatables.size())};
    const ast::Name &name = *label.statement->label;
    context_.program.updatables.push_back(
        {std::string(name.text), context_.files.place(name.range)});
  }
  return place->second;
}

/// The node that has been added last is the launch that the statement is.
void StatementLowering::mark_updatable(const ast::Statement &statement) {
  const cgrt::format::Node &node = target_->graph.nodes.back();
  const auto &work = std::get<cgrt::format::KernelWork>(node.work);
  const auto is_one = [this](cgrt::format::ExprId extent) {
    const auto known = context_.program.exprs.known(extent);
    return known && known->ok() && known->value.as_wide() == 1;
  };
  const auto cooperative = context_.program.exprs.known(work.cooperative);
  if (!std::all_of(work.cluster.begin(), work.cluster.end(), is_one) ||
      (cooperative && cooperative->ok() && cooperative->value.truthy())) {
    context_.diagnostics.report(Diag::UpdatableShape, statement.range,
                                describe(context_.program, node));
  } else if (target_->is_child) {
    context_.diagnostics.report(Diag::UpdatableInChild, statement.range,
                                describe(context_.program, node));
  } else if (statement.label) { // else nothing names it
    target_->graph.nodes.back().updatable = updatable({&statement, blocks_.back().block});
  }
}

void StatementLowering::lower_action(const ast::UpdateStatement &update,
                                     const ast::Statement &statement, Frame &frame) {
  const auto named = context_.checked.labels.find(&update.label);
  if (named == context_.checked.labels.end()) {
    return; // its statement has a syntax error
  }
  const LabelTarget &label = named->second;
  DeviceCode &code = pending_for(update.values, frame, statement.range);
  const std::string node = "(cudaGraphDeviceNode_t)" + code.node(updatable(label));
  std::string change;
  std::string text = std::string(update.what.text) + "(" + std::string(update.label.text);
  if (update.what.text == "grid") {
    change = change_grid(update, node, frame, code);
  } else if (update.what.text == "enable") {
    const DeviceValue value = lower_device_expr(update.values[0], frame, code, context_);
    change = "cudaGraphKernelNodeSetEnabled(" + node + ", " + value.truth() + ")";
  } else {
    text += ", " + std::string(update.parameter->text);
    change = change_argument(update, *label.statement, node, frame, code);
  }
  const auto index = static_cast<std::uint32_t>(context_.program.updates.size());
  context_.program.updates.push_back({text + ")", {}, context_.files.place(statement.range)});
  context_.update_graphs.push_back(context_.entry);
  const std::string refusal =
      code.pointer(signal(context_.program.update_refusals, "updates.refusals", index),
                   ScalarType::U32, true, true);
  const std::string error = code.variable();
  code.line("const cudaError_t " + error + " = " + change + ";");
  code.line("if (" + error + " != cudaSuccess) { " + refusal + "[0] = static_cast<unsigned int>(" +
            error + "); }");
  flush(update.what.text, statement.range);
  name_last_node(context_.program.updates.back().text, statement);
}

/// The call that gives the launch another grid.
std::string StatementLowering::change_grid(const ast::UpdateStatement &update,
                                           const std::string &node, Frame &frame,
                                           DeviceCode &code) {
  std::string extents;
  std::string inside;
  std::string nothing;
  for (std::size_t axis = 0; axis < update.values.size(); ++axis) {
    check_extent(update, axis, frame);
    const DeviceValue value = lower_device_expr(update.values[axis], frame, code, context_);
    const std::string extent = code.variable();
    code.line("const long long " + extent + " = cg_expr::to<long long>(" + value.text + ");");
    extents +=
        (axis == 0 ? "static_cast<unsigned int>(" : ", static_cast<unsigned int>(") + extent + ")";
    inside += (axis == 0 ? "" : " && ") + extent + " >= 0 && " + extent +
              " <= " + std::to_string(cgrt::format::max_grid[axis]);
    nothing += (axis == 0 ? "" : " || ") + extent + " == 0";
  }
  return "!(" + inside + ") ? cudaErrorInvalidValue : cg_expr::set_grid(" + node + ", " + nothing +
         ", dim3(" + extents + "))";
}

/// One that is known.
void StatementLowering::check_extent(const ast::UpdateStatement &update, std::size_t axis,
                                     Frame &frame) {
  const auto known = constant_value(update.values[axis], frame, context_);
  if (!known) {
    return;
  }
  cgrt::format::Geometry geometry;
  const auto wide = known->as_wide();
  geometry.grid[axis] = wide < 0           ? -1
                        : wide > INT64_MAX ? INT64_MAX
                                           : static_cast<std::int64_t>(wide);
  if (const auto problem = cgrt::format::geometry_problem(geometry)) {
    context_.diagnostics.report(Diag::BadGrid, frame.range(update.values[axis]), update.label.text,
                                *problem);
  }
}

/// The call that gives a parameter of the launch another value.
std::string StatementLowering::change_argument(const ast::UpdateStatement &update,
                                               const ast::Statement &launch,
                                               const std::string &node, Frame &frame,
                                               DeviceCode &code) {
  const auto &called = std::get<ast::LaunchStatement>(launch.action);
  const Symbol &callee = frame.file().symbol(called.callee);
  const SourceRange &range = update.parameter->range;
  if (callee.kind != SymbolKind::Kernel) {
    context_.diagnostics.report(Diag::NotUpdatable, update.label.range, update.label.text);
    return "cudaSuccess";
  }
  const CheckedFile &file = context_.checked[callee];
  const ast::Kernel &kernel = file.file->kernels[callee.index];
  const auto found = std::find_if(
      kernel.parameters.begin(), kernel.parameters.end(),
      [&](const ast::Parameter &it) { return it.name.text == update.parameter->text; });
  if (found == kernel.parameters.end()) {
    context_.diagnostics.report(Diag::UndefinedName, range, update.parameter->text,
                                " as a parameter of kernel '" + std::string(kernel.name.text) +
                                    "'");
    return "cudaSuccess";
  }
  if (const std::string why = why_fixed(file, kernel, *found); !why.empty()) {
    context_.diagnostics.report(Diag::ArgumentFixed, range, found->name.text, kernel.name.text,
                                why);
    return "cudaSuccess";
  }
  const auto types = context_.checked.type_arguments.find(&called);
  const auto given = types == context_.checked.type_arguments.end() ? std::vector<ast::ScalarType>{}
                                                                    : types->second;
  const auto index = static_cast<std::size_t>(found - kernel.parameters.begin());
  const cgrt::format::Kernel &lowered = context_.program[kernels_.get(callee, given)];
  const ScalarType type = parameter_type(kernel, *found, given);
  const DeviceValue value = lower_device_expr(update.values[0], frame, code, context_);
  const std::string variable = code.variable();
  code.line("const " + std::string(cpp_spelling(type)) + " " + variable + " = " +
            converted(type, value) + ";");
  return "CG_SET_ARGUMENT(" + node + ", " + std::to_string(index) + ", " +
         std::to_string(offset_of(lowered, index)) + ", " + variable + ")";
}

} // namespace cgc
