#include "emit/header.h"

#include "sema/cpp_word.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <set>
#include <vector>

namespace cgc {

using cgrt::CallerAccess;
using cgrt::MemorySpace;
using cgrt::ScalarType;
using cgrt::format::Buffer;
using cgrt::format::Callable;
using cgrt::format::CallableKind;
using cgrt::format::Graph;
using cgrt::format::KernelParam;
using cgrt::format::Mode;
using cgrt::format::Param;
using cgrt::format::Program;

namespace {

/// What an element or a scalar is in C++.
std::string cpp_type(ScalarType type, bool is_element) {
  if (type == ScalarType::Bool) {
    return "bool";
  }
  const std::size_t bytes = cgrt::format::size_of(type);
  if (cgrt::format::is_float(type) && (bytes > 2 || !is_element)) {
    return bytes > 4 ? "double" : "float"; // a 16-bit float's element is its bits
  }
  const bool is_signed = cgrt::format::spelling(type).front() == 'i';
  return (is_signed ? "std::int" : "std::uint") + std::to_string(8 * bytes) + "_t";
}

/// "gemm_batch" as the name of a class: "GemmBatch". What no name may hold parts words, too.
std::string class_name(std::string_view name) {
  std::string result;
  bool begins = true;
  for (const char c : name) {
    if (!llvm::isAlnum(c)) {
      begins = true;
      continue;
    }
    result += begins ? llvm::toUpper(c) : c;
    begins = false;
  }
  return result.empty() || llvm::isDigit(result.front()) ? "Graph" + result : result;
}

/// Elements of arrays have brackets, what is imported or not the first of its name a dot.
std::string cpp_name(std::string_view name) {
  std::string result;
  for (const char c : name) {
    result += llvm::isAlnum(c) || c == '_' ? std::string(1, c) : c == ']' ? "" : "_";
  }
  return result;
}

/// Names of one scope, each once: what is taken, or a word of C++, gets a "_".
class Names {
public:
  explicit Names(std::set<std::string> taken) : taken_(std::move(taken)) {}

  std::string take(std::string name) {
    while (is_cpp_word(name) || !taken_.insert(name).second) {
      name += "_";
    }
    return name;
  }

private:
  std::set<std::string> taken_;
};

class HeaderWriter {
public:
  HeaderWriter(const Program &program, std::string_view stem, llvm::raw_ostream &out)
      : program_(program), class_(class_name(stem)), out_(out) {
    Names classes({class_, params_class()});
    for (const Graph &graph : program.graphs) {
      graphs_.emplace_back();
      if (graph.entry) {
        graphs_.back() = classes.take(class_ + class_name(graph.name));
        names_.take(graphs_.back()); // a member of that name would be the class's constructor
      }
    }
    for (const Param &param : program.params) {
      params_.push_back(names_.take(param.name));
    }
  }

  void write(llvm::ArrayRef<std::byte> bundle) {
    out_ << "// Made by cgc; do not edit. <cgrt/cgrt.h> documents what the functions do.\n"
            "#pragma once\n\n"
            "#include <cgrt/typed.h>\n\n"
            "#include <concepts>\n#include <cstddef>\n#include <cstdint>\n"
            "#include <functional>\n#include <map>\n#include <memory>\n#include <optional>\n"
            "#include <span>\n#include <string>\n#include <type_traits>\n#include <utility>\n"
            "#include <vector>\n\n";
    write_bundle(bundle);
    write_instance();
    for (std::size_t i = 0; i < program_.graphs.size(); ++i) {
      if (program_.graphs[i].entry) {
        write_graph(program_.graphs[i], graphs_[i]);
      }
    }
  }

private:
  std::string params_class() const { return class_ + "Params"; }
  /// A name for a member that binds something.
  std::string binder(std::string_view what) { return names_.take("bind_" + cpp_name(what)); }

  /// Literals of a limited length, joined by the compiler.
  void write_bundle(llvm::ArrayRef<std::byte> bundle) {
    constexpr std::size_t in_a_line = 64;
    out_ << "namespace cgrt_generated {\n\n"
         << "inline constexpr char " << class_ << "Bundle[] =\n";
    for (std::size_t i = 0; i < bundle.size(); i += in_a_line) {
      out_ << "    \"";
      for (const std::byte byte : bundle.slice(i, std::min(in_a_line, bundle.size() - i))) {
        write_escaped(std::to_integer<unsigned>(byte));
      }
      out_ << "\"\n";
    }
    out_ << "    \"\";\n\n} // namespace cgrt_generated\n\n";
  }

  /// Three octal digits end an escape, whatever comes behind it.
  void write_escaped(unsigned byte) {
    const bool is_plain = byte >= ' ' && byte < 127 && byte != '"' && byte != '\\' && byte != '?';
    if (is_plain) {
      out_ << static_cast<char>(byte);
    } else {
      out_ << '\\' << static_cast<char>('0' + (byte >> 6))
           << static_cast<char>('0' + (byte >> 3 & 7)) << static_cast<char>('0' + (byte & 7));
    }
  }

