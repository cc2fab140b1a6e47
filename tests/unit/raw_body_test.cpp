#include "parse/token_source.h"

#include <gtest/gtest.h>

namespace cgc {
namespace {

/// The text is one body followed by "|".
void expect_body(std::string_view text) {
  const auto end = matching_brace(text, 0);
  ASSERT_TRUE(end) << text;
  EXPECT_EQ(text.substr(*end), "|") << text;
}

TEST(RawBody, BracesThatDoNotCount) {
  expect_body("{}|");
  expect_body("{ if (a) { b; } }|");
  expect_body("{ char c = '}'; }|");
  expect_body("{ char c = '\\''; char d = '{'; }|");
  expect_body("{ const char *s = \"}\\\"}\"; }|");
  expect_body("{ // }\n }|");
  expect_body("{ // } \\\n }\n }|");
  expect_body("{ /* } */ }|");
  expect_body("{ int x = 1'000'000; }|");
  expect_body("{ int x = 0xFF'FF; char c = '}'; }|");
  expect_body("{ auto s = R\"x(} )\" )x\"; }|");
  expect_body("{ auto s = u8R\"(})\"; }|");
  expect_body("{ auto s = L\"}\"; auto c = u'}'; }|");
  expect_body("{ int R = 0; { R = 1; } }|");
}

TEST(RawBody, WithoutAnEnd) {
  EXPECT_FALSE(matching_brace("{ ", 0));
  EXPECT_FALSE(matching_brace("{ \"}", 0));
  EXPECT_FALSE(matching_brace("{ /* }", 0));
  EXPECT_FALSE(matching_brace("{ R\"a( }", 0));
  EXPECT_FALSE(matching_brace("{ R\" }", 0));
  EXPECT_FALSE(matching_brace("{ '\\", 0));
}

} // namespace
} // namespace cgc
