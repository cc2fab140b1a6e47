#include "kernels/code_unit.h"

#include <gtest/gtest.h>

namespace {

using cgc::BodyKind;
using cgc::CodeUnit;
using cgc::KernelSource;

/// Kernels without text: what units depend on is who shares what.
class CodeUnits : public ::testing::Test {
protected:
  KernelSource &add(std::uint32_t scope, BodyKind kind = BodyKind::Cuda, std::uint32_t file = 0) {
    KernelSource &source = sources_.emplace_back();
    source.scope = scope;
    source.kind = kind;
    source.body.range.file = {file};
    return source;
  }

  /// "B0 1|S2": a letter for the kind, then the kernels.
  static std::string text(const std::vector<CodeUnit> &units) {
    std::string result;
    for (const CodeUnit &unit : units) {
      result += result.empty() ? "" : "|";
      result += std::string("BSH").substr(static_cast<std::size_t>(unit.kind), 1);
      for (const cgrt::format::KernelId kernel : unit.kernels) {
        result += (kernel == unit.kernels.front() ? "" : " ") + std::to_string(kernel.index);
      }
    }
    return result;
  }
  std::string cuda() { return text(cgc::cuda_units(program_, {files_, scopes_, sources_})); }
  std::string host() { return text(cgc::host_units(program_, {files_, scopes_, sources_})); }

private:
  cgrt::format::Program program_;
  cgc::SourceFiles files_;
  std::vector<cgc::CodeScope> scopes_{3};
  std::vector<KernelSource> sources_;
};

TEST_F(CodeUnits, ScopesAreApart) {
  for (const std::uint32_t scope : {0U, 1U, 0U, 2U, 1U}) {
    add(scope);
  }
  EXPECT_EQ(cuda(), "B0 2|B1 4|B3");
  EXPECT_EQ(host(), "B0 2|B1 4|B3");
}

TEST_F(CodeUnits, HoldTenKernelsAtMostAndShareEvenly) {
  for (int kernel = 0; kernel < 10; ++kernel) {
    add(0);
  }
  EXPECT_EQ(cuda(), "B0 1 2 3 4 5 6 7 8 9");
  add(0);
  EXPECT_EQ(cuda(), "B0 1 2 3 4|B5 6 7 8 9 10");
}

TEST_F(CodeUnits, ACuFileIsOneForAllScopes) {
  add(0, BodyKind::Source, 7);
  add(0, BodyKind::Source, 8);
  add(1, BodyKind::Source, 7);
  for (int kernel = 0; kernel < 9; ++kernel) {
    add(2, BodyKind::Source, 8);
  }
  EXPECT_EQ(cuda(), "S0 2|S1 3 4 5 6 7 8 9 10 11");
}

TEST_F(CodeUnits, ExternalKernelsAreInUnitsForTheHostAlone) {
  add(0);
  add(0, BodyKind::External);
  add(0, BodyKind::External).host.emplace();
  EXPECT_EQ(cuda(), "B0");
  EXPECT_EQ(host(), "B0|H2");
}

TEST_F(CodeUnits, BinariesNeedNoCompilerAndHostBodiesGoFirstOnTheHost) {
  add(0);
  add(0, BodyKind::Binary);
  add(0, BodyKind::Binary).host.emplace();
  add(0).host.emplace();
  add(0, BodyKind::Source, 1).host.emplace();
  EXPECT_EQ(cuda(), "B0 3|S4");
  EXPECT_EQ(host(), "B0|H2 3 4");
}

} // namespace
