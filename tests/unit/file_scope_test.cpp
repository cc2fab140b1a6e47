#include "kernels/file_scope.h"

#include "kernel_fixture.h"

#include <gtest/gtest.h>

namespace {

/// The names of a text's mutable variables, `__shared__` ones with a `!`.
std::string names(std::string_view text) {
  std::string result;
  for (const cgc::FileScopeVariable &variable : cgc::mutable_variables(text)) {
    EXPECT_EQ(text.substr(variable.offset, variable.name.size()), variable.name);
    result += (result.empty() ? "" : " ") + variable.name + (variable.is_shared ? "!" : "");
  }
  return result;
}

TEST(FileScope, FindsMutableVariables) {
  EXPECT_EQ(names("__device__ int a;"), "a");
  EXPECT_EQ(names("__device__ unsigned long long a = 3, b[4], *c;"), "a b c");
  EXPECT_EQ(names("static __managed__ float a{1};"), "a");
  EXPECT_EQ(names("int a(5);"), "a"); // device memory by default
  EXPECT_EQ(names("__device__ std::pair<int, const float> a;"), "a");
  EXPECT_EQ(names("__device__ alignas(16) const float *a;"), "a"); // points elsewhere later
  EXPECT_EQ(names("__device__ float (*a)(float) = f;"), "a");
  EXPECT_EQ(names("struct S { int x; } a;\nenum E : int { P, Q } b;\nstruct { int x; } c;"),
            "a b c");
  EXPECT_EQ(names("namespace n { namespace { __device__ int a; } }\nextern \"C\" { int b; }"),
            "a b");
  EXPECT_EQ(names("struct S { static int a; int b; static int f(int c); };\nint S::a = 1;"), "a a");
  EXPECT_EQ(names("template <typename T, int N = (3 > 2)> __device__ T a;"), "a");
  EXPECT_EQ(names("#define X int x;\n__device__ const int a = 1, *b = &a;"), "b");
}

TEST(FileScope, ConstantsAreFine) {
  EXPECT_EQ(names("__device__ const int a = 1; constexpr float b[] = {1, 2};"), "");
  EXPECT_EQ(names("__constant__ float w[3] = {1, 2, 3}; static const __device__ int c(3);"), "");
  EXPECT_EQ(names("__device__ const float *const a = nullptr; constexpr int b = 1, *c = 0;"), "");
  EXPECT_EQ(names("const int &a = b;"), "");
}

TEST(FileScope, FunctionsAndTypesAreNoVariables) {
  EXPECT_EQ(names("__device__ int f(int x, float *y = nullptr) { int z = 1; static int w; }"), "");
  EXPECT_EQ(names("__device__ int f(int x); template <> __global__ void k<4>(int);"), "");
  EXPECT_EQ(names("__global__ void __launch_bounds__(256, 2) k(float *x) { x[0] = 1; }"), "");
  EXPECT_EQ(names("struct S { int a; __device__ S() : a{1}, b(2) { c = 3; } int b; float c{}; "
                  "bool operator<(S o) const { return a < o.a; } S &operator()(int i); };"),
            "");
  EXPECT_EQ(names("__device__ bool operator==(S a, S b) { return true; }"), "");
  EXPECT_EQ(names("struct S; class T; enum class E : unsigned { A }; enum F : int;"), "");
  EXPECT_EQ(names("using A = int; template <typename T> using B = T *; typedef int C[3];"), "");
  EXPECT_EQ(names("using namespace a; namespace b = c::d; static_assert(1 < 2, \"\");"), "");
  EXPECT_EQ(names("auto f(int x) -> decltype(x) { return x; } S::S() : a{1} {} ~S() {}"), "");
  EXPECT_EQ(names("template class Vector<int>; class X { friend class Y; public: int a; };"), "");
}

TEST(FileScope, CommentsLiteralsAndDirectivesAreNoCode) {
  EXPECT_EQ(names("// int a;\n/* int b; */ #include <x>\nconst char *const s = \"; int c;\";"), "");
  EXPECT_EQ(names("#define D \\\n int d;\nconstexpr char q = ';';"), "");
}

TEST(FileScope, SharedMemoryIsTold) {
  EXPECT_EQ(names("extern __shared__ float s[]; __global__ void k() { __shared__ int t; }"), "s!");
}

TEST(FileScope, AnythingEnds) {
  for (const char *text :
       {"int", "int a", "}", "}}} int a;", "struct S {", "f(", "template <", "a<", "operator",
        "int a = {", "extern \"C\" {", "enum E :", "[", "int (*"}) {
    names(text);
  }
}

TEST(FileScope, StaticVariablesOfFunctionsAreFoundAndConstantsAreNot) {
  const auto names_of = [](std::string_view text, bool inside) {
    std::string all;
    for (const auto &variable : cgc::static_locals(text, inside)) {
      all += (all.empty() ? "" : " ") + variable.name;
    }
    return all;
  };
  EXPECT_EQ(names_of("static int calls = 0; static const int one = 1; static float *p;", true),
            "calls p");
  EXPECT_EQ(names_of("static __shared__ float s[8]; static constexpr int n = 2; // static int c;",
                     true),
            "");
  EXPECT_EQ(names_of("static __device__ int f() { static unsigned long long seen; return 1; }\n"
                     "struct S { static __device__ int g(int a) { return a; } };",
                     false),
            "seen");
}

TEST(FileScope, MutableVariablesOfBlocksAreErrors) {
  cgc::testing::KernelFixture fixture("cuda {\n  __device__ int ok() { return 1; }\n"
                                      "  __device__ int counter;\n}\nkernel k cuda {\n}");
  fixture.add_block("\n  __device__ int ok() { return 1; }\n  __device__ int counter;\n");
  cgc::Diagnostics diagnostics;
  cgc::check_blocks(fixture.unit(), diagnostics);
  ASSERT_EQ(diagnostics.error_count(), 1U);
  EXPECT_EQ(diagnostics.all()[0].id, cgc::Diag::MutableDeviceVariable);
  EXPECT_NE(fixture.printed(diagnostics).find("t.cgraph:3:18: error: 'counter' is a device"),
            std::string::npos)
      << fixture.printed(diagnostics);
}

} // namespace
