#include "kernels/shared_memory.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace cgc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(SharedMemory, LeavesEverythingElseAlone) {
  for (const char *text : {
           "", "int i = threadIdx.x;", "// __shared__ int a;\nint b;",
           "// continued \\\n __shared__ int a;\nint b;", "/* extern __shared__ int a[]; */",
           "const char *s = \"__shared__ int a;\";", "const char *s = \"\\\"__shared__ int a;\";",
           "auto s = R\"x(__shared__ int a;)\" __shared__ int b;)x\";",
           "#define TILE __shared__ float\n", "int my__shared__ = 1'000; char c = '\"';",
           "x = __shared__", // no declaration
       }) {
    EXPECT_EQ(rewrite_shared_memory(text), text);
  }
}

TEST(SharedMemory, DynamicArraysBecomeReferences) {
  EXPECT_THAT(rewrite_shared_memory("extern __shared__ float s[];"),
              StartsWith("float (&s)[ ] = cg_host::dynamic_shared<float [ ]>();"));
  EXPECT_THAT(rewrite_shared_memory("extern __shared__ __align__(16) unsigned char s[];"),
              StartsWith("unsigned char (&s)[ ] = cg_host::dynamic_shared<unsigned char [ ]>();"));
  EXPECT_THAT(rewrite_shared_memory("__shared__ extern volatile int s[][4];"),
              StartsWith("volatile int (&s)[ ] [ 4 ] = "
                         "cg_host::dynamic_shared<volatile int [ ] [ 4 ]>();"));
  EXPECT_THAT(rewrite_shared_memory("extern alignas(8) __shared__ double s[];"),
              StartsWith("double (&s)[ ] = "));
}

TEST(SharedMemory, SeveralNamesAndPointers) {
  const std::string text = rewrite_shared_memory("extern __shared__ int a[], *b[];");
  EXPECT_THAT(text, HasSubstr("int (&a)[ ] = cg_host::dynamic_shared<int [ ]>();"));
  EXPECT_THAT(text, HasSubstr("int *(&b)[ ] = cg_host::dynamic_shared<int *[ ]>();"));
}

std::string begin(const std::string &name) {
  return "cg_host::begin_shared(&" + name + ", sizeof(" + name + "), cg_seen_" + name + ");";
}

TEST(SharedMemory, StaticVariablesAreKeptAndBegun) {
  for (const auto &[declaration, names] :
       std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"__shared__ float tile[16][17];", {"tile"}},
           {"__shared__ int a, *p, b[3];", {"a", "p", "b"}},
           {"__shared__ alignas(16) float4 q[2];", {"q"}},
           {"float __shared__ q[2];", {"q"}},
           {"__shared__ Pair<int, 3>::Type foo[Size<3, 4>::n], bar;", {"foo", "bar"}},
           {"__shared__ struct S { int i, j; float f[3]; } s[4];", {"s"}},
           {"__shared__ float (*pointer)[3];", {"pointer"}},
           {"__shared__ typename Sort::Storage storage;", {"storage"}},
       }) {
    const std::string text = rewrite_shared_memory(declaration);
    EXPECT_THAT(text, StartsWith(declaration));
    std::size_t begun = 0;
    for (const std::string &name : names) {
      EXPECT_THAT(text, HasSubstr(begin(name)));
      ++begun;
    }
    EXPECT_EQ(begun, names.size());
  }
}

TEST(SharedMemory, AStorageClassThatCudaAllowsIsBlankedOut) {
  EXPECT_THAT(rewrite_shared_memory("static __shared__ int a;"),
              StartsWith("       __shared__ int a;"));
  EXPECT_THAT(rewrite_shared_memory("__shared__ static int a;"),
              StartsWith("__shared__        int a;"));
}

TEST(SharedMemory, StatementsAroundADeclarationStay) {
  const std::string text = rewrite_shared_memory(
      "for (;;) { f(); extern __shared__ int a[]; g(a); }\nswitch (x) { case A::b: __shared__ int "
      "c; c = 1; }");
  EXPECT_THAT(text, StartsWith("for (;;) { f(); int (&a)[ ]"));
  EXPECT_THAT(text, HasSubstr(" g(a); }\nswitch (x) { case A::b: __shared__ int c; static"));
  EXPECT_THAT(text, HasSubstr(begin("c") + " c = 1; }"));
}

TEST(SharedMemory, LinesKeepTheirNumbers) {
  const std::string before = "int a;\nextern\n  __shared__ int\n  s[\n];\n#line 7\n"
                             "__shared__\nint t; // end\n__shared__ int u;\n";
  const std::string after = rewrite_shared_memory(before);
  EXPECT_EQ(std::count(after.begin(), after.end(), '\n'),
            std::count(before.begin(), before.end(), '\n'));
  EXPECT_THAT(after, HasSubstr("\n#line 7\n"));
  EXPECT_THAT(after, HasSubstr(" // end\n__shared__ int u;"));
}

TEST(SharedMemory, UnfinishedTextIsNoCrash) {
  for (const char *text : {"__shared__", "extern __shared__ int s[", "__shared__ int (", "\"", "'",
                           "R\"", "R\"(", "/*", "//\\", "#\\", "__shared__ int a = {;",
                           ") __shared__ int a;", "__shared__;", "extern __shared__;"}) {
    EXPECT_THAT(rewrite_shared_memory(text), Not(::testing::IsEmpty())) << text;
  }
}

} // namespace
} // namespace cgc
