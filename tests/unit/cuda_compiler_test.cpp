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

TEST_F(CudaCompiler, KernelsShareUnitsOfAtMostTen) {
  std::string text;
  for (int index = 0; index < 21; ++index) {
    text += "kernel k" + std::to_string(index) + ". cuda {\n  x[0] = " + std::to_string(index) +
            ";\n}\n";
  }
  const auto make = [&] {
    KernelFixture fixture(text);
    for (int index = 0; index < 21; ++index) {
      fixture.add("k" + std::to_string(index), {buffer("x", ScalarType::F32, Mode::Out)});
    }
    EXPECT_EQ(errors(fixture), "");
    return fixture;
  };
  const KernelFixture first = make();
  const auto &images = first.program.images;
  ASSERT_EQ(images.size(), 6U);
  std::uint32_t next = 0;
  for (std::size_t unit = 0; unit < 3; ++unit) {
    EXPECT_EQ(images[2 * unit].kind, ImageKind::Cubin);
    EXPECT_EQ(images[2 * unit].kernels.size(), 7U);
    EXPECT_EQ(images[2 * unit].kernels, images[2 * unit + 1].kernels);
    for (const cgrt::format::KernelId kernel : images[2 * unit].kernels) {
      EXPECT_EQ(kernel.index, next);
      const std::string entry = ".entry k" + std::to_string(next++) + "(";
      EXPECT_NE(as_text(images[2 * unit + 1].bytes).find(entry), std::string::npos);
    }
  }
  // Whatever order the units were done in.
  const KernelFixture second = make();
  for (std::size_t index = 0; index < images.size(); ++index) {
    EXPECT_EQ(images[index].bytes, second.program.images[index].bytes);
  }
}

TEST_F(CudaCompiler, KernelsSeeWhatTheirScopeSharesAndNothingElse) {
  KernelFixture fixture(
      "cuda {\n#define TWICE 2\n__device__ float f(float x) { return TILE * x; }\n}\n"
      "kernel a cuda {\n  x[0] = f(TWICE);\n}\n"
      "kernel b cuda {\n  x[0] = TILE;\n}\n");
  fixture.add("a", {buffer("x", ScalarType::F32, Mode::Out)});
  fixture.add("b", {buffer("x", ScalarType::F32, Mode::Out)});
  fixture.add_block("\n#define TWICE 2\n__device__ float f(float x) { return TILE * x; }\n");
  fixture.scopes.front().constants = {{"TILE", "int", "16"}};
  EXPECT_EQ(errors(fixture), "");
  EXPECT_EQ(fixture.program.images.size(), 2U);
  fixture.program.images.clear();
  fixture.scopes.emplace_back();
  fixture.sources[1].scope = 1;
  EXPECT_NE(errors(fixture).find("t.cgraph:9:10: error: NVRTC: identifier \"TILE\" is undefined"),
            std::string::npos);
}

TEST_F(CudaCompiler, MutableVariablesInBlocksAreRefused) {
  KernelFixture fixture("cuda { __device__ int count; } kernel k cuda {\n}");
  fixture.add("k", {});
  fixture.add_block(" __device__ int count; ");
  EXPECT_EQ(errors(fixture).substr(0, 38), "t.cgraph:1:23: error: 'count' is a dev");
}

TEST_F(CudaCompiler, ErrorsInBlocksStandAtTheirLine) {
  KernelFixture fixture("cuda {\n  __device__ int f() { return oops; }\n}\nkernel k cuda {\n}");
  fixture.add("k", {});
  fixture.add_block("\n  __device__ int f() { return oops; }\n");
  EXPECT_EQ(errors(fixture).substr(0, 37), "t.cgraph:2:31: error: NVRTC: identifi");
}

constexpr const char *scale_source =
    "template <typename T, int N>\n"
    "__global__ void scale(int n, const T *x, T *y) {\n"
    "  if (threadIdx.x < n) y[threadIdx.x] = N * x[threadIdx.x];\n"
    "}\n"
    "__global__ void over(float *x) { x[0] = 1; }\n"
    "__global__ void over(double *x) { x[0] = 2; }\n"
    "extern \"C\" __global__ void plain(float *__restrict__ x) {}\n"
    "__device__ void helper(float *x) {}\n";

TEST_F(CudaCompiler, SourcesAreFoundByDeclarationAndName) {
  KernelFixture fixture("kernel a kernel b kernel c kernel d");
  const cgc::FileId file = fixture.add_file("scale.cu", scale_source);
  fixture.add_source("a",
                     {scalar("n", ScalarType::I32), buffer("x", ScalarType::F32, Mode::In),
                      buffer("y", ScalarType::F32, Mode::Out)},
                     "scale<T, 4>", file);
  fixture.sources.back().types = {{"T", ScalarType::F32}};
  fixture.add_source("b", {buffer("x", ScalarType::F64, Mode::Out)}, "over", file);
  fixture.add_source("c", {buffer("x", ScalarType::F32, Mode::InOut)}, "::over", file);
  fixture.add_source("d", {buffer("x", ScalarType::F32, Mode::InOut)}, "plain", file);
  EXPECT_EQ(errors(fixture), "");
  ASSERT_EQ(fixture.program.images.size(), 2U) << "one unit";
  const std::string ptx = as_text(fixture.program.images[1].bytes);
  // Mangled as the Itanium C++ ABI says.
  const char *symbols[] = {"_Z5scaleIfLi4EEviPKT_PS0_", "_Z4overPd", "_Z4overPf", "plain"};
  for (std::size_t index = 0; index < 4; ++index) {
    EXPECT_EQ(fixture.program.kernels[index].cuda_name(), symbols[index]);
    EXPECT_NE(ptx.find(".entry " + std::string(symbols[index]) + "("), std::string::npos);
  }
}

