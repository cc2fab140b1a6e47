#include "kernels/compiler_log.h"

#include "kernel_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using cgc::Diag;
using cgc::Diagnostics;
using cgc::testing::KernelFixture;

/// Two kernels: names in lines 1 and 6, bodies in lines 2 to 5 and 7 to 9.
class CompilerLog : public ::testing::Test {
protected:
  CompilerLog()
      : fixture_("kernel first(n: i32)\n"
                 "cuda {\n"
                 "  int i = oops(n);\n"
                 "\tx[i] = nope;\n"
                 "}\n"
                 "kernel second()\n"
                 "cuda {\n"
                 "  y[0] = 1; z[0] = 2;\n"
                 "}\n") {
    fixture_.add("first", {});
    fixture_.add("second", {});
  }

  /// The diagnostics of a log, as "line:column text" and "  note text" lines.
  std::string report(std::string_view log) {
    const cgc::KernelUnit all = fixture_.unit();
    cgc::CodeUnit unit = cgc::cuda_units(fixture_.program, all).front();
    unit.names_instances = names_instances_;
    return report(log, unit);
  }

  std::string report(std::string_view log, const cgc::CodeUnit &unit, std::string_view hint = {}) {
    Diagnostics diagnostics;
    cgc::report_compiler_log(log, "NVRTC", unit, diagnostics, hint);
    std::string text;
    for (const cgc::Diagnostic &diagnostic : diagnostics.all()) {
      EXPECT_EQ(diagnostic.id, Diag::KernelCompileFailed);
      text += place(diagnostic.range) + " " + diagnostic.message + "\n";
      for (const cgc::Note &note : diagnostic.notes) {
        text += "  " + place(note.range) + " " + note.message + "\n";
      }
    }
    return text;
  }

  std::string place(const cgc::SourceRange &range) const {
    if (!range.valid()) {
      return "-";
    }
    const cgc::Place found = fixture_.files().place(range);
    return std::to_string(found.line) + ":" + std::to_string(found.column) + "+" +
           std::to_string(range.end - range.begin);
  }

  KernelFixture fixture_;
  bool names_instances_ = false;
};

TEST_F(CompilerLog, NvrtcErrorsComeWithTheirColumns) {
  EXPECT_EQ(report("/t.cgraph(3): error: identifier \"oops\" is undefined\n"
                   "    int i = oops(n);\n"
                   "            ^\n"
                   "\n"
                   "/t.cgraph(4): error: identifier \"nope\" is undefined\n"
                   "  \tx[i] = nope;\n"
                   "  \t       ^\n"
                   "\n"
                   "2 errors detected in the compilation of \"cgraph\".\n"),
            "3:11+4 NVRTC: identifier \"oops\" is undefined\n"
            "4:9+4 NVRTC: identifier \"nope\" is undefined\n");
}

TEST_F(CompilerLog, TwoErrorsInOneLineStayTwo) {
  EXPECT_EQ(report("/t.cgraph(8): error: identifier \"y\" is undefined\n"
                   "    y[0] = 1; z[0] = 2;\n"
                   "    ^\n"
                   "\n"
                   "/t.cgraph(8): error #20: identifier \"z\" is undefined\n"
                   "    y[0] = 1; z[0] = 2;\n"
                   "              ^\n"),
            "8:3+1 NVRTC: identifier \"y\" is undefined\n"
            "8:13+1 NVRTC: identifier \"z\" is undefined\n");
}

TEST_F(CompilerLog, FurtherLinesAndNotesOfAnErrorAreKept) {
  EXPECT_EQ(report("/t.cgraph(3): error: no instance of \"oops\" matches\n"
                   "            argument types are: (int)\n"
                   "    int i = oops(n);\n"
                   "            ^\n"
                   "Note #3326-D: function \"oops(float *)\" does not match\n"
                   "/t.cgraph(8): note #3196-D: declared here\n"
                   "header.h(7): note: and here\n"),
            "3:11+4 NVRTC: no instance of \"oops\" matches; argument types are: (int)\n"
            "  - function \"oops(float *)\" does not match\n"
            "  8:3+19 declared here\n"
            "  - header.h:7: and here\n");
}