  bool is_required(const Param &param) const { return !param.default_value.valid(); }

  void write_instance() {
    const bool any_required =
        std::any_of(program_.params.begin(), program_.params.end(),
                    [this](const Param &param) { return is_required(param); });
    write_params();
    out_ << "/// Memory and params of one use of the program; copies share them.\n"
         << "class " << class_ << " {\npublic:\n  using Params = " << params_class() << ";\n\n";
    out_ << "  static const cgrt::Program &program() {\n"
         << "    static const cgrt::Program loaded = cgrt::Program::from_bytes(\n"
         << "        std::as_bytes(std::span(cgrt_generated::" << class_
         << "Bundle, sizeof(cgrt_generated::" << class_ << "Bundle) - 1)), \"" << class_ << "\");\n"
         << "    return loaded;\n  }\n\n"
         << "  explicit " << class_ << "(const cgrt::Device &device, const Params &params"
         << (any_required ? "" : " = {}")
         << ")\n      : instance_(program(), device, given(params)) {}\n\n"
         << "  cgrt::Instance &instance() { return instance_; }\n"
         << "  /// All of these at once or, after an error, none.\n"
         << "  cgrt::UpdateReport update(const cgrt::Changes &changes) { return "
            "instance_.update(changes); }\n";
    for (std::size_t i = 0; i < params_.size(); ++i) {
      write_param(program_.params[i], params_[i]);
    }
    for (const Buffer &buffer : program_.buffers) {
      if (buffer.access != CallerAccess::Private) {
        write_buffer(buffer);
      }
    }
    for (const Callable &callable : program_.callables) {
      write_callable(callable);
    }
    write_external();
    out_ << "\nprivate:\n";
    write_given();
    out_ << "  cgrt::Instance instance_;\n};\n\n";
  }

  void write_params() {
    // Not inside of the class, where it could be no default argument before the class is complete.
    out_ << "/// Those without a default must be given.\nstruct " << params_class() << " {\n";
    for (std::size_t i = 0; i < params_.size(); ++i) {
      const Param &param = program_.params[i];
      out_ << "  cgrt::" << (is_required(param) ? "Required<" : "Optional<")
           << cpp_type(param.type, false) << "> " << params_[i]
           << (is_required(param) ? ";\n" : " = {};\n");
    }
    out_ << "};\n\n";
  }

  void write_given() {
    out_ << "  static std::map<std::string, cgrt::Scalar> given("
         << (program_.params.empty() ? "const Params &" : "const Params &params") << ") {\n"
         << "    std::map<std::string, cgrt::Scalar> values;\n";
    for (std::size_t i = 0; i < params_.size(); ++i) {
      const std::string value = "params." + params_[i] + ".value";
      const std::string begin = "values.emplace(\"" + program_.params[i].name + "\", ";
      if (is_required(program_.params[i])) {
        out_ << "    " << begin << value << ");\n";
      } else {
        out_ << "    if (" << value << ") {\n      " << begin << "*" << value << ");\n    }\n";
      }
    }
    out_ << "    return values;\n  }\n\n";
  }

  void write_param(const Param &param, const std::string &name) {
    const std::string type = cpp_type(param.type, false);
    out_ << "\n  template <cgrt::ParamValue<" << type << "> Value> cgrt::UpdateReport " << name
         << "(Value value) {\n    return instance_.set(\"" << param.name << "\", value);\n  }\n"
         << "  " << type << " " << name << "() const {\n"
         << "    return cgrt::scalar_to<" << type << ">(instance_.param(\"" << param.name
         << "\"));\n  }\n";
  }

  void write_buffer(const Buffer &buffer) {
    const std::string name = names_.take(cpp_name(buffer.name));
    const std::string type = cpp_type(buffer.type, true);
    const bool reads = buffer.access != CallerAccess::In;
    const std::string span = "std::span<" + std::string(reads ? "" : "const ") + type + ">";
    out_ << "\n";
    if (buffer.space == MemorySpace::Host) {
      const bool is_const = buffer.access == CallerAccess::Out;
      out_ << "  /// Pinned memory; valid until an update resizes or binds the buffer.\n"
           << "  std::span<" << (is_const ? "const " : "") << type << "> " << name << "() {\n"
           << "    return cgrt::host_elements<" << type << ">(instance_, \"" << buffer.name
           << "\");\n  }\n";
    } else {
      if (buffer.access != CallerAccess::Out) {
        out_ << "  /// Fills the whole device buffer.\n  void " << name << "(std::span<const "
             << type << "> values) {\n    instance_.write(\"" << buffer.name
             << "\", std::as_bytes(values));\n  }\n";
      }
      if (reads) {
        // A vector of bool would have no elements to point to.
        const std::string element = type == "bool" ? "std::uint8_t" : type;
        out_ << "  /// The device buffer after the launches so far.\n  std::vector<" << element
             << "> " << name << "() const {\n    return cgrt::read_elements<" << element
             << ">(instance_, \"" << buffer.name << "\");\n  }\n";
      }
    }
    out_ << "  cgrt::UpdateReport " << binder(buffer.name) << "(" << span
         << " memory, std::shared_ptr<void> owner = {}) {\n    return instance_.bind(\""
         << buffer.name << "\", {memory, std::move(owner)});\n  }\n";
  }

