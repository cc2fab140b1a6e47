#include "kernels/kernel_text.h"

#include "kernel_fixture.h"

#include <gtest/gtest.h>

namespace {

using cgc::testing::buffer;
using cgc::testing::KernelFixture;
using cgc::testing::scalar;
using cgrt::ScalarType;
using cgrt::format::KernelId;
using cgrt::format::Mode;

constexpr std::string_view declaration = "static void body(";

std::string body_of(const KernelFixture &fixture) {
  const cgc::KernelUnit all = fixture.unit();
  return cgc::body_function(cgc::cuda_units(fixture.program, all).front(), KernelId{0},
                            declaration);
}

std::string shared_text_of(const KernelFixture &fixture) {
  const cgc::KernelUnit all = fixture.unit();
  return cgc::shared_text(cgc::cuda_units(fixture.program, all).front());
}

bool uses_type(const KernelFixture &fixture, ScalarType type) {
  const cgc::KernelUnit all = fixture.unit();
  return cgc::uses_type(cgc::cuda_units(fixture.program, all).front(), type);
}

TEST(KernelText, ParametersSayTheirModes) {
  cgrt::format::Kernel kernel{"k",
                              "k",
                              {scalar("n", ScalarType::I64), scalar("flag", ScalarType::Bool),
                               buffer("x", ScalarType::F32, Mode::In),
                               buffer("y", ScalarType::U64, Mode::Out),
                               buffer("z", ScalarType::BF16, Mode::InOut)},
                              {}};
  EXPECT_EQ(cgc::parameter_list(kernel),
            "long long n, bool flag, const float *__restrict__ x, "
            "unsigned long long *__restrict__ y, __nv_bfloat16 *__restrict__ z");
  EXPECT_EQ(cgc::argument_list(kernel), "n, flag, x, y, z");
  EXPECT_EQ(cgc::function_type(kernel),
            "void (*)(long long, bool, const float *, unsigned long long *, __nv_bfloat16 *)");
  kernel.inplace = true;
  EXPECT_EQ(cgc::parameter_list(kernel), "long long n, bool flag, const float *x, "
                                         "unsigned long long *y, __nv_bfloat16 *z");
  EXPECT_EQ(cgc::parameter_list({}), "");
}

TEST(KernelText, EveryTypeHasASpelling) {
  for (std::uint8_t index = 0; index < cgrt::format::scalar_type_count; ++index) {
    EXPECT_FALSE(cgc::cpp_spelling(static_cast<ScalarType>(index)).empty());
  }
  EXPECT_EQ(cgc::cpp_spelling(ScalarType::I8), "signed char");
  EXPECT_EQ(cgc::cpp_spelling(ScalarType::U64), "unsigned long long");
}

TEST(KernelText, BodyKeepsItsLinesAndColumns) {
  KernelFixture fixture("// one\nkernel k(n: i32)\n  cuda { int i = n;\n  int j;\n}\n");
  fixture.add("k", {scalar("n", ScalarType::I32)});
  EXPECT_EQ(body_of(fixture), "namespace cgk_k {\n"
                              "#line 2 \"/t.cgraph\"\n"
                              "static void body(int n) {\n"
                              "#line 3 \"/t.cgraph\"\n"
                              "         int i = n;\n"
                              "  int j;\n"
                              "\n\n"
                              "#line 5 \"/t.cgraph\"\n"
                              "}\n"
                              "}\n");
}

std::string behind_body(const std::string &body) {
  KernelFixture fixture("kernel k cuda {" + body + "\n}");
  fixture.add("k", {});
  const std::string text = body_of(fixture);
  const std::size_t end = text.rfind("#line");
  return text.substr(text.find("}\n", end) + 2);
}

TEST(KernelText, MacrosEndWithTheBodyThatDefinesThem) {
  EXPECT_EQ(behind_body("\n#define A 1\n  #  define B(x) x\n#define A 2\n"),
            "#undef A\n#undef B\n}\n");
  EXPECT_EQ(behind_body("\n// \"\n#define body foo\n"), "#undef body\n}\n");
  EXPECT_EQ(behind_body("int i; /* a */ '\"';\n"), "}\n");
}

TEST(KernelText, MacrosInCommentsAndLiteralsAreNone) {
  EXPECT_EQ(behind_body("\n/*\n#define A\n*/\n"), "}\n");
  EXPECT_EQ(behind_body("\nconst char *s = R\"x(\n#define A\n)x\";\n"), "}\n");
  EXPECT_EQ(behind_body("\nconst char *s = \"\\\"/*\";\n#define B\n"), "#undef B\n}\n");
  EXPECT_EQ(behind_body("\nint x; #define A\n"), "}\n");
}

TEST(KernelText, AliasesOfSmallFloatsOnlyWhereSaid) {
  KernelFixture plain("kernel k cuda { int af16; // f16s\n}");
  plain.add("k", {});
  const std::string without = shared_text_of(plain);
  EXPECT_NE(without.find("using i64 = long long;\n"), std::string::npos);
  EXPECT_EQ(without.find("f16"), std::string::npos);
  EXPECT_EQ(without.find("bool"), std::string::npos);
  EXPECT_FALSE(uses_type(plain, ScalarType::F16));

  KernelFixture body("kernel k cuda { f16 h = 1; __nv_bfloat162 b;\n}");
  body.add("k", {});
  const std::string with = shared_text_of(body);
  EXPECT_NE(with.find("using f16 = __half;\n"), std::string::npos);
  EXPECT_EQ(with.find("bf16"), std::string::npos);
  EXPECT_TRUE(uses_type(body, ScalarType::F16));
  EXPECT_TRUE(uses_type(body, ScalarType::BF16));

  KernelFixture param("kernel k cuda {\n}");
  param.add("k", {buffer("x", ScalarType::BF16, Mode::In)});
  EXPECT_TRUE(uses_type(param, ScalarType::BF16));
  EXPECT_FALSE(uses_type(param, ScalarType::F16));
}

TEST(KernelText, ConstantsAreConstexpr) {
  KernelFixture fixture("kernel k cuda {\n}");
  fixture.add("k", {});
  fixture.scopes.front().constants = {{"TILE", "long long", "16"}, {"eps", "double", "1e-06"}};
  const std::string text = shared_text_of(fixture);
  EXPECT_NE(text.find("constexpr long long TILE = 16;\nconstexpr double eps = 1e-06;\n"),
            std::string::npos);
}

TEST(KernelText, BlocksStandBehindConstantsWithTheirLines) {
  KernelFixture fixture("cuda { int f(); }\n\n  cuda { int g();\n }\nkernel k cuda {\n}");
  fixture.add("k", {});
  fixture.scopes.front().constants = {{"TILE", "int", "16"}};
  fixture.add_block(" int f(); ");
  fixture.add_block(" int g();\n ");
  const std::string text = shared_text_of(fixture);
  EXPECT_NE(text.find("constexpr int TILE = 16;\n"
                      "#line 1 \"/t.cgraph\"\n"
                      "       int f(); \n\n"
                      "#line 1 \"/t.cgraph\"\n"
                      "#line 3 \"/t.cgraph\"\n"
                      "         int g();\n \n\n"
                      "#line 4 \"/t.cgraph\"\n"),
            std::string::npos)
      << text;
}

TEST(KernelText, InstancesOfGenericKernelsKnowTheirTypes) {
  KernelFixture fixture("kernel k cuda {\n}");
  fixture.add("k", {buffer("x", ScalarType::F16, Mode::In)});
  fixture.program.kernels[0].name = "k<f16>";
  fixture.program.kernels[0].symbol = "cg_k_f16";
  fixture.sources[0].types = {{"T", ScalarType::F16}};
  const std::string text = body_of(fixture);
  EXPECT_EQ(text.substr(0, text.find("static")), "namespace cgk_cg_k_f16 {\nusing T = __half;\n"
                                                 "#line 1 \"/t.cgraph\"\n");
  EXPECT_TRUE(uses_type(fixture, ScalarType::F16));

  const cgc::KernelUnit all = fixture.unit();
  cgc::CodeUnit unit = cgc::cuda_units(fixture.program, all).front();
  unit.names_instances = true;
  EXPECT_NE(
      cgc::body_function(unit, KernelId{0}, declaration).find("#line 1 \"/t.cgraph in k<f16>\"\n"),
      std::string::npos);
}

TEST(KernelText, SourcesAreCheckedAgainstTheirDeclaration) {
  KernelFixture fixture("\nkernel k");
  const cgc::FileId file = fixture.add_file("a/k.cu", "text\n");
  fixture.add_source("k", {scalar("n", ScalarType::I32), buffer("x", ScalarType::F32, Mode::In)},
                     "scale<T, 4>", file);
  fixture.sources[0].types = {{"T", ScalarType::F32}};
  const cgc::KernelUnit all = fixture.unit();
  const cgc::CodeUnit unit = cgc::cuda_units(fixture.program, all).front();
  EXPECT_EQ(cgc::source_text(unit), "#line 1 \"/a/k.cu\"\ntext\n\n\n#line 2 \"/a/k.cu\"\n"
                                    "#line 2 \"/t.cgraph\"\n"
                                    "using cgk_k = void (*)(int, const float *); "
                                    "static_assert(sizeof(cgk_k{&scale<float, 4>}) != 0, \"\");\n");
  EXPECT_EQ(cgc::include_folder(unit), "a/");
}

TEST(KernelText, LineNamesAreAbsoluteAndPlain) {
  EXPECT_EQ(cgc::line_name("a/b.cgraph"), "/a/b.cgraph");
  EXPECT_EQ(cgc::line_name("/a/b.cgraph"), "/a/b.cgraph");
  EXPECT_EQ(cgc::line_name("a \"b\\c\n.cgraph"), "/a _b_c_.cgraph");
}

} // namespace
