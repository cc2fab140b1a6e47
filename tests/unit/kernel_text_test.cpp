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

TEST(KernelText, ParametersSayTheirModes) {
  const cgrt::format::Kernel kernel{"k",
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
  EXPECT_EQ(cgc::body_function(fixture.program, KernelId{0}, fixture.unit()),
            "namespace cgk_k {\n"
            "#line 2 \"/t.cgraph\"\n"
            "static __device__ __forceinline__ void body(int n) {\n"
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
  const std::string text = cgc::body_function(fixture.program, KernelId{0}, fixture.unit());
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
  const std::string without = cgc::types_and_constants(plain.unit());
  EXPECT_NE(without.find("using i64 = long long;\n"), std::string::npos);
  EXPECT_EQ(without.find("f16"), std::string::npos);
  EXPECT_EQ(without.find("bool"), std::string::npos);
  EXPECT_FALSE(cgc::uses_type(plain.program, plain.unit(), ScalarType::F16));

  KernelFixture body("kernel k cuda { f16 h = 1; __nv_bfloat162 b;\n}");
  body.add("k", {});
  const std::string with = cgc::types_and_constants(body.unit());
  EXPECT_NE(with.find("using f16 = __half;\n"), std::string::npos);
  EXPECT_EQ(with.find("bf16"), std::string::npos);
  EXPECT_TRUE(cgc::uses_type(body.program, body.unit(), ScalarType::F16));
  EXPECT_TRUE(cgc::uses_type(body.program, body.unit(), ScalarType::BF16));

  KernelFixture param("kernel k cuda {\n}");
  param.add("k", {buffer("x", ScalarType::BF16, Mode::In)});
  EXPECT_TRUE(cgc::uses_type(param.program, param.unit(), ScalarType::BF16));
  EXPECT_FALSE(cgc::uses_type(param.program, param.unit(), ScalarType::F16));
}

TEST(KernelText, ConstantsAreConstexpr) {
  KernelFixture fixture("kernel k cuda {\n}");
  fixture.add("k", {});
  fixture.scopes.front().constants = {{"TILE", "long long", "16"}, {"eps", "double", "1e-06"}};
  const std::string text = cgc::types_and_constants(fixture.unit());
  EXPECT_NE(text.find("constexpr long long TILE = 16;\nconstexpr double eps = 1e-06;\n"),
            std::string::npos);
}

TEST(KernelText, LineNamesAreAbsoluteAndPlain) {
  EXPECT_EQ(cgc::line_name("a/b.cgraph"), "/a/b.cgraph");
  EXPECT_EQ(cgc::line_name("/a/b.cgraph"), "/a/b.cgraph");
  EXPECT_EQ(cgc::line_name("a \"b\\c\n.cgraph"), "/a _b_c_.cgraph");
}

} // namespace
