#include "kernels/kernel_compiler.h"

#include "kernel_fixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

namespace {

using cgc::Diagnostics;
using cgc::testing::buffer;
using cgc::testing::KernelFixture;
using cgc::testing::scalar;
using cgrt::ScalarType;
using cgrt::format::Mode;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

std::string text_of(const cgrt::format::Image &image) {
  return {reinterpret_cast<const char *>(image.bytes.data()), image.bytes.size()};
}

TEST(HostCompiler, MakesOneSharedObject) {
  KernelFixture fixture = fixture_of("x[threadIdx.x] = n * TILE;");
  EXPECT_EQ(errors(fixture), "");
  ASSERT_EQ(fixture.program.images.size(), 1U);
  EXPECT_EQ(fixture.program.images[0].kind, cgrt::format::ImageKind::HostSharedObject);
  const std::string text = text_of(fixture.program.images[0]);
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

constexpr const char *hint = "needs a 'host { … }' body, or --target=cuda";

TEST(HostCompiler, WhatTheHostDeviceLacksIsHintedAt) {
  EXPECT_THAT(errors_of("__nv_texture_thing t;"), HasSubstr(hint));
  EXPECT_THAT(errors_of("\n#include <cooperative_groups.h>"), HasSubstr(hint));
}

TEST(HostCompiler, InlinePtxIsRefusedWhereItWouldBeCompiled) {
  for (const char *word : {"asm", "asm volatile", "__asm__", "__asm"}) {
    // The host's assembler would take an empty one.
    EXPECT_THAT(errors_of("int v;\n  " + std::string(word) + "(\"\" : \"=r\"(v)); x[0] = v;"),
                AllOf(HasSubstr("t.cgraph:3:3: error:"),
                      HasSubstr("the host device runs no inline PTX"), HasSubstr(hint)))
        << word;
  }
  EXPECT_EQ(errors_of("#ifdef __CUDA_ARCH__\nasm(\"mov\");\n#else\nx[0] = 1;\n#endif"), "");
}

TEST(HostCompiler, SharedMemoryAtFileScopeIsRefused) {
  KernelFixture fixture("cuda { extern __shared__ float s[]; } kernel k cuda {\n}");
  fixture.add("k", {});
  fixture.add_block(" extern __shared__ float s[]; ");
  Diagnostics diagnostics;
  cgc::compile_kernels(fixture.program, fixture.unit(), {false, true, {}}, diagnostics);
  ASSERT_EQ(diagnostics.error_count(), 1U);
  EXPECT_EQ(diagnostics.all()[0].id, cgc::Diag::SharedAtFileScope);
  EXPECT_THAT(fixture.printed(diagnostics), HasSubstr("t.cgraph:1:32: error: 's' is shared"));
}

TEST(HostCompiler, ABinaryNeedsAHostBody) {
  KernelFixture fixture("kernel k host { x[0] = 1; }");
  cgc::KernelSource &source = fixture.declare("k", {buffer("x", ScalarType::F32, Mode::Out)});
  source.kind = cgc::BodyKind::Binary;
  Diagnostics diagnostics;
  cgc::compile_kernels(fixture.program, fixture.unit(), {false, true, {}}, diagnostics);
  ASSERT_EQ(diagnostics.error_count(), 1U);
  EXPECT_EQ(diagnostics.all()[0].id, cgc::Diag::NeedsHostBody);
  EXPECT_THAT(fixture.printed(diagnostics),
              AllOf(HasSubstr("t.cgraph:1:8: error:"), HasSubstr("'host { … }'")));

  source.host = fixture.text_of(" x[0] = 1; ");
  EXPECT_EQ(errors(fixture), "");
  EXPECT_THAT(text_of(fixture.program.images.at(0)), HasSubstr("cg_host_once_k"));
}

/// A kernel with a host body, and a cuda body that no host compiler takes.
KernelFixture with_host_body(const std::string &body) {
  KernelFixture fixture("kernel k(n: i32, x: inout f32[n]) host {\n" + body + "}");
  cgc::KernelSource &source = fixture.declare(
      "k", {scalar("n", ScalarType::I32), buffer("x", ScalarType::F32, Mode::InOut)});
  source.body = {"asm(\"bogus\");", source.name};
  source.host = fixture.text_of("\n" + body);
  fixture.scopes.front().constants = {{"TILE", "long long", "16"}};
  return fixture;
}

TEST(HostCompiler, HostBodiesArePlainCpp) {
  KernelFixture fixture = with_host_body(
      "  std::vector<i32> v(n, TILE);\n  try { v.at(n); } catch (...) {}\n"
      "  x[0] = std::accumulate(v.begin(), v.end(), 0) + gridDim.x * blockDim.y;\n"
      "  std::int8_t least = std::numeric_limits<std::int8_t>::min();\n"
      "  std::memset(x, 0, std::max<std::size_t>(least + 200, 4)); x[1] = std::sqrt(2.0F);\n");
  EXPECT_EQ(errors(fixture), "");
}

TEST(HostCompiler, ErrorsInHostBodiesStandAtTheirLineWithoutAHint) {
  KernelFixture fixture = with_host_body("  int a;\n  oops();\n");
  const std::string text = errors(fixture);
  EXPECT_THAT(text, HasSubstr("t.cgraph:3:3: error:"));
  EXPECT_THAT(text, Not(HasSubstr(hint)));
}

TEST(HostCompiler, HostBodiesAndOthersAreInUnitsOfTheirOwn) {
  KernelFixture fixture("kernel a cuda { x[0] = 1;\n}\nkernel b cuda { x[0] = 2;\n}\n"
                        "host { x[0] = 3; }");
  fixture.add("a", {buffer("x", ScalarType::F32, Mode::Out)});
  fixture.add("b", {buffer("x", ScalarType::F32, Mode::Out)});
  fixture.sources[0].host = fixture.text_of(" x[0] = 3; ");
  EXPECT_EQ(errors(fixture), "");
  ASSERT_EQ(fixture.program.images.size(), 2U);
  EXPECT_EQ(fixture.program.images[0].kernels, std::vector<cgrt::format::KernelId>{{0}});
  EXPECT_EQ(fixture.program.images[1].kernels, std::vector<cgrt::format::KernelId>{{1}});
  EXPECT_THAT(text_of(fixture.program.images[0]), HasSubstr("cg_host_once_a"));
  EXPECT_THAT(text_of(fixture.program.images[1]), HasSubstr("cg_host_b"));
}

TEST(HostCompiler, SourcesCompileBehindTheHostHeader) {
  const Folder folder;
  std::ofstream(folder.path() + "/half.cuh") << "#include <cuda_fp16.h>\n"
                                                "__device__ float half_of(float x) {"
                                                " return float(__half(x)) / 2; }\n";
  const std::string text = "#include <cuda_runtime.h>\n#include \"half.cuh\"\n"
                           "template <typename T> __global__ void __launch_bounds__(64)\n"
                           "k(const T *__restrict__ x, T *y) {\n"
                           "  __shared__ T s[64];\n"
                           "  s[threadIdx.x] = half_of(x[threadIdx.x]); __syncthreads();\n"
                           "  y[threadIdx.x] = s[63 - threadIdx.x];\n}\n";
  const auto source_errors = [&](Mode mode) {
    KernelFixture fixture("\nkernel k");
    const cgc::FileId file = fixture.add_file(folder.path() + "/k.cu", text);
    fixture.add_source(
        "k", {buffer("x", ScalarType::F32, mode), buffer("y", ScalarType::F32, Mode::Out)},
        "k<float>", file);
    return errors(fixture);
  };
  EXPECT_EQ(source_errors(Mode::In), "");
  EXPECT_THAT(source_errors(Mode::Out), AllOf(HasSubstr("t.cgraph:2:8: error:"),
                                              HasSubstr("it is declared as void k<float>(")));
}

TEST(HostCompiler, ErrorsInASourceStandAtItsOwnLine) {
  KernelFixture fixture("kernel k");
  fixture.add_source("k", {}, "k", fixture.add_file("a/k.cu", "\n__global__ void k() { oops(); }"));
  EXPECT_EQ(errors(fixture).substr(0, 20), "a/k.cu:2:23: error: ");
}

TEST(HostCompiler, InstancesOfGenericKernelsAreNamedInErrors) {
  KernelFixture fixture("kernel k cuda {\n  x[0] = T(1) << 1;\n}");
  for (const ScalarType type : {ScalarType::I32, ScalarType::F32}) {
    fixture.add("k", {buffer("x", type, Mode::Out)});
    const std::string spelling(cgrt::format::spelling(type));
    fixture.program.kernels.back().name = "k<" + spelling + ">";
    fixture.program.kernels.back().symbol = "k_" + spelling;
    fixture.sources.back().types = {{"T", type}};
  }
  EXPECT_THAT(errors(fixture),
              AllOf(HasSubstr("t.cgraph:2:15: error:"), HasSubstr("note: in kernel k<f32>\n")));
}

} // namespace
