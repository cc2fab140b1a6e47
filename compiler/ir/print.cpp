#include "ir/ir_tokens.h"
#include "ir/lowering_context.h"
#include "ir/module.h"

#include "format/node_kind.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace cgc {

using cgrt::CallerAccess;
using cgrt::MemorySpace;
using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::OptionalExtents;
using cgrt::format::Quantity;
using cgrt::format::Region;
using cgrt::format::Value;
using cgrt::format::ValueKind;

namespace {

/// Prints names as they are and everything else by number: `%3` is an expression, `#3` a node, `?3`
/// a condition, `!3` a launch.
class Printer {
public:
  /// Without files, without code.
  Printer(const Module &module, const SourceFiles *files)
      : module_(module), program_(module.program), files_(files), out_(text_) {}

  std::string run() {
    print_files();
    for (const auto &param : program_.params) {
      out_ << "param " << ir_name(param.name) << ": " << cgrt::format::spelling(param.type);
      if (param.default_value.valid()) {
        out_ << " = " << name(param.default_value);
      }
      end(param.place);
    }
    print_exprs();
    for (const auto &buffer : program_.buffers) {
      print_buffer(buffer);
    }
    print_kernels();
    print_conditions();
    print_events_and_callables();
    print_launches();
    for (const auto &check : program_.checks) {
      out_ << "check " << name(check.left)
           << (check.relation == cgrt::format::Check::Relation::Equal ? " == " : " <= ")
           << name(check.right) << " [" << ir_name(check.slug) << "] " << ir_string(check.message);
      end(check.place);
    }
    for (const auto &graph : program_.graphs) {
      print_graph(graph);
    }
    return out_.str();
  }

private:
  static std::string name(ExprId id) { return "%" + std::to_string(id.index); }

  /// The place at which a line's thing stands, and the line's end.
  void end(const cgrt::format::Place &place) {
    if (place.line != 0) {
      out_ << " @" << place.file.index << ":" << place.line << ":" << place.column;
    }
    out_ << "\n";
  }

  /// A `.cu` file stands here with its text, for several kernels may be taken from it.
  void print_files() {
    std::vector<std::string_view> texts(program_.files.size());
    for (const KernelSource &source : module_.kernel_sources) {
      if (source.kind == BodyKind::Source) {
        texts[source.body.range.file.index - module_.first_file] = source.body.text;
      }
    }
    for (std::size_t i = 0; i < program_.files.size(); ++i) {
      out_ << "file " << i << " " << ir_string(program_.files[i]);
      if (files_ != nullptr && texts[i].data() != nullptr) {
        out_ << " text " << ir_string(texts[i]);
      }
      out_ << "\n";
    }
  }

  void print_exprs() {
    for (std::uint32_t i = 0; i < program_.exprs.size(); ++i) {
      const auto &expr = program_.exprs[{i}];
      neutral_.see({i}, expr);
      out_ << name({i}) << " = " << cgrt::format::spelling(expr.op);
      if (expr.op == ExprOp::Const) {
        print_constant(cgrt::format::Value::from_bits(expr.kind, expr.bits));
      } else if (expr.op == ExprOp::Param) {
        out_ << " " << ir_name(program_.params[expr.bits].name);
      } else if (expr.op == ExprOp::Cast) {
        out_ << " " << cgrt::format::spelling(expr.type);
      }
      for (const ExprId operand : {expr.a, expr.b, expr.c}) {
        if (operand.valid()) {
          out_ << " " << name(operand);
        }
      }
      out_ << "\n";
    }
  }

  void print_constant(const Value &value) {
    constexpr std::string_view kinds[] = {"bool", "int", "uint", "float"};
    out_ << " " << kinds[static_cast<std::size_t>(value.kind())] << " ";
    // There are many NaNs.
    if (value.kind() == ValueKind::Float && std::isnan(value.as_double())) {
      out_ << "0x" << llvm::utohexstr(value.bits(), true);
    } else {
      out_ << value.text();
    }
  }

  void print_buffer(const cgrt::format::Buffer &buffer) {
    constexpr std::string_view accesses[] = {"", "in ", "out ", "inout "};
    out_ << "buffer " << (buffer.space == MemorySpace::Host ? "host " : "device ")
         << (buffer.mapped ? "mapped " : "") << accesses[static_cast<std::size_t>(buffer.access)]
         << ir_name(buffer.name) << ": " << cgrt::format::spelling(buffer.type);
    print_list(buffer.shape, "[", "]");
    end(buffer.place);
  }

  template <typename Ids> void print_list(const Ids &ids, const char *open, const char *close) {
    out_ << open;
    const char *separator = "";
    for (const ExprId id : ids) {
      out_ << separator << name(id);
      separator = ", ";
    }
    out_ << close;
  }

  void print_kernels() {
    if (files_ != nullptr) {
      for (std::size_t i = 0; i < module_.scopes.size(); ++i) {
        print_scope(i);
      }
    }
    for (std::size_t i = 0; i < program_.kernels.size(); ++i) {
      print_kernel(program_.kernels[i]);
      if (files_ != nullptr) {
        print_source(module_.kernel_sources[i]);
      }
    }
  }

