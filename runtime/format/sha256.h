// SHA-256 (FIPS 180-4).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace cgrt::format {

std::array<std::byte, 32> sha256(std::span<const std::byte> bytes);
std::string hex(std::span<const std::byte> bytes);

} // namespace cgrt::format
