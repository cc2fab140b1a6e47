"""cgc --emit=header: what it makes compiles, runs, and turns mistakes into errors of the compiler."""

import os
import pathlib
import re

import harness

CXX = os.environ["CGRAPH_CXX"]
FLAGS = os.environ["CGRAPH_CXX_FLAGS"].split()
LIBRARIES = os.environ["CGRAPH_LIBRARIES"].split(";")
INCLUDE = harness.SOURCE / "runtime/include"

PROGRAM = """
param n: i32;
param scale: f32 = 2.0;
param flag: bool = true;
param class: u64 = 1;
host in hx: f32[n]; host out hy: f32[n]; host inout launch: i32[2];
device in dx: f16[n]; device out dy: i64[n]; device out bits: bool[n];
callback told(x: in f32[n], n: i32);
captured work(n: i32, x: in f32[n], y: out f32[n]);
device x, y: f32[n];
kernel fill_y(n: i32, v: i64, y: out i64[n], bits: out bool[n]) grid(1) block(n)
cuda { y[threadIdx.x] = v + threadIdx.x; bits[threadIdx.x] = threadIdx.x % 2; }
kernel times(n: i32, a: f32, flag: bool, x: in f32[n], y: out f32[n]) grid(1) block(n)
cuda { y[threadIdx.x] = flag ? a * x[threadIdx.x] : 0; }
graph main {
  copy x <- hx; times(n, scale, flag, x, y); copy hy <- y; told(hy, n);
  fill_y(n, i64(class), dy, bits);
}
graph other { copy x <- hx; work(n, x, y); copy hy <- y; }
"""

USE = """
#include "two_words.cgraph.h"
#include <cstdio>
int main() {
  TwoWords shared(cgrt::Device::host(), {.n = 4, .class_ = 7});
  TwoWordsMain g(shared);
  TwoWordsOther other(shared);
  int heard = 0;
  g.bind_told([&](std::span<const float> x, std::int32_t n) { heard += n + static_cast<int>(x[3]); });
  other.bind_work_host([](std::int32_t, std::span<const float> x, std::span<float> y) {
    y[2] = x[2] + 100; });
  for (int i = 0; i < 4; ++i) g.hx()[i] = static_cast<float>(i + 1);
  const std::vector<std::uint16_t> halves(4);
  g.dx(halves);
  g.run();
  std::printf("%g %d %lld %d\\n", g.hy()[3], heard, static_cast<long long>(g.dy()[3]), g.bits()[1]);
  g.scale(3); g.flag(true);
  g.run();
  std::printf("%g %g %d %llu\\n", g.hy()[3], g.scale(), g.n(),
              static_cast<unsigned long long>(g.class_()));
  g.flag(false); g.run();
  std::printf("%g %zu\\n", g.hy()[3], g.launch_().size());
  other.run();
  std::printf("%g\\n", other.hy()[2]);
  const std::vector<float> mine = {9, 9, 9, 9};
  g.bind_hx(mine); g.flag(true);
  g.run();
  std::printf("%g\\n", g.hy()[0]);
}
"""

MISTAKES = {
    "an unknown param": "g.nobody(1);",
    "a float for an integer": "g.n(2.5);",
    "a number for a bool": "g.flag(1);",
    "an unknown buffer": "g.hz();",
    "what is read is not written": "g.hy()[0] = 1;",
    "another element type": "std::span<double> x = g.hx();",
    "a float for an integer in the constructor": "TwoWordsMain h(cgrt::Device::host(), {.n = 2.5});",
    "a float for an integer with a default": "TwoWordsMain h(cgrt::Device::host(), {.n = 1, .class_ = 1.0});",
    "a number for a bool in the constructor": "TwoWordsMain h(cgrt::Device::host(), {.n = 1, .flag = 1});",
    "a required param is left out": "TwoWordsMain h(cgrt::Device::host(), {.scale = 1.0F});",
    "no params at all": "TwoWordsMain h(cgrt::Device::host());",
    "a callback of another type": "g.bind_told([](double) {});",
    "memory of another type": "std::vector<int> v(4); g.bind_hx(v);",
    "const memory for what is written": "const std::vector<float> v(4); g.bind_hy(v);",
}


