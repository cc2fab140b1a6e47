#include "report.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace cgrun {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Report sample() {
  Report report;
  report.device = "cuda:0 a \"GPU\"";
  report.graph = "main";
  report.nodes = 4;
  report.edges = 3;
  report.launches = 1;
  report.times.total = 1234.5;
  report.outputs.push_back({"y",
                            {cgrt::ScalarType::F32, cgrt::MemorySpace::Host, {2, 3}, 24},
                            Statistics{-infinity, infinity, nan},
                            "0123456789abcdef0"});
  report.outputs.push_back(
      {"e", {cgrt::ScalarType::U8, cgrt::MemorySpace::Host, {0}, 0}, {}, "00"});
  return report;
}

std::string printed(void (*print)(llvm::raw_ostream &, const Report &), const Report &report) {
  std::string text;
  llvm::raw_string_ostream out(text);
  print(out, report);
  return out.str();
}

TEST(ReportTest, IsValidJsonWhateverTheValues) {
  EXPECT_EQ(printed(print_json, sample()), R"({
  "device": "cuda:0 a \"GPU\"",
  "graph": "main",
  "nodes": 4,
  "edges": 3,
  "times_us": {"compile": 0, "load": 0, "build": 0, "instantiate": 0, "launch": 0, "total": 1234.5},
  "outputs": {
    "y": {"dtype": "f32", "shape": [2, 3], "min": "-inf", "max": "inf", "mean": "nan", "sha256": "0123456789abcdef0"},
    "e": {"dtype": "u8", "shape": [0], "min": null, "max": null, "mean": null, "sha256": "00"}
  }
}
)");
}

TEST(ReportTest, SaysWhatCheckingEffectsFound) {
  Report report = sample();
  report.outputs.clear();
  EXPECT_EQ(printed(print_table, report).find("effects"), std::string::npos);
  EffectSummary &effects = report.effects.emplace();
  effects.kernels = 1;
  EXPECT_TRUE(printed(print_json, report)
                  .ends_with("\"outputs\": {},\n  \"kernels_checked\": 1,\n  \"faults\": []\n}\n"));
  EXPECT_TRUE(printed(print_table, report).ends_with("\neffects: 1 kernel checked, 0 faults\n"));
  effects.kernels = 2;
  cgrt::EffectFault fault;
  fault.kind = cgrt::EffectFault::Kind::WroteOther;
  fault.kernel = "k";
  fault.buffer = "b";
  fault.element = {1, 2};
  fault.elements = 3;
  fault.message = "\"k\"";
  fault.where = {"f.cgraph", 4, 5};
  effects.faults.push_back(fault);
  EXPECT_TRUE(printed(print_table, report).ends_with("\neffects: 2 kernels checked, 1 fault\n"));
  const std::string json = printed(print_json, report);
  EXPECT_NE(json.find(R"({"kind": "wrote-other", "kernel": "k", "parameter": null, "buffer": "b", )"
                      R"("element": [1, 2], "elements": 3, "file": "f.cgraph", "line": 4, )"
                      R"("column": 5, "message": "\"k\""})"),
            std::string::npos)
      << json;
}

TEST(ReportTest, IsATableForPeople) {
  const std::string table = printed(print_table, sample());
  EXPECT_TRUE(table.starts_with(
      "graph main on cuda:0 a \"GPU\": 4 nodes, 3 edges, 1 launch\n  compile          0.0 us\n"))
      << table;
  EXPECT_NE(table.find("  total           1.23 ms\n"), std::string::npos) << table;
  EXPECT_NE(table.find("  y: f32[2, 3], min -inf, max inf, mean nan, sha256 0123456789abcdef...\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("  e: u8[0], sha256 00...\n"), std::string::npos) << table;
}

} // namespace
} // namespace cgrun
