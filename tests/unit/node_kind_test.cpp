#include "format/node_kind.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace cgrt::format {
namespace {

TEST(NodeKind, SpellingsRoundTrip) {
  for (const NodeKindInfo &kind : node_kinds()) {
    EXPECT_EQ(parse_node_kind(kind.spelling), kind.kind);
    EXPECT_EQ(&info(kind.kind), &kind);
    EXPECT_FALSE(kind.fields.empty()) << kind.spelling;
    EXPECT_NE(kind.legal_in & TopLevel, 0) << kind.spelling;
  }
  EXPECT_FALSE(parse_node_kind("nothing"));
}

TEST(NodeKind, TheDocumentedTableIsTheTable) {
  std::ifstream file(CGRAPH_SOURCE_DIR "/docs/node-kinds.md");
  if (!file) {
    GTEST_SKIP() << "the source tree is not on this machine";
  }
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(node_kinds_markdown()), std::string::npos)
      << "docs/node-kinds.md should hold:\n"
      << node_kinds_markdown();
}

} // namespace
} // namespace cgrt::format