TEST_F(CudaCompiler, AMismatchedSourceIsAnErrorAtTheKernel) {
  const auto errors_for = [&](const std::string &function, Mode mode) {
    KernelFixture fixture("\n\n kernel k");
    const cgc::FileId file = fixture.add_file("scale.cu", scale_source);
    fixture.add_source("k", {buffer("x", ScalarType::F32, mode)}, function, file);
    std::string text = errors(fixture);
    EXPECT_EQ(text.substr(0, 28), "t.cgraph:3:9: error: NVRTC: ") << text;
    EXPECT_EQ(text.find("scale.cu:"), std::string::npos) << text;
    return text;
  };
  EXPECT_NE(errors_for("plain", Mode::In)
                .find("note: it is declared as void plain(const float *__restrict__ x)"),
            std::string::npos);
  errors_for("over", Mode::In);
  errors_for("scale<float, 4>", Mode::Out);
  EXPECT_NE(errors_for("nothing", Mode::Out).find("\"nothing\" is undefined"), std::string::npos);
  EXPECT_NE(errors_for("helper", Mode::Out).find("non-__global__"), std::string::npos);
}

TEST_F(CudaCompiler, ErrorsInASourceStandAtItsOwnLine) {
  KernelFixture fixture("kernel k");
  fixture.add_source("k", {}, "k", fixture.add_file("a/k.cu", "\n__global__ void k() { oops(); }"));
  EXPECT_EQ(errors(fixture).substr(0, 43), "a/k.cu:2:23: error: NVRTC: identifier \"oops");
}

TEST_F(CudaCompiler, InstancesOfGenericKernelsAreNamedInErrors) {
  KernelFixture fixture("kernel k cuda {\n  x[0] = T(1) << 1;\n}");
  for (const ScalarType type : {ScalarType::I32, ScalarType::F32, ScalarType::F64}) {
    fixture.add("k", {buffer("x", type, Mode::Out)});
    const std::string spelling(cgrt::format::spelling(type));
    fixture.program.kernels.back().name = "k<" + spelling + ">";
    fixture.program.kernels.back().symbol = "k_" + spelling;
    fixture.sources.back().types = {{"T", type}};
  }
  const std::string text = errors(fixture);
  EXPECT_EQ(text.substr(0, 28), "t.cgraph:2:10: error: NVRTC:") << text;
  EXPECT_NE(text.find("note: in kernel k<f32>, k<f64>\n"), std::string::npos) << text;
}

TEST_F(CudaCompiler, BinariesBecomeImagesThatKernelsShare) {
  KernelFixture compiled = saxpy();
  EXPECT_EQ(errors(compiled), "");
  KernelFixture fixture("kernel a kernel b kernel c");
  for (const char *name : {"a", "b", "c"}) {
    cgc::KernelSource &source = fixture.declare(name, {});
    source.kind = cgc::BodyKind::Binary;
    source.cuda_symbol = "saxpy";
    source.binary = compiled.program.images[*name == 'c' ? 1 : 0].bytes;
  }
  EXPECT_EQ(errors(fixture), "");
  ASSERT_EQ(fixture.program.images.size(), 2U);
  EXPECT_EQ(fixture.program.images[0].kind, ImageKind::Cubin);
  EXPECT_EQ(fixture.program.images[0].architecture, "sm_90");
  EXPECT_EQ(fixture.program.images[0].kernels.size(), 2U);
  EXPECT_EQ(fixture.program.images[1].kind, ImageKind::Ptx);
  EXPECT_EQ(fixture.program.images[1].architecture, "compute_90");
  EXPECT_EQ(fixture.program.kernels[0].cuda_name(), "saxpy");
}

TEST_F(CudaCompiler, UnusableBinariesAreErrorsAtTheKernel) {
  const auto errors_for = [](const std::string &binary) {
    KernelFixture fixture("\nkernel k");
    cgc::KernelSource &source = fixture.declare("k", {});
    source.kind = cgc::BodyKind::Binary;
    source.cuda_symbol = "missing";
    const auto *begin = reinterpret_cast<const std::byte *>(binary.data());
    source.binary = {begin, begin + binary.size()};
    Diagnostics diagnostics;
    cgc::compile_kernels(fixture.program, fixture.unit(), options(), diagnostics);
    EXPECT_EQ(diagnostics.all().at(0).id, Diag::UnusableBinary);
    EXPECT_TRUE(fixture.program.images.empty());
    return fixture.printed(diagnostics);
  };
  EXPECT_EQ(errors_for("garbage").substr(0, 75),
            "t.cgraph:2:8: error: the binary of kernel 'k' cannot be used: it is neither");
  EXPECT_NE(errors_for(".version 9.0\n.target sm_90").find("it has no symbol 'missing'"),
            std::string::npos);
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
