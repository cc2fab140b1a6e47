// IR text. What can be read prints as a text that reads back as itself.
#include "emit/dot.h"
#include "ir/read.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace {

std::optional<std::string> read_and_print(std::string_view text) {
  cgc::SourceFiles files;
  cgc::Diagnostics diagnostics;
  const auto module = cgc::read_ir(files, files.add("f.cgir", text), diagnostics);
  std::string messages;
  llvm::raw_string_ostream out(messages);
  diagnostics.print(out, files, false);
  if (!module) {
    return std::nullopt;
  }
  static_cast<void>(cgc::emit_dot(module->program));
  return print(*module, files);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const auto printed = read_and_print({reinterpret_cast<const char *>(data), size});
  if (printed && read_and_print(*printed) != printed) {
    __builtin_trap();
  }
  return 0;
}
