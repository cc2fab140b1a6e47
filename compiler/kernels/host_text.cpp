#include "kernels/host_text.h"

#include "format/host_abi.h"
#include "host_code.h"
#include "kernels/cpp_tokens.h"
#include "kernels/kernel_text.h"
#include "kernels/shared_memory.h"

namespace cgc {

using cgrt::ScalarType;
using cgrt::format::Kernel;
using cgrt::format::KernelId;

namespace {

constexpr std::string_view standard_headers = R"(
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <numeric>
#include <vector>
)";

constexpr std::string_view exports = R"(
#define CG_EXPORT __attribute__((visibility("default")))
extern "C" {
CG_EXPORT extern const unsigned cg_host_abi;
const unsigned cg_host_abi = cgrt::host_abi::version;
}
)";

/// The assembler would take some of it for its own language. A macro, so that code behind
/// `#ifdef __CUDA_ARCH__` does no harm.
constexpr std::string_view no_assembly =
    "#define asm static_assert(false, \"the host device runs no inline PTX\"); asm\n";

constexpr std::string_view host_body = "static void body(";

std::string headers(const CodeUnit &unit) {
  std::string text;
  const auto add = [&text](std::string_view part) { text.append(part); };
  if (unit.kind == CodeUnit::Kind::Host) {
    add(standard_headers); // in front of the macros of ours
  }
  add(embedded::host_code_host_abi_h);
  add(embedded::host_code_vectors_h);
  add(embedded::host_code_threads_h);
  add(embedded::host_code_warp_h);
  add(embedded::host_code_math_h);
  add(embedded::host_code_intrinsics_h);
  add(embedded::host_code_atomics_h);
  if (uses_type(unit, ScalarType::F16) || uses_type(unit, ScalarType::BF16) ||
      includes_files(unit)) {
    add(embedded::host_code_small_floats_h);
    add(embedded::host_code_small_float_pairs_h);
  }
  add(exports);
  if (unit.kind != CodeUnit::Kind::Host) {
    add(no_assembly);
  }
  return text;
}

/// `__asm__` and `__asm` as the `asm` that a macro stands for; each line keeps its columns.
std::string with_plain_asm(std::string text) {
  for (const CppToken &token : cpp_tokens(text)) {
    const std::string_view word = text_of(token, text);
    if (word == "__asm__" || word == "__asm") {
      std::string plain = "asm";
      plain.resize(word.size(), ' ');
      text.replace(token.begin, plain.size(), plain);
    }
  }
  return text;
}

std::string for_host(const std::string &text) {
  return rewrite_shared_memory(with_plain_asm(text));
}

std::string entry_head(const CodeUnit &unit, KernelId id, std::string_view prefix) {
  const Kernel &kernel = unit.program[id];
  std::string text = line_of_kernel(unit, id);
  text.append("extern \"C\" CG_EXPORT void ").append(prefix).append(kernel.symbol);
  text += "(cg_host::Block *block, const unsigned long long *arguments) {\n";
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const std::string index = std::to_string(i);
    text += "  const auto a" + index + " = cg_host::argument<" + parameter_type(kernel.params[i]) +
            ">(arguments, " + index + ");\n";
  }
  return text;
}

/// "a0, a1"
std::string arguments(const Kernel &kernel) {
  std::string text;
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    text += (i == 0 ? "a" : ", a") + std::to_string(i);
  }
  return text;
}

std::string entry_point(const CodeUnit &unit, KernelId id) {
  const Kernel &kernel = unit.program[id];
  const std::string function = unit.kind == CodeUnit::Kind::Source
                                   ? "cgk_" + kernel.symbol + "{" + function_address(unit, id) + "}"
                                   : "cgk_" + kernel.symbol + "::body";
  return entry_head(unit, id, cgrt::format::host_symbol_prefix) +
         "  cg_host::enter(block);\n  while (cg_host::next_thread(block)) {\n    " + function +
         "(" + arguments(kernel) + ");\n  }\n}\n";
}

/// An exception must not leave host code: what is around it does not know of them.
std::string entry_point_once(const CodeUnit &unit, KernelId id) {
  const Kernel &kernel = unit.program[id];
  const std::string extents = "arguments + " + std::to_string(kernel.params.size());
  return entry_head(unit, id, cgrt::format::host_once_symbol_prefix) +
         "  cg_host::enter(block);\n  cg_host::next_thread(block);\n"
         "  gridDim = cg_host::extents(" +
         extents +
         ");\n"
         "  blockDim = cg_host::extents(" +
         extents +
         " + 3);\n"
         "  char fault[256] = \"\";\n"
         "  try {\n    cgk_" +
         kernel.symbol + "::body(" + arguments(kernel) +
         ");\n  } "
         "catch (const std::exception &error) {\n"
         "    std::snprintf(fault, sizeof fault, \"exception: %s\", error.what());\n"
         "  } catch (...) {\n"
         "    std::snprintf(fault, sizeof fault, \"an exception\");\n"
         "  }\n"
         "  if (fault[0] != 0) {\n    block->fault(block, fault);\n  }\n}\n";
}

constexpr std::string_view extents_function = R"(
namespace cg_host {
inline dim3 extents(const unsigned long long *slots) {
  return {static_cast<unsigned>(slots[0]), static_cast<unsigned>(slots[1]),
          static_cast<unsigned>(slots[2])};
}
}
)";

} // namespace

std::string host_text(const CodeUnit &unit) {
  std::string text = headers(unit);
  const bool is_host = unit.kind == CodeUnit::Kind::Host;
  if (unit.kind == CodeUnit::Kind::Source) {
    text += for_host(source_text(unit));
  } else if (is_host) {
    text += shared_text(unit);
    for (const KernelId kernel : unit.kernels) {
      text += body_function(unit, kernel, host_body);
    }
    text += extents_function;
  } else {
    text += for_host(shared_text(unit));
    for (const KernelId kernel : unit.kernels) {
      text += for_host(body_function(unit, kernel, device_body));
    }
  }
  // Behind all bodies, where none of their macros is defined any more.
  for (const KernelId kernel : unit.kernels) {
    text += is_host ? entry_point_once(unit, kernel) : entry_point(unit, kernel);
  }
  return text;
}

} // namespace cgc