TEST_F(CompilerLog, LongListsOfNotesAreCut) {
  std::string log = "/t.cgraph(3): error: ambiguous\n";
  for (int note = 0; note < 10; ++note) {
    log += "Note #1-D: candidate " + std::to_string(note) + "\n";
  }
  const std::string text = report(log);
  EXPECT_NE(text.find("candidate 3\n"), std::string::npos);
  EXPECT_EQ(text.find("candidate 4\n"), std::string::npos);
  EXPECT_NE(text.find("  - 6 more notes\n"), std::string::npos);
}

TEST_F(CompilerLog, WarningsAndTheirNotesAreNoErrors) {
  EXPECT_EQ(report("/t.cgraph(3): warning #177-D: variable \"i\" was declared but never used\n"
                   "/t.cgraph(3): note: of the warning\n"
                   "/t.cgraph(4): error: real\n"),
            "4:2+12 NVRTC: real\n");
}

TEST_F(CompilerLog, GccErrorsComeWithTheirColumns) {
  EXPECT_EQ(report("/t.cgraph: In function 'void cgk_first::body(int)':\n"
                   "/t.cgraph:3:11: error: 'oops' was not declared in this scope\n"
                   "    3 |   int i = oops(n);\n"
                   "      |           ^~~~\n"
                   "/t.cgraph:3:11: note: suggested alternative: 'loops'\n"
                   "/t.cgraph:4:16: error: 'nope' was not declared in this scope\n"
                   "    4 |         x[i] = nope;\n"
                   "      |                ^~~~\n"),
            "3:11+4 NVRTC: 'oops' was not declared in this scope\n"
            "  3:11+4 suggested alternative: 'loops'\n"
            "4:2+12 NVRTC: 'nope' was not declared in this scope\n"); // a tab: column unknown
}

TEST_F(CompilerLog, ClangErrorsComeWithTheirColumns) {
  EXPECT_EQ(report("/t.cgraph:3:11: error: use of undeclared identifier 'oops'\n"
                   "  int i = oops(n);\n"
                   "          ^\n"
                   "1 error generated.\n"),
            "3:11+4 NVRTC: use of undeclared identifier 'oops'\n");
}

TEST_F(CompilerLog, FatalErrorsCount) {
  EXPECT_EQ(report("/t.cgraph:3:11: fatal error: no.h: No such file or directory\n"
                   "compilation terminated.\n"),
            "3:11+4 NVRTC: no.h: No such file or directory\n");
  EXPECT_EQ(report("/t.cgraph(8): catastrophic error: cannot open source file \"no.h\"\n"
                   "  #include \"no.h\"\n"
                   "                 ^\n\n"),
            "8:3+19 NVRTC: cannot open source file \"no.h\"\n");
}

TEST_F(CompilerLog, ErrorsAroundABodyBelongToItsKernel) {
  EXPECT_EQ(report("/t.cgraph(6): error: invalid combination of type specifiers\n"
                   "  static __device__ __forceinline__ void body(int int) {\n"
                   "                                                  ^\n\n"
                   "/t.cgraph(6): error: invalid combination of type specifiers\n"
                   "  extern \"C\" __global__ void second(int int) { cgk_second::body(int); }\n"
                   "                                        ^\n\n"
                   "/t.cgraph(6): error: identifier \"n\" is undefined\n"),
            "6:8+6 NVRTC: invalid combination of type specifiers\n"
            "  - identifier \"n\" is undefined\n");
}

TEST_F(CompilerLog, PtxasErrorsBelongToTheKernelTheyName) {
  EXPECT_EQ(report("ptxas error   : Entry function 'second' uses too much shared data (0x3a980 "
                   "bytes, 0xc000 max)\n"),
            "6:8+6 NVRTC: ptxas: Entry function 'second' uses too much shared data (0x3a980 bytes, "
            "0xc000 max)\n");
  EXPECT_EQ(report("ptxas application ptx input, line 31; error   : Not a name of any known "
                   "instruction: 'bogus'\nptxas fatal   : Ptx assembly aborted due to errors\n"),
            "1:8+5 NVRTC: ptxas: Not a name of any known instruction: 'bogus'\n"
            "  - ptxas: Ptx assembly aborted due to errors\n");
}

TEST_F(CompilerLog, ErrorsWithoutAPlaceGoWithOneThatHasIt) {
  EXPECT_EQ(report("At end of source: error: expected a \"}\"\n"
                   "/t.cgraph(3): error: the #endif for this directive is missing\n"
                   "At end of source: error: expected a \"}\"\n"),
            "3:3+16 NVRTC: the #endif for this directive is missing\n"
            "  - expected a \"}\"\n");
}

