// The bundle container: a fixed header, then a FlatBuffers payload (bundle.fbs).
//
//   offset  bytes  what
//   0       8      magic "cgraphB\n"
//   8       4      bundle_version, little-endian
//   12      4      zero
//   16      8      payload bytes, little-endian
//   24      32     SHA-256 of the payload
//   56             payload
#pragma once

#include "format/program.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cgrt::format {

inline constexpr std::string_view bundle_magic = "cgraphB\n";
inline constexpr std::uint32_t bundle_version = 6;
inline constexpr std::size_t bundle_header_bytes = 56;

/// Equal programs give equal bytes.
std::vector<std::byte> encode_bundle(const Program &program);

/// Trusts nothing: header, length, checksum, FlatBuffers structure and verify() are checked in
/// that order. Throws Error{InvalidProgram} that begins with `name` and says what is wrong.
Program decode_bundle(std::span<const std::byte> bytes, const std::string &name);

/// The part of decode_bundle() behind the checksum.
Program decode_payload(std::span<const std::byte> payload, const std::string &name);

/// Whether the bytes start like a bundle; tells a `.cgb` from a `.cgraph` whatever its name.
bool looks_like_bundle(std::span<const std::byte> bytes);

} // namespace cgrt::format
