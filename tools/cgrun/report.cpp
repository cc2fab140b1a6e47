#include "report.h"

#include "elements.h"
#include "scalar_text.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/FormatVariadic.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace cgrun {

namespace {

/// Times in the order they happen, with their names.
std::array<std::pair<std::string_view, double>, 6> named(const Times &times) {
  return {{{"compile", times.compile},
           {"load", times.load},
           {"build", times.build},
           {"instantiate", times.instantiate},
           {"launch", times.launch},
           {"total", times.total}}};
}

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += std::string("\\u00") + llvm::hexdigit(static_cast<unsigned>(c) >> 4) +
                llvm::hexdigit(static_cast<unsigned>(c) & 0xFU);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string json_number(double value) {
  const std::string text = scalar_text(value);
  return std::isfinite(value) ? text : json_string(text);
}

std::string json_number(const Extreme &extreme) {
  return std::visit(
      [](auto value) {
        if constexpr (std::is_same_v<decltype(value), double>) {
          return json_number(value);
        } else {
          return std::to_string(value);
        }
      },
      extreme);
}

template <typename Numbers> std::string json_numbers(const Numbers &numbers) {
  std::string text;
  for (const auto number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return "[" + text + "]";
}

std::string json_output(const OutputSummary &output) {
  const std::optional<Statistics> &statistics = output.statistics;
  return llvm::formatv(
      R"({{"dtype": {0}, "shape": {1}, "min": {2}, "max": {3}, "mean": {4}, )"
      R"("sha256": {5}})",
      json_string(cgrt::spelling(output.view.type)), json_numbers(output.view.shape),
      statistics ? json_number(statistics->min) : "null",
      statistics ? json_number(statistics->max) : "null",
      statistics ? json_number(statistics->mean) : "null", json_string(output.sha256));
}

std::string json_fault(const cgrt::EffectFault &fault) {
  return llvm::formatv(R"({{"kind": {0}, "kernel": {1}, "parameter": {2}, "buffer": {3}, )"
                       R"("element": {4}, "elements": {5}, "file": {6}, "line": {7}, )"
                       R"("column": {8}, "message": {9}})",
                       json_string(cgrt::spelling(fault.kind)), json_string(fault.kernel),
                       fault.parameter.empty() ? "null" : json_string(fault.parameter),
                       json_string(fault.buffer), json_numbers(fault.element),
                       std::to_string(fault.elements), json_string(fault.where.file),
                       std::to_string(fault.where.line), std::to_string(fault.where.column),
                       json_string(fault.message));
}

std::string short_number(double value) {
  if (!std::isfinite(value)) {
    return scalar_text(value);
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.7g", value);
  return text;
}

std::string short_number(const Extreme &extreme) {
  return std::visit(
      [](auto value) {
        if constexpr (std::is_same_v<decltype(value), double>) {
          return short_number(value);
        } else {
          return std::to_string(value);
        }
      },
      extreme);
}

/// "1 fault", "3 faults"
std::string counted(std::uint64_t count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// "35.2 us", "1.25 ms", "2.07 s": three digits or more.
std::string duration(double microseconds) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (microseconds < 1e3) {
    out << llvm::format("%.1f us", microseconds);
  } else if (microseconds < 1e6) {
    out << llvm::format("%.2f ms", microseconds / 1e3);
  } else {
    out << llvm::format("%.2f s", microseconds / 1e6);
  }
  return out.str();
}

} // namespace

void print_json(llvm::raw_ostream &out, const Report &report) {
  out << "{\n  \"device\": " << json_string(report.device)
      << ",\n  \"graph\": " << json_string(report.graph) << ",\n  \"nodes\": " << report.nodes
      << ",\n  \"edges\": " << report.edges << ",\n  \"times_us\": {";
  const char *separator = "";
  for (const auto &[name, microseconds] : named(report.times)) {
    out << separator << json_string(name) << ": " << json_number(microseconds);
    separator = ", ";
  }
  out << "},\n  \"outputs\": {";
  separator = "\n    ";
  for (const OutputSummary &output : report.outputs) {
    out << separator << json_string(output.name) << ": " << json_output(output);
    separator = ",\n    ";
  }
  out << (report.outputs.empty() ? "}" : "\n  }");
  if (!report.events.empty()) {
    separator = ",\n  \"events\": {";
    for (const EventTime &event : report.events) {
      out << separator << json_string(event.name) << ": " << json_number(event.milliseconds);
      separator = ", ";
    }
    out << "}";
  }
  if (report.effects) {
    out << ",\n  \"kernels_checked\": " << report.effects->kernels << ",\n  \"faults\": [";
    separator = "\n    ";
    for (const cgrt::EffectFault &fault : report.effects->faults) {
      out << separator << json_fault(fault);
      separator = ",\n    ";
    }
    out << (report.effects->faults.empty() ? "]" : "\n  ]");
  }
  out << "\n}\n";
}

void print_table(llvm::raw_ostream &out, const Report &report) {
  out << "graph " << report.graph << " on " << report.device << ": " << report.nodes << " nodes, "
      << report.edges << " edges, " << report.launches
      << (report.launches == 1 ? " launch\n" : " launches\n");
  for (const auto &[name, microseconds] : named(report.times)) {
    out << llvm::formatv("  {0,-12} {1,10}", llvm::StringRef(name), duration(microseconds));
    if (report.launches > 1 && (name == "launch" || name == "total")) {
      out << "  (median)";
    }
    out << "\n";
  }
  for (const EventTime &event : report.events) {
    out << "  " << llvm::left_justify(event.name, 12) << " "
        << llvm::right_justify(duration(1000 * event.milliseconds), 10) << "  (event)\n";
  }
  for (const OutputSummary &output : report.outputs) {
    out << "  " << output.name << ": " << type_text(output.view.type, output.view.shape);
    if (output.statistics) {
      out << ", min " << short_number(output.statistics->min) << ", max "
          << short_number(output.statistics->max) << ", mean "
          << short_number(output.statistics->mean);
    }
    out << ", sha256 " << std::string_view(output.sha256).substr(0, 16) << "...\n";
  }
  if (report.effects) {
    out << "effects: " << counted(report.effects->kernels, "kernel") << " checked, "
        << counted(report.effects->faults.size(), "fault") << "\n";
  }
}

} // namespace cgrun
