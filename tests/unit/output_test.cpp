#include "output.h"

#include <gtest/gtest.h>

#include <llvm/Support/raw_ostream.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace cgrun {
namespace {

namespace fs = std::filesystem;

/// A folder for one test.
class OutputTest : public testing::Test {
protected:
  OutputTest() {
    folder_ = fs::path(testing::TempDir()) /
              ("cgrun_output_" + std::to_string(getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  ~OutputTest() override { fs::remove_all(folder_); }

  std::string path(const std::string &name) const { return (folder_ / name).string(); }

  std::size_t file_count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  static std::string text_of(const std::string &path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  static std::string problem(const std::string &path) {
    try {
      const OutputFile file("y", path);
    } catch (const cgrt::Error &error) {
      EXPECT_EQ(error.code(), cgrt::ErrorCode::Usage);
      return error.message();
    }
    return "no error";
  }

  const std::vector<std::uint8_t> values_{1, 2, 3};
  const cgrt::BufferView view_{cgrt::ScalarType::U8, cgrt::MemorySpace::Host, {3}, 3};
  fs::path folder_;
};

TEST_F(OutputTest, IsThereWholeOrNotAtAll) {
  {
    OutputFile file("y", path("y.npy"));
    file.write(view_, std::as_bytes(std::span(values_)));
    EXPECT_FALSE(fs::exists(path("y.npy")));
    file.commit();
  }
  EXPECT_TRUE(text_of(path("y.npy")).ends_with("\n\x01\x02\x03"));
  EXPECT_EQ(file_count(), 1U);
  {
    OutputFile file("y", path("y.npy"));
    file.write(view_, {});
  }
  EXPECT_TRUE(text_of(path("y.npy")).ends_with("\n\x01\x02\x03"));
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(OutputTest, FollowsSymbolicLinks) {
  std::ofstream(path("real.npy")) << "old";
  fs::create_symlink("real.npy", path("link.npy"));
  OutputFile file("y", path("link.npy"));
  file.write(view_, std::as_bytes(std::span(values_)));
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link.npy")));
  EXPECT_TRUE(text_of(path("real.npy")).ends_with("\n\x01\x02\x03"));
}

TEST_F(OutputTest, RefusesWhatCannotBeWritten) {
  EXPECT_EQ(problem(path("none/y.npy")),
            "--out y: cannot write " + path("none/y.npy") + ": No such file or directory");
  EXPECT_EQ(problem(path("")), "--out y: cannot write " + path("") + ": it is a folder");
  EXPECT_EQ(problem("/dev/null"), "--out y: cannot write /dev/null: it is not a regular file");
  EXPECT_EQ(file_count(), 0U);
}

std::string printed(cgrt::ScalarType type, const std::vector<std::size_t> &shape,
                    std::span<const std::byte> bytes) {
  std::string text;
  llvm::raw_string_ostream out(text);
  print_values(out, "y", {type, cgrt::MemorySpace::Host, shape, bytes.size()}, bytes);
  return out.str();
}

TEST_F(OutputTest, PrintsValues) {
  const std::vector<float> floats{0.1F, -2.0F, 3e10F, 0.0F};
  const auto bytes = std::as_bytes(std::span(floats));
  EXPECT_EQ(printed(cgrt::ScalarType::F32, {4}, bytes), "# y f32[4]\n0.1\n-2\n3e+10\n0\n");
  EXPECT_EQ(printed(cgrt::ScalarType::F32, {2, 2}, bytes), "# y f32[2, 2]\n0.1 -2\n3e+10 0\n");
  EXPECT_EQ(printed(cgrt::ScalarType::F32, {2, 0}, {}), "# y f32[2, 0]\n");
  EXPECT_EQ(printed(cgrt::ScalarType::U8, {3}, std::as_bytes(std::span(values_))),
            "# y u8[3]\n1\n2\n3\n");
}

} // namespace
} // namespace cgrun
