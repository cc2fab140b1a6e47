#include "parse/token_source.h"
#include "unit/text_compilation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cgc {
namespace {

using testing::TextCompilation;

/// The printed syntax tree of one const with this value.
std::string tree_of(const std::string &expression) {
  const TextCompilation compilation("const X = " + expression + ";\ngraph main { }\n");
  return print(compilation.tree());
}

std::string bracketed(const std::string &expression) {
  const std::string tree = tree_of(expression);
  const std::size_t begin = tree.find("= ") + 2;
  return tree.substr(begin, tree.find('\n') - begin);
}

TEST(Parser, PrecedenceIsCs) {
  EXPECT_EQ(bracketed("1 + 2 * 3"), "(1 + (2 * 3))");
  EXPECT_EQ(bracketed("1 - 2 - 3"), "((1 - 2) - 3)");
  EXPECT_EQ(bracketed("1 << 2 + 3"), "(1 << (2 + 3))");
  EXPECT_EQ(bracketed("1 & 2 == 3"), "(1 & (2 == 3))");
  EXPECT_EQ(bracketed("1 | 2 ^ 3 & 4"), "(1 | (2 ^ (3 & 4)))");
  EXPECT_EQ(bracketed("1 || 2 && 3"), "(1 || (2 && 3))");
  EXPECT_EQ(bracketed("1 < 2 == 3 >= 4"), "((1 < 2) == (3 >= 4))");
  EXPECT_EQ(bracketed("-1 + !2 * ~3"), "(-1 + (!2 * ~3))");
  EXPECT_EQ(bracketed("(1 + 2) * 3"), "((1 + 2) * 3)");
  EXPECT_EQ(bracketed("10 % 4 / 2"), "((10 % 4) / 2)");
  EXPECT_EQ(bracketed("1<-1"), "(1 < -1)");
}

TEST(Parser, ConditionalNestsToTheRight) {
  EXPECT_EQ(bracketed("1 ? 2 : 3 ? 4 : 5"), "(1 ? 2 : (3 ? 4 : 5))");
  EXPECT_EQ(bracketed("1 ? 2 ? 3 : 4 : 5"), "(1 ? (2 ? 3 : 4) : 5)");
  EXPECT_EQ(bracketed("1 || 0 ? 2 + 1 : 3"), "((1 || 0) ? (2 + 1) : 3)");
}

TEST(Parser, CallsCastsAndLiterals) {
  EXPECT_EQ(bracketed("max(1, min(2, 3))"), "max(1, min(2, 3))");
  EXPECT_EQ(bracketed("sizeof(f32) + f64(1)"), "(sizeof(f32) + f64(1))");
  EXPECT_EQ(bracketed("0x10 + 0b11 + 1_000"), "((16 + 3) + 1000)");
  EXPECT_EQ(bracketed("true ? inf : nan"), "(true ? inf : nan)");
}

TEST(Parser, ContextualWordsAreNames) {
  const TextCompilation compilation(
      "const max = 2; const grid = 3; const self = max + grid; graph name { }");
  EXPECT_EQ(compilation.errors(), "");
}

TEST(Parser, LongChainsAreFlat) {
  std::string sum = "1";
  std::string conditional = "1";
  constexpr int terms = 100000;
  for (int k = 0; k < terms; ++k) {
    sum += "+1";
    conditional += k % 2 == 0 ? "?1" : ":1";
  }
  const TextCompilation compilation("const X = " + sum + "; const Y = " + conditional +
                                    "; const Z = " + std::string(terms, '-') +
                                    "1; device x: f32[X]; graph main { fill x <- Y; }");
  EXPECT_EQ(compilation.errors(), "");
  const auto &program = compilation.program();
  EXPECT_EQ(program.exprs.known(program.buffers[0].shape[0])->value,
            ast::Value::of(std::int64_t{terms + 1}));
}

TEST(Parser, NestingBeyondTheLimitIsADiagnosticAtItsPlace) {
  const auto nested = [](std::size_t depth) {
    return "const X = " + std::string(depth, '(') + "1" + std::string(depth, ')') +
           ";\ngraph main { }";
  };
  EXPECT_EQ(TextCompilation(nested(max_nesting)).errors(), "");
  const TextCompilation deeper(nested(max_nesting + 1));
  ASSERT_EQ(deeper.diagnostics().error_count(), 1U);
  const Diagnostic &diagnostic = deeper.diagnostics().all()[0];
  EXPECT_EQ(diagnostic.id, Diag::NestingTooDeep);
  EXPECT_EQ(diagnostic.range.begin, std::string("const X = ").size() + max_nesting);
  EXPECT_EQ(TextCompilation(nested(100000)).diagnostics().error_count(), 1U);
  std::string conditionals = "const X = ";
  for (int k = 0; k < 100000; ++k) {
    conditionals += "1 ? ";
  }
  EXPECT_EQ(TextCompilation(conditionals).diagnostics().all()[0].id, Diag::NestingTooDeep);
}

TEST(Parser, OneErrorForEachMistakeAndTheRestIsRead) {
  const TextCompilation compilation(R"(const A = ;
device x: f32[4;
param n i32;
host in h: f32[4];
graph main {
  copy x <- ;
  copy h h;
  fill x <- 1.0;
  fill unknown <- 1.0;
}
)");
  EXPECT_EQ(compilation.errors(), "1: syntax: unexpected ';'\n"
                                  "2: syntax: unexpected ';'; expected ',' or ']'\n"
                                  "3: syntax: unexpected 'i32'; expected ':'\n"
                                  "6: syntax: unexpected ';'; expected a name\n"
                                  "7: syntax: unexpected 'h'; expected '<'\n"
                                  "9: undefined: 'unknown' is not declared\n");
}

/// Words stand apart, so that the test can take them apart.
constexpr std::string_view every_construct = R"(import std . blas1 ;
const N = 4 ;
param a : f32 = 2.0 ;
host in hx : f32 [ N ] ;
device x , y : f32 [ N ] ;
@ mapped host out hy : f32 [ N ] ;
kernel inc ( n : i32 , v : inout f32 [ n ] ) grid ( ceildiv ( n , 32 ) ) block ( 32 )
cuda { v[0]=1; } host { v[0]=1; } ;
kernel mix < T : f32 , f64 > ( p : in T [ 4 ] , q : out T [ 4 ] ) grid ( 1 ) block ( 1 ) cuda { }
cuda { struct S {}; }
def both ( p : inout f32 [ 4 ] , m : i32 ) {
  inc ( m , p ) ;
  fill p [ 0 : 2 ] <- N ? 1 : - 2 ;
}
graph main {
  copy x <- hx ;
  fill y <- a ;
  for i in 0 .. N {
    @ name ( "one" ) inc ( 1 , x [ i ] ) ;
  }
  L : both ( x , 4 ) ;
  inc <<< 1 , ( 2 , 2 ) , 0 >>> ( 4 , y ) ;
  sync ;
  device t : f32 [ 4 ] ;
  child both ( t , 4 ) ;
  blas1 . copy ( 4 , x , t ) ;
  const HALF = 1 / 2 ;
  { fill x [ 1 ] <- HALF after L , L ; }
  while ( x [ 0 ] < a ) max 9 {
    x [ 0 ] = x [ 0 ] + 1 ;
  }
  do {
    inc ( 4 , x ) ;
  } while ( x [ 1 ] > 0 ) max 3 ;
  repeat ( N ) { inc ( 4 , y ) ; }
  if ( x [ 2 ] > 0 ) {
    fill x <- 2 ;
  } else if ( x [ 3 ] > 0 ) {
    fill x <- 3 ;
  } else {
    fill x <- 4 ;
  }
  switch ( i32 ( x [ 0 ] ) ) {
    case 1 , 2 : { fill y <- 0 ; }
    default : { fill y <- 1 ; }
  } after L ;
  copy hy <- t ;
}
graph last { inc ( 4 , x ) ; }
)";

TEST(Parser, AWordTooManyOrTooFewIsOneSyntaxError) {
  const std::string text(every_construct);
  ASSERT_EQ(TextCompilation(text).diagnostics().error_count(), 0U)
      << TextCompilation(text).errors();
  const auto is_space = [](char c) { return c == ' ' || c == '\n'; };
  for (std::size_t begin = 0; begin < text.size();) {
    if (is_space(text[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (!is_space(text[end])) {
      ++end;
    }
    for (const bool twice : {false, true}) {
      std::string changed = text;
      changed.replace(
          begin, end - begin,
          twice ? text.substr(begin, end - begin) + " " + text.substr(begin, end - begin) : "");
      const TextCompilation compilation(changed);
      std::size_t syntax_errors = 0;
      for (const Diagnostic &diagnostic : compilation.diagnostics().all()) {
        syntax_errors += info(diagnostic.id).slug == "syntax" ? 1 : 0;
      }
      EXPECT_LE(syntax_errors, 1U) << (twice ? "twice: " : "missing: ")
                                   << text.substr(begin, end - begin) << " at " << begin << "\n"
                                   << compilation.errors();
    }
    begin = end;
  }
}

TEST(Parser, LineEndsAndByteOrderMarkDoNotMatter) {
  const std::string text = "// first\nconst A = 1; /* two\nlines */\nconst B = C;\n// last";
  const auto with_ends = [&](const std::string &end) {
    std::string result;
    for (const char c : text) {
      result += c == '\n' ? end : std::string(1, c);
    }
    return result;
  };
  const std::string expected = TextCompilation(text).errors();
  EXPECT_EQ(expected.substr(0, 2), "4:");
  EXPECT_EQ(TextCompilation(with_ends("\r\n")).errors(), expected);
  EXPECT_EQ(TextCompilation(with_ends("\r")).errors(), expected);
  EXPECT_EQ(TextCompilation("\xEF\xBB\xBF" + text).errors(), expected);
}

} // namespace
} // namespace cgc
