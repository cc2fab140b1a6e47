#include "kernels/kernel_compiler.h"

#include "kernel_fixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace {

using cgc::Diagnostics;
using cgc::testing::buffer;
using cgc::testing::KernelFixture;
using cgc::testing::scalar;
using cgrt::ScalarType;
using cgrt::format::Mode;
using ::testing::HasSubstr;

/// Sets an environment variable and restores it in the end.
class Environment {
public:
  Environment(const char *name, const std::string &value) : name_(name) {
    if (const char *old = std::getenv(name)) {
      old_ = old;
    }
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Environment(const Environment &) = delete;
  Environment &operator=(const Environment &) = delete;

private:
  const char *name_;
  std::optional<std::string> old_;
};

/// An empty folder, removed in the end.
class Folder {
public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cgraph-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  const std::string &path() const { return path_; }
  bool empty() const { return std::filesystem::is_empty(path_); }

private:
  std::string path_;
};

/// What compiling for the host prints, or nothing where it succeeds. Checks that no file is left.
std::string errors(KernelFixture &fixture) {
  const Folder folder;
  const Environment temporary("TMPDIR", folder.path());
  Diagnostics diagnostics;
  cgc::compile_kernels(fixture.program, fixture.unit(), {false, true, {}}, diagnostics);
  EXPECT_TRUE(folder.empty());
  EXPECT_EQ(diagnostics.has_errors(), fixture.program.images.empty());
  return fixture.printed(diagnostics);
}

KernelFixture fixture_of(const std::string &body) {
  KernelFixture fixture("kernel k(n: i32, x: inout f32[n]) cuda {\n" + body + "\n}");
  fixture.add("k", {scalar("n", ScalarType::I32), buffer("x", ScalarType::F32, Mode::InOut)});
  fixture.scopes.front().constants = {{"TILE", "long long", "16"}};
  return fixture;
}

std::string errors_of(const std::string &body) {
  KernelFixture fixture = fixture_of(body);
  return errors(fixture);
}

TEST(HostCompiler, MakesOneSharedObject) {
  KernelFixture fixture = fixture_of("x[threadIdx.x] = n * TILE;");
  EXPECT_EQ(errors(fixture), "");
  ASSERT_EQ(fixture.program.images.size(), 1U);
  EXPECT_EQ(fixture.program.images[0].kind, cgrt::format::ImageKind::HostSharedObject);
  const auto &bytes = fixture.program.images[0].bytes;
  const std::string text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  EXPECT_EQ(text.substr(1, 3), "ELF");
  EXPECT_THAT(text, HasSubstr("cg_host_k"));
}

TEST(HostCompiler, EqualInputsGiveEqualImages) {
  const char *body = "__shared__ float s[64]; s[threadIdx.x] = sinf(x[0]); __syncthreads();\n"
                     "auto f = [](float v) { return v + 1; }; assert(n > 0);\n"
                     "x[threadIdx.x] = f(s[0]); printf(\"%d\\n\", n);";
  KernelFixture first = fixture_of(body);
  KernelFixture second = fixture_of(body);
  EXPECT_EQ(errors(first), "");
  EXPECT_EQ(errors(second), "");
  ASSERT_EQ(first.program.images.size(), 1U);
  EXPECT_EQ(first.program.images[0].bytes, second.program.images[0].bytes);
}

TEST(HostCompiler, ErrorsNameTheLineOfTheBody) {
  EXPECT_THAT(errors_of("float y = 1;\n"
                        "extern __shared__\n"
                        "  float s[];\n"
                        "y = unknown + s[0];"),
              HasSubstr("t.cgraph:5:5: error:"));
  EXPECT_THAT(errors_of("__shared__ int s;\nreturn undeclared;"),
              HasSubstr("t.cgraph:3:8: error:"));
}

TEST(HostCompiler, KernelCodeDoesNotSeeTheCLibrarysMacros) {
  EXPECT_EQ(errors_of("float M_PI = 3, INFINITY = 4, EOF = 5; x[0] = M_PI + INFINITY + EOF;"), "");
}

TEST(HostCompiler, CudaArchIsUndefined) {
  EXPECT_EQ(errors_of("#ifdef __CUDA_ARCH__\n#error device\n#endif\nx[0] = 1;"), "");
}

TEST(HostCompiler, AMissingCompilerIsSaid) {
  {
    const Environment compiler("CXX", "no-such-compiler -O1");
    EXPECT_THAT(errors_of(""), HasSubstr("cannot compile the kernels for the host device: there is "
                                         "no program 'no-such-compiler -O1', which CXX names"));
  }
  const Folder nothing;
  const Environment path("PATH", nothing.path());
  const Environment none("CXX", "");
  EXPECT_THAT(errors_of(""), HasSubstr("install g++ or clang++"));
}

TEST(HostCompiler, CxxMayHoldWords) {
  const Environment compiler("CXX", "c++ -DFROM_CXX=7");
  EXPECT_EQ(errors_of("x[0] = FROM_CXX;"), "");
}

} // namespace