  void print_conditions() {
    for (std::size_t i = 0; i < program_.conditions.size(); ++i) {
      const cgrt::format::Condition &condition = program_.conditions[i];
      out_ << "condition ?" << i << " " << ir_string(condition.text) << " initial "
           << condition.initial;
      if (condition.limit.valid()) {
        out_ << " limit " << name(condition.limit);
      }
      end(condition.place);
    }
    if (program_.reports.valid()) {
      out_ << "reports " << ir_name(program_[program_.reports].name) << "\n";
    }
    if (program_.stops.valid()) {
      out_ << "stops " << ir_name(program_[program_.stops].name) << "\n";
    }
  }

  void print_parameters(const std::vector<cgrt::format::KernelParam> &params) {
    out_ << "(";
    const char *separator = "";
    for (const auto &param : params) {
      out_ << separator << param.name << ": ";
      if (param.is_buffer) {
        out_ << cgrt::format::spelling(param.mode) << " ";
      }
      out_ << (param.is_graph ? "graph" : cgrt::format::spelling(param.type))
           << (param.is_buffer ? "[]" : "");
      separator = ", ";
    }
    out_ << ")";
  }

  void print_events_and_callables() {
    UniqueNames names; // graphs have events of the same name
    for (const cgrt::format::Event &event : program_.events) {
      event_names_.push_back(names.add(event.name));
      out_ << "event " << ir_name(event_names_.back());
      if (event_names_.back() != event.name) {
        out_ << " named " << ir_string(event.name);
      }
      out_ << (event.external ? " external" : " timing");
      end(event.place);
    }
    for (const cgrt::format::Callable &callable : program_.callables) {
      out_ << "function " << ir_name(callable.name) << " " << spelling(callable.kind);
      print_parameters(callable.params);
      out_ << (callable.concurrent ? " concurrent" : "");
      end(callable.place);
    }
  }

  void print_launches() {
    for (std::size_t i = 0; i < program_.launches.size(); ++i) {
      const cgrt::format::DeviceLaunch &launch = program_.launches[i];
      out_ << "launch !" << i << " " << ir_string(launch.text) << " " << spelling(launch.kind)
           << " ";
      print_field(launch.target);
      end(launch.place);
    }
    for (std::size_t i = 0; i < program_.updatables.size(); ++i) {
      out_ << "updatable ^" << i << " " << ir_string(program_.updatables[i].name);
      end(program_.updatables[i].place);
    }
    for (const cgrt::format::DeviceUpdate &update : program_.updates) {
      out_ << "update " << ir_string(update.text) << " in ";
      print_field(update.graph);
      end(update.place);
    }
    if (program_.update_refusals.valid()) {
      out_ << "update_refusals " << ir_name(program_[program_.update_refusals].name) << "\n";
    }
    if (program_.refusals.valid()) {
      out_ << "refusals " << ir_name(program_[program_.refusals].name) << "\n";
    }
  }

  void print_scope(std::size_t index) {
    out_ << "scope " << index << "\n";
    for (const ConstantSource &constant : module_.scopes[index].constants) {
      out_ << "  constant " << constant.name << ": " << ir_string(constant.type) << " = "
           << ir_string(constant.value) << "\n";
    }
    for (const CodeText &block : module_.scopes[index].blocks) {
      print_code("cuda", block);
    }
  }

  void print_kernel(const cgrt::format::Kernel &kernel) {
    out_ << "kernel " << ir_name(kernel.name) << " symbol " << kernel.symbol;
    print_parameters(kernel.params);
    out_ << (kernel.inplace ? " inplace" : "") << (kernel.strided ? " strided" : "")
         << (kernel.external ? " external" : "");
    if (!kernel.cuda_symbol.empty()) {
      out_ << " cuda_symbol " << ir_string(kernel.cuda_symbol);
    }
    end(kernel.place);
  }

  void print_source(const KernelSource &source) {
    out_ << "  scope " << source.scope << "\n";
    for (const auto &[type_parameter, type] : source.types) {
      out_ << "  type " << type_parameter << " = " << cgrt::format::spelling(type) << "\n";
    }
    switch (source.kind) {
    case BodyKind::Cuda:
      print_code("cuda", source.body);
      break;
    case BodyKind::Source:
      out_ << "  source " << source.body.range.file.index - module_.first_file << " symbol "
           << ir_string(source.cuda_symbol) << "\n";
      break;
    case BodyKind::Binary:
      out_ << "  binary symbol " << ir_string(source.cuda_symbol) << " \""
           << llvm::toHex(
                  {reinterpret_cast<const char *>(source.binary.data()), source.binary.size()},
                  true)
           << "\"\n";
      break;
    case BodyKind::External: // the kernel says so itself
      break;
    }
    if (source.host) {
      print_code("host", *source.host);
    }
  }

  /// Without a place if it is code of ours, which does not stand where it is said to.
  void print_code(std::string_view what, const CodeText &code) {
    out_ << "  " << what << " " << ir_string(code.text);
    cgrt::format::Place place;
    if (files_->text(code.range) == code.text) {
      place = files_->place(code.range);
      place.file.index -= module_.first_file;
    }
    end(place);
  }

