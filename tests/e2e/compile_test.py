"""Compiling: equal output for equal input, odd spellings of files, graphs for Graphviz, and speed."""

import html
import re
import shutil
import subprocess
import time
import unittest

import harness

SAXPY_LIKE = """
kernel inc(x: inout f32[4]) grid(1) block(4) cuda { x[threadIdx.x] += 1; }
device d: f32[4];
host out y: f32[4];
"""


class SameTest(harness.ToolTest):
    def test_two_builds_are_identical(self):
        """In other processes, and in other folders with the same relative paths."""
        main = """
import std.reduce;
import "lib/parts.cgraph";
kernel first(x: inout f32[4]) grid(1) block(4) source "lib/code.cu";
kernel scale<T: f32, f64>(x: inout T[4]) grid(1) block(4) cuda { x[threadIdx.x] *= 2; }
device a: f32[4]; device b: f64[4]; device c: f32[1];
host out r: f32[1];
def twice(x: inout f32[4]) { parts.p(x); scale(x); }
graph main {
  fill a <- 1; fill b[1:3] <- 2;
  first(a); child twice(a); scale(b); twice(a);
  for i in 0..4 { fill a[i] <- i after L; }
  L: parts.p(a);
  reduce.sum(4, a, c); copy r <- c;
}
graph other { twice(a); }
"""
        products = []
        for folder in ("one", "two/deeper"):
            root = self.folder / folder
            (root / "lib").mkdir(parents=True)
            (root / "main.cgraph").write_text(main.replace("for i in 0..4 { fill a[i] <- i after L; }\n  L: parts.p(a);", "K: parts.p(a);\n  for i in 0..4 { fill b[i] <- i after K; }"))
            (root / "lib/parts.cgraph").write_text(
                "const V = 3;\nkernel p(x: inout f32[4]) grid(1) block(4) cuda { x[threadIdx.x] += V; }\n"
            )
            (root / "lib/code.cu").write_text(
                "__global__ void first(float* __restrict__ x) { x[threadIdx.x] += 1; }\n"
            )
            for _ in range(2):
                built = []
                for kind in ("--emit=dot", "--emit=ir", "--target=host"):
                    done = subprocess.run(
                        [harness.CGC, "main.cgraph", kind, "-o", "out"], cwd=root, capture_output=True
                    )
                    self.assertEqual(done.returncode, 0, done.stderr.decode())
                    built.append((root / "out").read_bytes())
                products.append(built)
        for product in products[1:]:
            self.assertEqual(product, products[0])

    def test_line_ends_and_marks_do_not_matter(self):
        text = SAXPY_LIKE + "graph main {\n  fill d <- 1;\n  inc(d);\n  copy y <- d;\n}\n// end"
        wrong = text.replace("inc(d)", "inc(e)")
        results, errors = set(), set()
        for mark in ("", "\N{ZERO WIDTH NO-BREAK SPACE}"):
            for end in ("\n", "\r\n", "\r"):
                for program in (text, wrong):
                    (self.folder / "p.cgraph").write_bytes((mark + program.replace("\n", end)).encode())
                    status = 0 if program is text else 1
                    done = self.cgrun("p.cgraph", "--out", "y=-", status=status)
                    (results if status == 0 else errors).add(
                        done.stdout if status == 0 else done.stderr
                    )
        self.assertEqual(results, {"# y f32[4]\n2\n2\n2\n2\n"})
        self.assertEqual(len(errors), 1, errors)
        self.assertIn("p.cgraph:7:7: error: 'e' is not declared [undefined]", errors.pop())

    def test_a_lost_argument_is_one_error(self):
        lines = ["graph main {", "  copy y <- ;"] + ["  inc(d);"] * 9 + ["  inc(nowhere);", "}"]
        source = self.write("p.cgraph", SAXPY_LIKE + "\n".join(lines))
        done = self.run_tool(harness.CGC, source, "--emit=check", status=1)
        found = re.findall(r"p\.cgraph:(\d+):\d+: error", done.stderr)
        self.assertEqual(found, ["6", "16"], done.stderr)
        for lost in ("copy y;", "copy y <- d", "copy <- d;", "copy ;"):
            lines[1] = "  " + lost
            self.write("p.cgraph", SAXPY_LIKE + "\n".join(lines))
            done = self.run_tool(harness.CGC, source, "--emit=check", status=1)
            found = re.findall(r"p\.cgraph:(\d+):\d+: error", done.stderr)
            self.assertEqual(found, ["6", "16"], lost + "\n" + done.stderr)


