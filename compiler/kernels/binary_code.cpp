#include "kernels/binary_code.h"

#include "kernels/cpp_tokens.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string_view>
#include <system_error>

namespace cgc {

using cgrt::format::Image;
using cgrt::format::ImageKind;

namespace {

constexpr std::uint16_t cuda_machine = 190; // EM_CUDA
constexpr std::uint32_t fatbin_magic = 0xBA55ED50;

llvm::Error refusal(const std::string &why) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument), "%s",
                                 why.c_str());
}

std::string_view as_text(const std::vector<std::byte> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// The architecture's number in a cubin's header: since CUDA 13 in the flags' second byte, before
/// in their first.
unsigned architecture_number(const Elf64_Ehdr &header) {
  constexpr unsigned char version_with_second_byte = 8;
  return header.e_ident[EI_ABIVERSION] >= version_with_second_byte ? (header.e_flags >> 8) & 0xFF
                                                                   : header.e_flags & 0xFF;
}

llvm::Expected<Image> identify_cubin(const std::vector<std::byte> &bytes) {
  Elf64_Ehdr header{};
  if (bytes.size() < sizeof header) {
    return refusal("the cubin is cut off");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_machine != cuda_machine || header.e_ident[EI_CLASS] != ELFCLASS64) {
    return refusal("it is an ELF file, but not CUDA code");
  }
  std::string architecture = "sm_" + std::to_string(architecture_number(header));
  // The flags do not tell sm_90a from sm_90; the note about the tools does.
  for (const char *suffix : {"a", "f"}) {
    if (as_text(bytes).find("-arch " + architecture + suffix + " ") != std::string_view::npos) {
      architecture += suffix;
      break;
    }
  }
  return Image{ImageKind::Cubin, architecture, {}, bytes};
}

/// What stands behind `.target`, where the text is PTX: directives, of which the first is
/// `.version`.
std::string_view ptx_target(std::string_view text) {
  const std::vector<CppToken> tokens = cpp_tokens(text);
  const auto is = [&](std::size_t index, std::string_view word) {
    return index < tokens.size() && text_of(tokens[index], text) == word;
  };
  if (!is(0, ".") || !is(1, "version")) {
    return {};
  }
  for (std::size_t index = 2; index + 2 < tokens.size(); ++index) {
    if (is(index, ".") && is(index + 1, "target")) {
      return text_of(tokens[index + 2], text);
    }
  }
  return {};
}

llvm::Expected<Image> identify_ptx(const std::vector<std::byte> &bytes) {
  // PTX files may end in the NUL that loaders want.
  std::string_view text = as_text(bytes);
  text = text.substr(0, text.find('\0'));
  const std::string_view target = ptx_target(text);
  if (target.substr(0, 3) != "sm_") {
    return refusal("it is neither a cubin nor PTX nor a fatbin");
  }
  const auto *begin = bytes.data();
  return Image{
      ImageKind::Ptx, "compute_" + std::string(target.substr(3)), {}, {begin, begin + text.size()}};
}

} // namespace

llvm::Expected<Image> identify_binary(const std::vector<std::byte> &bytes) {
  if (as_text(bytes).substr(0, SELFMAG) == ELFMAG) {
    return identify_cubin(bytes);
  }
  std::uint32_t magic = 0;
  if (bytes.size() >= sizeof magic) {
    std::memcpy(&magic, bytes.data(), sizeof magic);
  }
  if (magic == fatbin_magic) {
    return Image{ImageKind::Fatbin, "", {}, bytes};
  }
  return identify_ptx(bytes);
}

bool mentions_symbol(const Image &image, const std::string &symbol) {
  // A fatbin's parts may be compressed.
  return image.kind == ImageKind::Fatbin ||
         find_word(as_text(image.bytes), symbol) != std::string_view::npos;
}

} // namespace cgc
