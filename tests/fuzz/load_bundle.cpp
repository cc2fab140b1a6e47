// A bundle's payload, behind the checksum. What can be loaded is encoded so that it loads again as
// the same.
#include "format/bundle.h"

#include <cgrt/cgrt.h>

#include <cstdint>
#include <optional>
#include <span>

namespace {

using cgrt::format::Program;

std::optional<Program> load(std::span<const std::byte> payload) {
  try {
    return cgrt::format::decode_payload(payload, "f.cgb");
  } catch (const cgrt::Error &) {
    return std::nullopt;
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const auto program = load(std::as_bytes(std::span(data, size)));
  if (!program) {
    return 0;
  }
  for (const auto &graph : program->graphs) {
    for (const auto &node : graph.nodes) {
      static_cast<void>(describe(*program, node));
    }
  }
  const auto bundle = encode_bundle(*program);
  const auto again = load(std::span(bundle).subspan(cgrt::format::bundle_header_bytes));
  if (!again || encode_bundle(*again) != bundle) {
    __builtin_trap();
  }
  return 0;
}
