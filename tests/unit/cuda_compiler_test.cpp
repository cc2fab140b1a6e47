#include "kernels/kernel_compiler.h"

#include "kernel_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace {

using cgc::Diag;
using cgc::Diagnostics;
using cgc::KernelCompileOptions;
using cgc::testing::buffer;
using cgc::testing::KernelFixture;
using cgc::testing::scalar;
using cgrt::ScalarType;
using cgrt::format::ImageKind;
using cgrt::format::Mode;

class CudaCompiler : public ::testing::Test {
protected:
  void SetUp() override {
    std::string why_not;
    if (!cgc::cuda_compiler_available(&why_not)) {
      GTEST_SKIP() << why_not;
    }
  }

  static KernelCompileOptions options(std::vector<std::string> architectures = {"sm_90"}) {
    return {true, false, std::move(architectures)};
  }

  /// What compiling prints, or nothing where it succeeds.
  static std::string errors(KernelFixture &fixture, const KernelCompileOptions &how = options()) {
    Diagnostics diagnostics;
    cgc::compile_kernels(fixture.program, fixture.unit(), how, diagnostics);
    EXPECT_EQ(diagnostics.has_errors(), fixture.program.images.empty());
    return fixture.printed(diagnostics);
  }

  static std::string as_text(const std::vector<std::byte> &bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
  }

  /// The errors of a program of one kernel with this body, which begins in line 2.
  static std::string errors_of(const std::string &body) {
    KernelFixture fixture("kernel k(n: i32, x: inout f32[n]) cuda {\n" + body + "\n}");
    fixture.add("k", {scalar("n", ScalarType::I32), buffer("x", ScalarType::F32, Mode::InOut)});
    return errors(fixture);
  }
};

KernelFixture saxpy() {
  KernelFixture fixture("kernel saxpy cuda {\n"
                        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                        "  if (i < n) y[i] = a * x[i] + y[i] + TILE;\n"
                        "}");
  fixture.add("saxpy",
              {scalar("n", ScalarType::I32), scalar("a", ScalarType::F32),
               buffer("x", ScalarType::F32, Mode::In), buffer("y", ScalarType::F32, Mode::InOut)});
  fixture.scopes.front().constants = {{"TILE", "long long", "16"}};
  return fixture;
}

TEST_F(CudaCompiler, MakesACubinAndPtxForEachArchitecture) {
  KernelFixture fixture = saxpy();
  EXPECT_EQ(errors(fixture, options({"sm_90", "sm_80", "sm_90"})), "");
  ASSERT_EQ(fixture.program.images.size(), 4U);
  EXPECT_EQ(fixture.program.images[0].kind, ImageKind::Cubin);
  EXPECT_EQ(fixture.program.images[0].architecture, "sm_90");
  EXPECT_EQ(as_text(fixture.program.images[0].bytes).substr(1, 3), "ELF");
  EXPECT_EQ(fixture.program.images[1].kind, ImageKind::Ptx);
  EXPECT_EQ(fixture.program.images[1].architecture, "compute_90");
  const std::string ptx = as_text(fixture.program.images[1].bytes);
  EXPECT_NE(ptx.find(".entry saxpy("), std::string::npos);
  EXPECT_NE(ptx.find("\"/t.cgraph\""), std::string::npos) << "line information";
  EXPECT_EQ(ptx.find('\0'), std::string::npos);
  EXPECT_EQ(fixture.program.images[2].architecture, "sm_80");
  EXPECT_EQ(fixture.program.images[3].architecture, "compute_80");
}

TEST_F(CudaCompiler, EqualInputsGiveEqualImagesWhereverTheyAreCompiled) {
  KernelFixture first = saxpy();
  EXPECT_EQ(errors(first), "");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path("/");
  KernelFixture second = saxpy();
  EXPECT_EQ(errors(second), "");
  std::filesystem::current_path(before);
  for (std::size_t index = 0; index < 2; ++index) {
    EXPECT_EQ(first.program.images[index].bytes, second.program.images[index].bytes);
  }
}

