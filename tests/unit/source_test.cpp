#include "diag/source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace std::string_literals;

namespace {

using cgc::FileId;
using cgc::SourceFile;
using cgc::SourceFiles;
using cgc::SourceRange;

/// A folder of its own for one test, removed with it.
class ScratchFolder {
public:
  ScratchFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("cgraph-source-test-" +
               std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "-" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name() + "-" +
               std::to_string(reinterpret_cast<std::uintptr_t>(this)))) {
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;

  std::string write(const std::string &name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream out(file, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file.string();
  }
  std::string path() const { return path_.string(); }

private:
  std::filesystem::path path_;
};

/// The error text of opening a file with these bytes, without its path.
std::string why_not(std::string_view bytes) {
  const ScratchFolder folder;
  const std::string path = folder.write("input.cgraph", bytes);
  SourceFiles files;
  llvm::Expected<FileId> id = files.open(path);
  if (id) {
    return "";
  }
  const std::string text = llvm::toString(id.takeError());
  const std::string prefix = "cannot read '" + path + "': ";
  EXPECT_EQ(text.substr(0, prefix.size()), prefix);
  return text.substr(std::min(prefix.size(), text.size()));
}

TEST(SourceFile, CountsLinesTheSameWhateverTheirEnds) {
  for (const std::string_view raw : {"ab\ncd\n\ne", "ab\r\ncd\r\n\r\ne", "ab\rcd\r\re"}) {
    const SourceFile file("f", raw);
    EXPECT_EQ(file.text(), "ab\ncd\n\ne");
    EXPECT_EQ(file.line_count(), 4U);
    EXPECT_EQ(file.line_of(0), 1U);
    EXPECT_EQ(file.line_of(2), 1U); // the line end belongs to its line
    EXPECT_EQ(file.line_of(3), 2U);
    EXPECT_EQ(file.column_of(4), 2U);
    EXPECT_EQ(file.line_of(7), 4U);
    EXPECT_EQ(file.line_of(8), 4U); // the end of the text
    EXPECT_EQ(file.column_of(8), 2U);
  }
}

TEST(SourceFile, DropsAByteOrderMark) {
  const SourceFile file("f", "\xEF\xBB\xBFx");
  EXPECT_EQ(file.text(), "x");
  EXPECT_EQ(file.column_of(0), 1U);
}

TEST(SourceFile, LineBoundsLeaveOutTheEnd) {
  const SourceFile file("f", "ab\n\ncd");
  EXPECT_EQ(file.line_bounds(1), (std::pair<std::uint32_t, std::uint32_t>{0, 2}));
  EXPECT_EQ(file.line_bounds(2), (std::pair<std::uint32_t, std::uint32_t>{3, 3}));
  EXPECT_EQ(file.line_bounds(3), (std::pair<std::uint32_t, std::uint32_t>{4, 6}));
  EXPECT_EQ(file.line_bounds(99), file.line_bounds(3));
  EXPECT_EQ(file.line_bounds(0), file.line_bounds(1));
}

TEST(SourceFile, AnEmptyFileHasOneEmptyLine) {
  const SourceFile file("f", "");
  EXPECT_EQ(file.line_count(), 1U);
  EXPECT_EQ(file.line_of(0), 1U);
  EXPECT_EQ(file.line_bounds(1), (std::pair<std::uint32_t, std::uint32_t>{0, 0}));
}

TEST(SourceFiles, RangesHaveTextAndPlace) {
  SourceFiles files;
  files.add("a", "");
  const FileId id = files.add("b", "one\ntwo three\n");
  const SourceRange range{id, 8, 13};
  EXPECT_EQ(files.text(range), "three");
  EXPECT_EQ(files.place(range), (cgc::Place{id, 2, 5}));
  EXPECT_EQ(files.text(files.line(id, 2)), "two three");
  EXPECT_EQ(files.place(SourceRange{}), cgc::Place{});
}

TEST(SourceFiles, OpensAFileAsItIsNamed) {
  const ScratchFolder folder;
  const std::string path = folder.write("saxpy.cgraph", "graph main { }\r\n");
  SourceFiles files;
  llvm::Expected<FileId> id = files.open(path);
  ASSERT_TRUE(static_cast<bool>(id)) << llvm::toString(id.takeError());
  EXPECT_EQ(files[*id].name(), path);
  EXPECT_EQ(files[*id].text(), "graph main { }\n");
}

TEST(SourceFiles, SaysWhyAFileCannotBeUsed) {
  const ScratchFolder folder;
  SourceFiles files;
  const auto text = [&](const std::string &path) {
    return llvm::toString(files.open(path).takeError());
  };
  EXPECT_EQ(text(folder.path() + "/missing"),
            "cannot read '" + folder.path() + "/missing': No such file or directory");
  EXPECT_EQ(text(folder.path()), "cannot read '" + folder.path() + "': Is a directory");
  EXPECT_EQ(files.size(), 0U);
}

TEST(SourceFiles, RefusesWhatIsNotText) {
  EXPECT_EQ(why_not("ab\ncd\0e"s), "line 2, column 3: a NUL byte; is this a text file?");
  EXPECT_EQ(why_not("ab\r\n\xFFz"), "line 2, column 1: byte 0xFF is not valid UTF-8");
  EXPECT_EQ(why_not("\xC0\x80"), "line 1, column 1: byte 0xC0 is not valid UTF-8"); // overlong
  EXPECT_EQ(why_not("x\xED\xA0\x80"),
            "line 1, column 2: byte 0xED is not valid UTF-8"); // surrogate
  EXPECT_EQ(why_not("x\xF4\x90\x80\x80"),
            "line 1, column 2: byte 0xF4 is not valid UTF-8");                       // too great
  EXPECT_EQ(why_not("x\xE2\x82"), "line 1, column 2: byte 0xE2 is not valid UTF-8"); // cut off
  EXPECT_EQ(why_not("\xE2\x82\xAC \xF0\x9F\x98\x80"), "");
  EXPECT_EQ(why_not(""), "");
}

TEST(SourceFiles, RefusesAFileOverTheLimit) {
  const ScratchFolder folder;
  const std::string path = folder.write("large", "");
  std::filesystem::resize_file(path, cgc::max_source_bytes + 1); // sparse: takes no space
  SourceFiles files;
  EXPECT_EQ(llvm::toString(files.open(path).takeError()),
            "cannot read '" + path + "': it is larger than 256 MiB");
}

} // namespace
