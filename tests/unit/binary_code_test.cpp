#include "kernels/binary_code.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

namespace {

using cgrt::format::ImageKind;

std::vector<std::byte> to_bytes(std::string_view text) {
  const auto *begin = reinterpret_cast<const std::byte *>(text.data());
  return {begin, begin + text.size()};
}

/// "kind architecture", or the error.
std::string identified(const std::vector<std::byte> &bytes) {
  auto image = cgc::identify_binary(bytes);
  if (!image) {
    return llvm::toString(image.takeError());
  }
  EXPECT_TRUE(image->kernels.empty());
  return std::string(spelling(image->kind)) + " " + image->architecture;
}

/// The head of a cubin.
std::vector<std::byte> cubin(unsigned char abi_version, unsigned flags, std::string_view rest = "",
                             Elf64_Half machine = 190) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_ABIVERSION] = abi_version;
  header.e_machine = machine;
  header.e_flags = flags;
  std::vector<std::byte> bytes(sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
  const auto more = to_bytes(rest);
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

// The flags are those that nvcc 13.0 writes.
TEST(BinaryCode, CubinsTellTheirArchitecture) {
  EXPECT_EQ(identified(cubin(8, 0x6005a04)), "cubin sm_90");
  EXPECT_EQ(identified(cubin(8, 0x6004b04)), "cubin sm_75");
  EXPECT_EQ(identified(cubin(8, 0x6006402)), "cubin sm_100");
  EXPECT_EQ(identified(cubin(7, 0x5a055a)), "cubin sm_90"); // and CUDA 12's
}

TEST(BinaryCode, CubinsOfSpecialArchitecturesAreTold) {
  EXPECT_EQ(identified(cubin(8, 0x6005a04, "-arch sm_90a -m 64 ")), "cubin sm_90a");
  EXPECT_EQ(identified(cubin(8, 0x6006402, "-arch sm_100f -m 64 ")), "cubin sm_100f");
  EXPECT_EQ(identified(cubin(8, 0x6005a04, "-arch sm_90 -m 64 ")), "cubin sm_90");
}

TEST(BinaryCode, PtxTellsItsTarget) {
  EXPECT_EQ(identified(to_bytes("//\n// Generated\n/* .target x */\n.version 9.0\n.target sm_90\n"
                                ".address_size 64\n")),
            "ptx compute_90");
  EXPECT_EQ(identified(to_bytes(".version 9.0 .target sm_90a, debug")), "ptx compute_90a");
}

TEST(BinaryCode, PtxLosesTheNulAtItsEnd) {
  auto image =
      cgc::identify_binary(to_bytes(std::string_view(".version 9.0\n.target sm_90\n\0", 28)));
  ASSERT_TRUE(static_cast<bool>(image));
  EXPECT_EQ(image->bytes.size(), 27U);
}

TEST(BinaryCode, FatbinsAreTakenWhole) {
  const std::vector<std::byte> bytes = to_bytes(std::string_view("\x50\xED\x55\xBA rest", 9));
  EXPECT_EQ(identified(bytes), "fatbin ");
  EXPECT_EQ(cgc::identify_binary(bytes)->bytes, bytes);
}

TEST(BinaryCode, GarbageIsRefused) {
  constexpr const char *neither = "it is neither a cubin nor PTX nor a fatbin";
  EXPECT_EQ(identified({}), neither);
  EXPECT_EQ(identified(to_bytes("garbage")), neither);
  EXPECT_EQ(identified(to_bytes(".target sm_90")), neither);
  EXPECT_EQ(identified(to_bytes(".version 9.0")), neither);
  EXPECT_EQ(identified(to_bytes(".version 9.0 .target texmode_unified")), neither);
  EXPECT_EQ(identified(cubin(8, 0, "", EM_X86_64)), "it is an ELF file, but not CUDA code");
  EXPECT_EQ(identified(to_bytes("\177ELF")), "the cubin is cut off");
}

TEST(BinaryCode, SymbolsAreWholeNames) {
  auto image = cgc::identify_binary(
      to_bytes(".version 9.0\n.target sm_90\n.visible .entry scale_all(.param .u32 a)"));
  ASSERT_TRUE(static_cast<bool>(image));
  EXPECT_TRUE(cgc::mentions_symbol(*image, "scale_all"));
  EXPECT_FALSE(cgc::mentions_symbol(*image, "scale"));
}

} // namespace