TEST_F(CompilerLog, ErrorsInOtherFilesNameThem) {
  EXPECT_EQ(report("/usr/include/x.h:12:3: error: bad\n"),
            "1:8+5 NVRTC: /usr/include/x.h:12: bad\n");
}

TEST_F(CompilerLog, ErrorsInMacrosOfOursBelongToTheirUse) {
  EXPECT_EQ(report("<stdin>:100:13: error: static assertion failed: no\n"
                   "  100 | #define asm static_assert(false, \"no\")\n"
                   "      |             ^~~~~~~~~~~~~\n"
                   "/t.cgraph:3:11: note: in expansion of macro 'asm'\n"
                   "    3 |   int i = oops(n);\n"),
            "3:11+4 NVRTC: static assertion failed: no\n");
}

TEST_F(CompilerLog, SomethingIsReportedWhateverTheLogHolds) {
  EXPECT_EQ(report(""), "1:8+5 NVRTC: it failed and said nothing\n");
  EXPECT_EQ(report("\n  Segmentation fault\n"), "1:8+5 NVRTC: Segmentation fault\n");
  EXPECT_EQ(report("nvrtc: error: invalid value for --gpu-architecture (-arch)\n"),
            "1:8+5 NVRTC: invalid value for --gpu-architecture (-arch)\n");
}

TEST_F(CompilerLog, InstancesOfGenericKernelsAreNamed) {
  fixture_.program.kernels[0].name = "first<f32>";
  fixture_.program.kernels[1] = {"first<f64>", "first_f64", {}, {}};
  fixture_.sources[1] = fixture_.sources[0];
  names_instances_ = true;
  EXPECT_EQ(report("/t.cgraph in first<f32>(3): error: bad\n"
                   "/t.cgraph in first<f64>(3): error: bad\n"
                   "/t.cgraph in first<f64>(4): error: worse\n"
                   "/t.cgraph in first<f64>(1): error: parameters\n"),
            "3:3+16 NVRTC: bad\n"
            "  - in kernel first<f32>, first<f64>\n"
            "4:2+12 NVRTC: worse\n"
            "  - in kernel first<f64>\n"
            "1:8+5 NVRTC: parameters\n"
            "  - in kernel first<f64>\n");
}

TEST_F(CompilerLog, SourceFilesHaveTheirOwnLines) {
  const cgc::FileId file = fixture_.add_file("k.cu", "void f();\n  wrong here\n");
  for (cgc::KernelSource &source : fixture_.sources) {
    source.kind = cgc::BodyKind::Source;
    source.body = fixture_.whole(file);
    source.cuda_symbol = &source == fixture_.sources.data() ? "f" : "g<int>";
  }
  const cgc::KernelUnit all = fixture_.unit();
  const cgc::CodeUnit unit = cgc::cuda_units(fixture_.program, all).front();
  EXPECT_EQ(report("/k.cu(2): error: syntax\n    wrong here\n    ^\n\n", unit),
            "2:3+5 NVRTC: syntax\n");
  EXPECT_EQ(report("/t.cgraph(1): error: other type\n"
                   "__nv_name_map(3): error: no __global__ function. Input was: \" &g<int>\"\n",
                   unit),
            "1:8+5 NVRTC: other type\n"
            "  - it is declared as void f()\n"
            "6:8+6 NVRTC: no __global__ function. Input was: \" &g<int>\"\n"
            "  - it is declared as void g<int>()\n");
}

TEST_F(CompilerLog, AHintGoesWithEachError) {
  const cgc::KernelUnit all = fixture_.unit();
  EXPECT_EQ(report("/t.cgraph(3): error: a\n/t.cgraph(4): error: b\n",
                   cgc::cuda_units(fixture_.program, all).front(), "use paper"),
            "3:3+16 NVRTC: a\n  - use paper\n4:2+12 NVRTC: b\n  - use paper\n");
}

TEST_F(CompilerLog, SourceLinesThatLookLikeErrorsAreNone) {
  EXPECT_EQ(report("/t.cgraph:3:11: error: real\n"
                   "printf(\"x: error: not real\");\n"),
            "3:11+4 NVRTC: real\n");
}

TEST_F(CompilerLog, LinesBeyondTheFileAreItsLast) {
  EXPECT_EQ(report("/t.cgraph(900): error: far\n").substr(0, 5), "10:1+");
}

} // namespace
