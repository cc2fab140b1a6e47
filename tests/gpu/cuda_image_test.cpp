// Which code runs on which GPU: no GPU needed.
#include "cuda/cuda_image.h"

#include "example.h"

#include <gtest/gtest.h>

namespace {

using cgrt::cuda::Capability;
using cgrt::format::ImageKind;
using cgrt::format::Program;

std::string selected(const std::vector<std::string> &architectures, Capability device) {
  Program program;
  for (const std::string &architecture : architectures) {
    const ImageKind kind = architecture.rfind("sm_", 0) == 0        ? ImageKind::Cubin
                           : architecture.rfind("compute_", 0) == 0 ? ImageKind::Ptx
                           : architecture.empty()                   ? ImageKind::Fatbin
                                                                    : ImageKind::HostSharedObject;
    program.images.push_back({kind, architecture, {{0}}, {}});
  }
  const cgrt::format::Image *image = cgrt::cuda::select_image(program, {0}, device);
  return image == nullptr ? "none" : image->architecture;
}

TEST(SelectImage, TakesTheClosestCubinOfTheMajorVersion) {
  EXPECT_EQ(selected({"sm_80", "sm_86", "sm_89", "sm_90"}, {8, 9}), "sm_89");
  EXPECT_EQ(selected({"sm_80", "sm_86", "sm_89"}, {8, 7}), "sm_86");
  EXPECT_EQ(selected({"sm_86", "sm_90"}, {8, 0}), "none");
  EXPECT_EQ(selected({"sm_100"}, {10, 3}), "sm_100");
  EXPECT_EQ(selected({"sm_103"}, {10, 3}), "sm_103");
}

TEST(SelectImage, TakesPtxWhereNoCubinFits) {
  EXPECT_EQ(selected({"sm_80", "compute_80"}, {9, 0}), "compute_80");
  EXPECT_EQ(selected({"compute_75", "compute_80", "compute_100"}, {9, 0}), "compute_80");
  EXPECT_EQ(selected({"compute_80", "sm_90"}, {9, 0}), "sm_90");
  EXPECT_EQ(selected({"compute_100"}, {9, 0}), "none");
}

TEST(SelectImage, KnowsArchitectureAndFamilySpecificCode) {
  EXPECT_EQ(selected({"sm_90a"}, {9, 0}), "sm_90a");
  EXPECT_EQ(selected({"sm_90", "sm_90a"}, {9, 0}), "sm_90a");
  EXPECT_EQ(selected({"compute_90a"}, {10, 0}), "none");
  EXPECT_EQ(selected({"sm_100a"}, {10, 3}), "none");
  EXPECT_EQ(selected({"sm_100f"}, {10, 3}), "sm_100f");
  EXPECT_EQ(selected({"compute_100f"}, {12, 0}), "none");
}

TEST(SelectImage, TakesAFatbinWhereNoCubinFits) {
  EXPECT_EQ(selected({"compute_90", "", "sm_80"}, {9, 0}), "");
  EXPECT_EQ(selected({"", "sm_90"}, {9, 0}), "sm_90");
}

TEST(SelectImage, TakesOnlyWhatHoldsTheKernel) {
  Program program;
  program.images = {{ImageKind::Cubin, "sm_90", {{0}, {2}}, {}},
                    {ImageKind::Ptx, "compute_80", {{1}, {2}}, {}},
                    {ImageKind::Fatbin, "", {{3}}, {}}};
  const auto image_of = [&](std::uint32_t kernel) {
    return cgrt::cuda::select_image(program, {kernel}, {9, 0});
  };
  EXPECT_EQ(image_of(0), &program.images[0]);
  EXPECT_EQ(image_of(1), &program.images[1]);
  EXPECT_EQ(image_of(2), &program.images[0]);
  EXPECT_EQ(image_of(3), &program.images[2]);
  EXPECT_EQ(image_of(4), nullptr);
}

TEST(SelectImage, PassesOverWhatItDoesNotKnow) {
  EXPECT_EQ(selected({"x86_64"}, {9, 0}), "none");
  EXPECT_EQ(
      selected({"sm_", "sm_x", "sm_90b", "sm_-1", "sm_99999999999", "sm_a", "compute_"}, {9, 0}),
      "none");
  EXPECT_EQ(selected({}, {9, 0}), "none");
}

bool is_whole(const cgrt::format::Image &image) {
  try {
    cgrt::cuda::check_whole(image);
    return true;
  } catch (const cgrt::Error &error) {
    EXPECT_EQ(error.code(), cgrt::ErrorCode::Device);
    return false;
  }
}

TEST(CheckWhole, TakesACubinAndNoPartOfOne) {
  const std::optional<cgrt::Program> program = cgrt::testing::example("saxpy");
  if (!program) {
    GTEST_SKIP() << "no bundles and no NVRTC";
  }
  cgrt::format::Image image = program->contents().images.front();
  ASSERT_EQ(image.kind, ImageKind::Cubin);
  EXPECT_TRUE(is_whole(image));
  while (!image.bytes.empty()) {
    image.bytes.pop_back();
    ASSERT_FALSE(is_whole(image)) << image.bytes.size();
  }
}

/// A fatbin of two parts, as CUDA 13's fatbinary writes it: headers of 16, 64 and 80 bytes.
std::vector<std::byte> fatbin() {
  std::vector<std::byte> bytes;
  const auto put = [&](std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
  };
  const auto put_part = [&](std::uint64_t kind, std::uint64_t header, std::uint64_t code) {
    put(kind, 2);
    put(0x101, 2);
    put(header, 4);
    put(code, 8);
    bytes.resize(bytes.size() + header - 16 + code);
  };
  put(0xBA55ED50, 4);
  put(1, 2);
  put(16, 2);
  put(64 + 24 + 80 + 8, 8);
  put_part(2, 64, 24);
  put_part(1, 80, 8);
  return bytes;
}

TEST(CheckWhole, TakesAFatbinAndNoPartOfOne) {
  cgrt::format::Image image{ImageKind::Fatbin, "", {}, fatbin()};
  EXPECT_TRUE(is_whole(image));
  image.bytes[16 + 8] = std::byte{255}; // a part that would end behind the file
  EXPECT_FALSE(is_whole(image));
  image.bytes = fatbin();
  image.bytes[16 + 4] = std::byte{0}; // and one whose header would not end
  EXPECT_FALSE(is_whole(image));
  image.bytes = fatbin();
  while (!image.bytes.empty()) {
    image.bytes.pop_back();
    ASSERT_FALSE(is_whole(image)) << image.bytes.size();
  }
}

TEST(CheckWhole, RefusesWhatIsNoCubin) {
  const std::vector<std::byte> zeros(4096);
  EXPECT_FALSE(is_whole({ImageKind::Cubin, "sm_90", {}, zeros}));
  EXPECT_FALSE(is_whole({ImageKind::Cubin, "sm_90", {}, {}}));
  EXPECT_FALSE(is_whole({ImageKind::Fatbin, "", {}, zeros}));
  EXPECT_TRUE(
      is_whole({ImageKind::Ptx, "compute_90", {}, zeros})); // its compiler says what is wrong
}

} // namespace