  /// "std::span<const float>, std::int32_t"
  std::string signature(const Callable &callable, bool on_stream) const {
    std::string result = on_stream ? "CUstream_st *" : "";
    for (const KernelParam &param : callable.params) {
      std::string type = cpp_type(param.type, param.is_buffer);
      if (param.is_buffer) {
        const std::string element = (param.mode == Mode::In ? "const " : "") + type;
        type = on_stream ? element + " *" : "std::span<" + element + ">";
      }
      result += (result.empty() ? "" : ", ") + type;
    }
    return result;
  }

  void write_callable(const Callable &callable) {
    out_ << "\n";
    const std::string quoted = "(\"" + callable.name + "\", ";
    const auto binding = [&](const std::string &function, std::string_view call, bool on_stream) {
      out_ << "  void " << function << "(std::function<void(" << signature(callable, on_stream)
           << ")> function) {\n    instance_." << call << quoted << "std::move(function));\n  }\n";
    };
    if (callable.kind == CallableKind::Callback) {
      binding(binder(callable.name), "bind_callback", false);
    } else {
      out_ << "  /// On a GPU.\n";
      binding(binder(callable.name), "bind_captured", true);
      out_ << "  /// On the host device.\n";
      binding(binder(callable.name + "_host"), "bind_host", false);
    }
  }

  void write_external() {
    for (const cgrt::format::Kernel &kernel : program_.kernels) {
      if (kernel.external) {
        out_ << "\n  /// A cudaKernel_t, or the address of a __global__ function.\n  void "
             << binder(kernel.name) << "(const void *function) { instance_.bind_kernel(\""
             << kernel.name << "\", function); }\n";
      }
    }
    std::set<std::string> events;
    for (const cgrt::format::Event &event : program_.events) {
      if (event.external && events.insert(event.name).second) {
        out_ << "\n  void " << binder("event_" + event.name)
             << "(CUevent_st *event) { instance_.bind_event(\"" << event.name << "\", event); }\n";
      }
    }
  }

  void write_graph(const Graph &graph, const std::string &name) {
    out_ << "/// The graph " << graph.name << ", made at its first launch.\n"
         << "class " << name << " : public " << class_ << " {\npublic:\n"
         << "  /// With an instance of its own.\n  using " << class_ << "::" << class_ << ";\n"
         << "  /// On an instance that others share.\n  explicit " << name << "(const " << class_
         << " &shared) : " << class_ << "(shared) {}\n\n"
         << "  cgrt::Executable &executable() {\n    if (!executable_) {\n"
         << "      executable_.emplace(instance().executable(\"" << graph.name
         << "\"));\n    }\n    return *executable_;\n  }\n"
         << "  void launch() { executable().launch(); }\n"
         << "  void launch(CUstream_st *stream, cgrt::Order order = cgrt::Order::AfterEarlier) {\n"
         << "    executable().launch(stream, order);\n  }\n"
         << "  void wait() { executable().wait(); }\n"
         << "  /// Launches once and waits.\n  void run() {\n    launch();\n    wait();\n  }\n"
         << "  double elapsed(const std::string &begin, const std::string &end) {\n"
         << "    return executable().elapsed(begin, end);\n  }\n\n"
         << "private:\n  std::optional<cgrt::Executable> executable_;\n};\n\n";
  }

  const Program &program_;
  std::string class_;
  std::vector<std::string> graphs_; ///< classes, parallel to the program's; "" of no entry
  std::vector<std::string> params_; ///< members, likewise
  /// Of members, in the class of a graph too, and what its code refers to.
  Names names_{
      {"CUstream_st",    "CUevent_st", "Params",      "Value",       "bind_event", "cgrt",
       "cgrt_generated", "elapsed",    "executable",  "executable_", "given",      "instance",
       "instance_",      "launch",     "program",     "run",         "std",        "update",
       "wait",           class_,       params_class()}};
  llvm::raw_ostream &out_;
};

} // namespace

std::string emit_header(const Program &program, llvm::ArrayRef<std::byte> bundle,
                        std::string_view stem) {
  std::string text;
  llvm::raw_string_ostream out(text);
  HeaderWriter(program, stem, out).write(bundle);
  out.flush();
  return text;
}

} // namespace cgc