# What docs/embedding.md's snippets stand in.
SURROUNDINGS = """
#include "saxpy.cgraph.h"
#include <numeric>
using cudaStream_t = CUstream_st *;
void snippet([[maybe_unused]] cgrt::Instance &instance, [[maybe_unused]] float *pinned,
             [[maybe_unused]] std::span<float> span, [[maybe_unused]] std::shared_ptr<void> owner,
             [[maybe_unused]] const void *kernel) {
"""


class HeaderTest(harness.ToolTest):
    def compile(self, source, *options, status=0):
        return self.run_tool(
            CXX, *FLAGS, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion",
            "-Wno-sign-conversion", "-Werror", "-I", INCLUDE, source, *options, status=status,
        )  # fmt: skip

    def header(self, source, *options):
        stem = pathlib.Path(source).stem
        self.run_tool(
            harness.CGC, source, "--emit=header", "--target=host", "-o", f"{stem}.cgraph.h", *options
        )
        return f"{stem}.cgraph.h"

    def test_a_class_for_each_graph(self):
        self.header(self.write("two_words.cgraph", PROGRAM))
        self.compile(self.write("main.cpp", USE), *LIBRARIES, "-o", "main")
        said = self.run_tool(self.path("main")).stdout
        self.assertEqual(said, "8 12 10 1\n12 3 4 7\n0 2\n103\n27\n")

    def test_mistakes_do_not_compile(self):
        self.header(self.write("two_words.cgraph", PROGRAM))
        begin = '#include "two_words.cgraph.h"\nvoid use(TwoWordsMain &g) {\n'
        self.compile(self.write("good.cpp", begin + "g.n(2);\n}\n"), "-fsyntax-only")
        for what, text in MISTAKES.items():
            with self.subTest(mistake=what):
                source = self.write("bad.cpp", f"{begin}{text}\n(void)g;\n}}\n")
                said = self.compile(source, "-fsyntax-only", status=1).stderr
                self.assertRegex(said, r"bad.cpp:3:\d+: error|bad.cpp:3:.*required from")

    def test_numbers_that_do_not_fit_are_refused(self):
        self.header(self.write("p.cgraph", "param n: i32; graph main { }"))
        self.compile(self.write("main.cpp", """
          #include "p.cgraph.h"
          #include <cstdio>
          template <typename Call> void tell(Call call) {
            try { call(); } catch (const cgrt::Error &error) { std::puts(error.what()); } }
          int main() {
            constexpr long long large = 1LL << 40;
            PMain g(cgrt::Device::host(), {.n = 1U});
            tell([&] { PMain(cgrt::Device::host(), {.n = large}); });
            tell([&] { g.n(large); });
            std::printf("%d\\n", g.n());
          }"""), *LIBRARIES, "-o", "main")  # fmt: skip
        first, second, n = self.run_tool(self.path("main")).stdout.splitlines()
        self.assertIn("1099511627776", first)
        self.assertIn("1099511627776", second)
        self.assertEqual(n, "1")

    def test_names_that_would_clash_get_other_ones(self):
        """Each of these makes two members or classes of one name, or hides what the header needs."""
        source = self.write("clash.cgraph", """
          param instance_: i32 = 1; param Value: i32 = 2; param CUstream_st: i32 = 3;
          param launch: i32 = 4; param launch_: i32 = 5; param given: i32 = 6;
          param std: i32 = 7; param cgrt: i32 = 8; param ClashMain: i32 = 9; param x: i32 = 10;
          host inout h: i32[4]; host inout bind_h: i32[4]; host in Params: i32[4];
          host inout event_e: i32[4];
          callback work_host(n: i32);
          captured work(n: i32);
          graph main { @external event e; record e; work_host(x); }
          graph params { work(x); } graph a_b { } graph aB { } graph foo_bar { } graph fooBar { }
        """)  # fmt: skip
        text = pathlib.Path(self.path(self.header(source))).read_text()
        classes = re.findall(r"^class (\w+)", text, re.M)
        self.assertEqual(len(set(classes)), 7, classes)
        self.compile(self.write("main.cpp", """
          #include "clash.cgraph.h"
          #include <cstdio>
          int main() {
            ClashMain g(cgrt::Device::host(), {.launch_ = 40, .launch__ = 50});
            std::printf("%d %d %d\\n", g.launch_(), g.launch__(), g.instance__());
          }"""), *LIBRARIES, "-o", "main")  # fmt: skip
        self.assertEqual(self.run_tool(self.path("main")).stdout, "40 50 1\n")

    def test_headers_of_all_examples_compile(self):
        text = ""
        for source in sorted(harness.EXAMPLES.glob("*.cgraph")):
            text += f'#include "{self.header(source)}"\n'
        self.compile(self.write("all.cpp", text), "-fsyntax-only")

    def test_the_snippets_of_the_documentation_compile(self):
        self.header(harness.EXAMPLES / "saxpy.cgraph")
        snippets = harness.blocks(harness.SOURCE / "docs/embedding.md", "cpp")
        self.assertGreaterEqual(len(snippets), 3)
        for number, snippet in enumerate(snippets):
            with self.subTest(snippet=number):
                source = self.write("snippet.cpp", f"{SURROUNDINGS}{snippet.replace('…', '')}}}\n")
                self.compile(source, "-fsyntax-only", "-Wno-unused-parameter")

    def test_the_bundle_inside_is_the_bundle(self):
        source = harness.EXAMPLES / "saxpy.cgraph"
        self.run_tool(harness.CGC, source, "--target=host", "-o", "saxpy.cgb")
        self.header(source)
        self.write("main.cpp", """#include "saxpy.cgraph.h"
          #include <cstdio>
          int main() { std::fwrite(cgrt_generated::SaxpyBundle, 1,
                                   sizeof(cgrt_generated::SaxpyBundle) - 1, stdout); }""")  # fmt: skip
        self.compile("main.cpp", *LIBRARIES, "-o", "main")
        self.run_tool("sh", "-c", "./main > inside && cmp inside saxpy.cgb")

    def test_names_of_files_become_names_of_classes(self):
        for name, expected in (("a-b.c", "ABC"), ("1d", "Graph1d"), ("ok", "Ok")):
            source = self.write(f"{name}.cgraph", "graph main { }")
            text = self.run_tool(harness.CGC, source, "--emit=header").stdout
            self.assertEqual(re.findall(r"^class (\w+)", text, re.M), [expected, f"{expected}Main"])

    def test_two_headers_of_one_program(self):
        source = self.write("p.cgraph", "const N = 4; host out h: i32[N]; device d: i32[N];"
                            "graph main { fill d <- N; copy h <- d; }")  # fmt: skip
        for name, size in (("small", 4), ("large", 64)):
            self.run_tool(
                harness.CGC, source, "-D", f"N={size}", "--emit=header", "--target=host", "-o",
                f"{name}.cgraph.h",
            )  # fmt: skip
        self.write("main.cpp", """
          #include "small.cgraph.h"
          #include "large.cgraph.h"
          #include <cstdio>
          int main() {
            SmallMain s(cgrt::Device::host()); LargeMain l(cgrt::Device::host());
            s.run(); l.run();
            std::printf("%zu %d %zu %d\\n", s.h().size(), s.h()[0], l.h().size(), l.h()[63]);
          }""")  # fmt: skip
        self.compile("main.cpp", *LIBRARIES, "-o", "main")
        self.assertEqual(self.run_tool(self.path("main")).stdout, "4 4 64 64\n")

    def test_an_error_leaves_no_header(self):
        self.write("wrong.cgraph", "graph main { copy x <- y; }")
        self.run_tool(harness.CGC, "wrong.cgraph", "--emit=header", "-o", "wrong.h", status=1)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["wrong.cgraph"])


if __name__ == "__main__":
    harness.main()