TEST_F(CudaCompiler, ProgramsWithoutKernelsNeedNoImages) {
  KernelFixture fixture("");
  Diagnostics diagnostics;
  cgc::compile_kernels(fixture.program, fixture.unit(), options({"nonsense"}), diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_TRUE(fixture.program.images.empty());
}

TEST_F(CudaCompiler, RefusesAnUnknownArchitecture) {
  for (const char *name : {"sm_91", "compute_90", "sm_", "sm_90x", "", "90"}) {
    KernelFixture fixture = saxpy();
    const std::string text = errors(fixture, options({name}));
    EXPECT_NE(text.find("error: '" + std::string(name) + "' is no architecture that NVRTC"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("sm_90"), std::string::npos);
  }
}

TEST_F(CudaCompiler, EveryTypeCompiles) {
  KernelFixture fixture("kernel k cuda {\n}");
  std::vector<cgrt::format::KernelParam> params;
  for (std::uint8_t index = 0; index < cgrt::format::scalar_type_count; ++index) {
    const auto type = static_cast<ScalarType>(index);
    params.push_back(scalar("s" + std::to_string(index), type));
    params.push_back(buffer("b" + std::to_string(index), type, Mode::InOut));
  }
  fixture.add("k", params);
  EXPECT_EQ(errors(fixture), "");
}

TEST_F(CudaCompiler, SmallFloatsNeedNoInclude) {
  EXPECT_EQ(errors_of("  f16 h = f16(x[0]); bf16 b = bf16(x[1]); x[2] = float(h) + float(b);"), "");
}

TEST_F(CudaCompiler, MacrosOfOneKernelDoNotReachTheNext) {
  KernelFixture fixture(
      "kernel a cuda {\n#define body foo\n#define cgk_b 7\n#define x y\n  x[0] = 1;\n}\n"
      "kernel b cuda {\n  x[0] = 1;\n}\n");
  fixture.add("a", {buffer("y", ScalarType::F32, Mode::Out)});
  fixture.add("b", {buffer("x", ScalarType::F32, Mode::Out)});
  EXPECT_EQ(errors(fixture), "");
}

TEST_F(CudaCompiler, ErrorsStandAtTheirLineAndColumn) {
  const std::string text = errors_of("  x[0] = oops(n);\n\n\tx[1] = nope;");
  EXPECT_NE(text.find("t.cgraph:2:10: error: NVRTC: identifier \"oops\" is undefined "
                      "[kernel-compile]\n  x[0] = oops(n);\n         ^~~~\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("t.cgraph:4:9: error: NVRTC: identifier \"nope\""), std::string::npos)
      << text;
}

TEST_F(CudaCompiler, ErrorsInTheFirstLineOfABodyHaveTheFilesColumn) {
  KernelFixture fixture("\n  kernel k() cuda { oops(); }");
  fixture.add("k", {}, " }");
  EXPECT_EQ(errors(fixture).substr(0, 24), "t.cgraph:2:21: error: NV");
}

TEST_F(CudaCompiler, UnbalancedPreprocessorLinesAreErrorsAtThem) {
  EXPECT_NE(errors_of("\n#if 0\n").find("t.cgraph:3:2: error: NVRTC: the #endif"),
            std::string::npos)
      << errors_of("\n#if 0\n");
  EXPECT_NE(errors_of("\n#endif\n").find("t.cgraph:3:2: error: NVRTC: the #if"), std::string::npos)
      << errors_of("\n#endif\n");
}

TEST_F(CudaCompiler, ABodyMayEndInABackslash) {
  EXPECT_EQ(errors_of("  x[0] = 1; // \\"), "");
}

TEST_F(CudaCompiler, AParameterNamedLikeAKeywordIsAnErrorAtTheKernel) {
  KernelFixture fixture("\nkernel k(if: i32) cuda {\n}");
  fixture.add("k", {scalar("if", ScalarType::I32)});
  const std::string text = errors(fixture);
  EXPECT_EQ(text.substr(0, 23), "t.cgraph:2:8: error: NV") << text;
}

TEST_F(CudaCompiler, TooMuchStaticSharedMemoryIsAnErrorAtTheKernel) {
  const std::string text =
      errors_of("  __shared__ float s[60000];\n  s[threadIdx.x] = x[0]; __syncthreads();\n"
                "  x[1] = s[n];");
  EXPECT_NE(text.find("t.cgraph:1:8: error: NVRTC: ptxas: Entry function 'k' uses too much shared"),
            std::string::npos)
      << text;
}

TEST(CudaCompilerMissing, IsOneErrorThatSaysWhatToDo) {
  if (cgc::cuda_compiler_available()) {
    GTEST_SKIP() << "NVRTC is here";
  }
  KernelFixture fixture = saxpy();
  Diagnostics diagnostics;
  cgc::compile_kernels(fixture.program, fixture.unit(), {true, false, {"sm_90"}}, diagnostics);
  ASSERT_EQ(diagnostics.error_count(), 1U);
  EXPECT_EQ(diagnostics.all().front().id, Diag::KernelCompilerMissing);
  EXPECT_NE(diagnostics.all().front().message.find("CUDA_HOME"), std::string::npos);
}

} // namespace