  /// A whole buffer is its name alone.
  void print_region(const Region &region) {
    const cgrt::format::Buffer &buffer = program_[region.buffer];
    out_ << ir_name(buffer.name);
    const auto is_whole = [this](const cgrt::format::Range &range, ExprId extent) {
      return range.begin == neutral_.zero && range.count == extent;
    };
    if (std::equal(region.ranges.begin(), region.ranges.end(), buffer.shape.begin(),
                   buffer.shape.end(), is_whole)) {
      return;
    }
    const char *separator = "[";
    for (const auto &range : region.ranges) {
      out_ << separator << name(range.begin) << " +" << name(range.count);
      separator = ", ";
    }
    out_ << "]";
  }

  void print_field(cgrt::format::KernelId kernel) { out_ << ir_name(program_[kernel].name); }
  void print_field(cgrt::format::GraphId graph) { out_ << ir_name(program_[graph].name); }
  void print_field(cgrt::format::EventId event) { out_ << ir_name(event_names_[event.index]); }
  void print_field(cgrt::format::CallableId function) { out_ << ir_name(program_[function].name); }
  void print_field(cgrt::format::ConditionId condition) { out_ << "?" << condition.index; }
  void print_field(cgrt::format::UpdatableId node) { out_ << "^" << node.index; }
  void print_field(cgrt::format::LaunchId launch) { out_ << "!" << launch.index; }
  void print_field(cgrt::format::ConditionalType type) { out_ << spelling(type); }
  void print_field(const cgrt::format::Bodies &bodies) {
    const char *separator = "";
    for (const cgrt::format::GraphId body : bodies) {
      out_ << separator;
      print_field(body);
      separator = ", ";
    }
  }
  void print_field(ExprId expr) { out_ << name(expr); }
  /// Without the extents at the end that are 1.
  void print_field(const cgrt::format::Extents &extents) {
    const auto is_one = [this](ExprId extent) { return extent == neutral_.one; };
    const auto last = std::find_if_not(extents.rbegin(), extents.rend() - 1, is_one);
    print_list(std::span(extents.begin(), last.base()), "", "");
  }
  void print_field(const Region &region) { print_region(region); }
  void print_field(const cgrt::format::Arguments &arguments) {
    const char *separator = "";
    for (const auto &argument : arguments) {
      out_ << separator;
      std::visit([this](const auto &value) { print_field(value); }, argument);
      separator = ", ";
    }
  }

  template <typename Field> bool says_nothing(const Field &) const { return false; }
  bool says_nothing(const Quantity &quantity) const { return quantity == neutral_.zero; }
  bool says_nothing(const OptionalExtents &extents) const {
    return std::all_of(extents.begin(), extents.end(),
                       [this](ExprId extent) { return extent == neutral_.one; });
  }

  void print_graph(const cgrt::format::Graph &graph) {
    out_ << (graph.entry ? "" : "child ") << "graph " << ir_name(graph.name);
    if (!graph.label.empty()) {
      out_ << " label " << ir_string(graph.label);
    }
    if (graph.stop) {
      out_ << " stop " << *graph.stop;
    }
    out_ << (graph.explicit_order ? " explicit" : "")
         << (graph.device_launch ? " device_launch" : "") << " {";
    end(graph.place);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const auto &node = graph.nodes[i];
      out_ << "  #" << i << " = " << info(node.kind()).spelling;
      std::visit(
          [this](const auto &work) {
            for_each_field(work, [this](const cgrt::format::NodeField &field, const auto &value) {
              if (!says_nothing(value)) {
                out_ << " " << field.name << "(";
                print_field(value);
                out_ << ")";
              }
            });
          },
          node.work);
      if (!node.name.empty()) {
        out_ << " named " << ir_string(node.name);
      }
      if (!node.stream.empty()) {
        out_ << " stream " << ir_string(node.stream);
      }
      if (node.updatable.valid()) {
        out_ << " updatable ^" << node.updatable.index;
      }
      const char *separator = " after ";
      for (const auto &dependency : node.dependencies) {
        out_ << separator << "#" << dependency.node.index;
        if (dependency.buffer.valid()) {
          out_ << "(" << ir_name(program_[dependency.buffer].name) << ")";
        }
        separator = ", ";
      }
      end(node.place);
    }
    out_ << "}\n";
  }

  const Module &module_;
  const cgrt::format::Program &program_;
  const SourceFiles *files_;
  NeutralExprs neutral_;
  std::vector<std::string> event_names_; ///< in the text
  std::string text_;
  llvm::raw_string_ostream out_;
};

} // namespace

void NeutralExprs::see(ExprId id, const cgrt::format::Expr &expr) {
  if (expr.op == ExprOp::Const && expr.kind == ValueKind::Int && expr.bits <= 1) {
    ExprId &neutral = expr.bits == 0 ? zero : one;
    neutral = neutral.valid() ? neutral : id;
  }
}

std::string print(const Module &module) {
  return Printer(module, nullptr).run();
}

std::string print(const Module &module, const SourceFiles &files) {
  return Printer(module, &files).run();
}

} // namespace cgc