@unittest.skipIf(shutil.which("dot") is None, "Graphviz is not here")
class DotTest(harness.ToolTest):
    NAMES = ['say "hi"', "back\\slash", "{a|b}", "<b>bold</b> & <", "two\nlines", "emoji \U0001f680", "tab\there", "\\l \\N \\G"]

    def test_any_name_is_drawn_as_it_is(self):
        quote = lambda name: '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace(
            "\n", "\\n").replace("\t", "\\t") + '"'  # fmt: skip
        statements = "".join(f"  @name({quote(name)}) inc(d);\n" for name in self.NAMES)
        source = self.write(
            "p.cgraph",
            SAXPY_LIKE + f"def part() {{ inc(d); }}\ngraph main {{\n{statements}"
            f'  @name("in {{|}} \\"<child>\\"") child part();\n}}\n',
        )
        self.run_tool(harness.CGC, source, "--emit=dot", "-o", "p.dot")
        svg = self.run_tool("dot", "-Tsvg", "p.dot")
        self.assertEqual(svg.stderr, "")
        drawn = [html.unescape(it) for it in re.findall(r"<text[^>]*>(.*?)</text>", svg.stdout)]
        drawn = [line.replace("\N{NO-BREAK SPACE}", " ") for line in drawn]
        for name in [*self.NAMES, 'in {|} "<child>"']:
            for line in name.split("\n"):
                wanted = re.sub(r"\s+", " ", line)
                self.assertTrue(
                    any(wanted in re.sub(r"\s+", " ", text) for text in drawn), (wanted, drawn)
                )

    def test_ten_thousand_nodes_are_quick(self):
        source = self.write(
            "p.cgraph", "device d: f32[100, 100];\ngraph main { for i in 0..100 { for j in 0..100 "
            "{ fill d[i, j] <- i; } } }\n",
        )  # fmt: skip
        start = time.monotonic()
        self.run_tool(harness.CGC, source, "--emit=dot", "-o", "p.dot")
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual((self.folder / "p.dot").read_text().count("[label="), 10000)
        self.run_tool("dot", "-Tcanon", "-o", "p.canon", "p.dot")


class SizeTest(harness.ToolTest):
    def check(self, text, seconds, status=0):
        source = self.write("p.cgraph", text)
        start = time.monotonic()
        done = self.run_tool(harness.CGC, source, "--emit=check", status=status)
        self.assertLess(time.monotonic() - start, seconds)
        return done.stderr

    def test_long_conditions_and_sums(self):
        """Chains are flat, and no parser looks at them twice."""
        line = " && ".join(["!x"] * 12)
        text = "const x = 0;\nconst y = " + " ||\n  ".join([line] * 20) + ";\n"
        text += "const s = " + " + ".join(["x"] * 5000) + ";\n"
        self.check(text + "device d: i32[y + s];\ngraph main { fill d <- 0; }\n", 10)

    def test_deep_nesting_is_an_error_at_its_place(self):
        for text, column in (("const x = " + "(" * 100000, 267), ("graph main { " + "{ " * 10000, 524)):
            stderr = self.check(text, 20, status=1)
            self.assertIn(f"p.cgraph:1:{column}: error: brackets nest deeper than 256 levels", stderr)
            self.assertEqual(stderr.count("error:"), 1)

    def test_many_errors_and_warnings_stay_readable(self):
        uses = "".join(f"  fill u{i} <- 0;\n" for i in range(1000))
        stderr = self.check(f"graph main {{\n{uses}}}\n", 20, status=1)
        self.assertEqual(stderr.count("error:"), 50)
        self.assertIn("too many errors: 950 more not shown", stderr)
        loop = "host out y: f32[4];\ngraph main { device t: f32[4]; for i in 0..20000 { copy y <- t; } }"
        stderr = self.check(loop, 60)
        self.assertEqual(stderr.count("warning:"), 1)


if __name__ == "__main__":
    harness.main()
