#include "cuda/cuda_image.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>

namespace cgrt::cuda {

namespace {

using format::Image;
using format::ImageKind;

struct Architecture {
  Capability capability;
  char suffix = '\0'; ///< 'a', 'f' or none
};

/// Reads "sm_90a" behind "sm_"; bundles are not trusted to hold nothing else.
std::optional<Architecture> parse_architecture(std::string_view text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) {
    return std::nullopt;
  }
  text.remove_prefix(prefix.size());
  Architecture result;
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) {
    result.suffix = text.back();
    text.remove_suffix(1);
  }
  unsigned int number = 0;
  const char *end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc{} || behind != end || number > 9999) {
    return std::nullopt;
  }
  result.capability = {static_cast<int>(number / 10), static_cast<int>(number % 10)};
  return result;
}

bool fits(const Architecture &code, ImageKind kind, Capability device) {
  switch (code.suffix) {
  case 'a':
    return number_of(code.capability) == number_of(device);
  case 'f':
    return code.capability.major == device.major && code.capability.minor <= device.minor;
  default:
    return (kind == ImageKind::Ptx || code.capability.major == device.major) &&
           number_of(code.capability) <= number_of(device);
  }
}

std::optional<Architecture> architecture_of(const Image &image) {
  switch (image.kind) {
  case ImageKind::Cubin:
    return parse_architecture(image.architecture, "sm_");
  case ImageKind::Ptx:
    return parse_architecture(image.architecture, "compute_");
  case ImageKind::HostSharedObject:
  case ImageKind::Fatbin:
    break;
  }
  return std::nullopt;
}

/// By number, and at one number the more special code is the faster.
int rank_of(const Architecture &code) {
  const int specialty = code.suffix == 'a' ? 2 : code.suffix == 'f' ? 1 : 0;
  return number_of(code.capability) * 3 + specialty;
}

bool holds(const Image &image, format::KernelId kernel) {
  return std::binary_search(image.kernels.begin(), image.kernels.end(), kernel);
}

/// The best image of one kind that fits.
const Image *best_image(const format::Program &program, format::KernelId kernel, ImageKind kind,
                        Capability device) {
  const Image *best = nullptr;
  int best_rank = 0;
  for (const Image &image : program.images) {
    const std::optional<Architecture> code = architecture_of(image);
    if (image.kind != kind || !code || !fits(*code, kind, device) || !holds(image, kernel)) {
      continue;
    }
    if (best == nullptr || rank_of(*code) > best_rank) {
      best = &image;
      best_rank = rank_of(*code);
    }
  }
  return best;
}

[[noreturn]] void refuse_damaged(const Image &image, const std::string &why) {
  throw Error(ErrorCode::Device,
              "the " +
                  (image.kind == ImageKind::Fatbin ? std::string("fatbin")
                                                   : "cubin for " + image.architecture) +
                  " is damaged: " + why);
}

/// Entry `index` of the table of `Entry`s at `offset`.
template <typename Entry>
Entry read_entry(const Image &image, std::uint64_t offset, std::size_t index) {
  const std::vector<std::byte> &bytes = image.bytes;
  if (offset > bytes.size() || (bytes.size() - offset) / sizeof(Entry) <= index) {
    refuse_damaged(image, "it is cut off");
  }
  Entry entry{};
  std::memcpy(&entry, bytes.data() + offset + index * sizeof(Entry), sizeof(Entry));
  return entry;
}

void check_range(const Image &image, std::uint64_t offset, std::uint64_t size) {
  if (offset > image.bytes.size() || size > image.bytes.size() - offset) {
    refuse_damaged(image, "it is cut off");
  }
}

void check_whole_cubin(const Image &image) {
  const auto header = read_entry<Elf64_Ehdr>(image, 0, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) {
    refuse_damaged(image, "it is no ELF image");
  }
  for (std::size_t index = 0; index < header.e_phnum; ++index) {
    const auto segment = read_entry<Elf64_Phdr>(image, header.e_phoff, index);
    check_range(image, segment.p_offset, segment.p_filesz);
  }
  for (std::size_t index = 0; index < header.e_shnum; ++index) {
    const auto section = read_entry<Elf64_Shdr>(image, header.e_shoff, index);
    if (section.sh_type != SHT_NOBITS) {
      check_range(image, section.sh_offset, section.sh_size);
    }
  }
}

/// As CUDA 13's tools write it.
struct FatbinHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t bytes; ///< of the parts behind the header
};

/// In front of each part's code.
struct FatbinPart {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t bytes; ///< of the code behind the header
};

void check_whole_fatbin(const Image &image) {
  constexpr std::uint32_t magic = 0xBA55ED50;
  const auto header = read_entry<FatbinHeader>(image, 0, 0);
  if (header.magic != magic) {
    refuse_damaged(image, "it is no fatbin");
  }
  check_range(image, header.header_bytes, header.bytes);
  const std::uint64_t end = header.header_bytes + header.bytes;
  for (std::uint64_t at = header.header_bytes; at < end;) {
    const auto part = read_entry<FatbinPart>(image, at, 0);
    if (part.header_bytes < sizeof part) {
      refuse_damaged(image, "a part's header is too short");
    }
    check_range(image, at, part.header_bytes);
    check_range(image, at + part.header_bytes, part.bytes);
    at += part.header_bytes + part.bytes;
  }
}

} // namespace

const Image *select_image(const format::Program &program, format::KernelId kernel,
                          Capability capability) {
  if (const Image *cubin = best_image(program, kernel, ImageKind::Cubin, capability)) {
    return cubin;
  }
  for (const Image &image : program.images) {
    if (image.kind == ImageKind::Fatbin && holds(image, kernel)) {
      return &image;
    }
  }
  return best_image(program, kernel, ImageKind::Ptx, capability);
}

void check_whole(const Image &image) {
  if (image.kind == ImageKind::Cubin) {
    check_whole_cubin(image);
  } else if (image.kind == ImageKind::Fatbin) {
    check_whole_fatbin(image);
  }
}

} // namespace cgrt::cuda
