"""Streams, events, explicit order and callbacks: results in many orders, and the proof of order."""

import re

import harness
import numpy as np


class ExampleTest(harness.ToolTest):
    def test_overlap(self):
        bundle = self.bundle(harness.EXAMPLES / "overlap.cgraph")
        x = np.random.default_rng(1).random((16, 300), dtype=np.float32)
        np.save(self.path("x.npy"), x)
        for seed in harness.SEEDS:
            report = self.cgrun_json(
                bundle, "--set", "n=300", "--in", "hx=x.npy", "--out", "hy=y.npy", "--seed", seed,
                "--repeat", 3,
            )  # fmt: skip
            self.assertEqual(np.load(self.path("y.npy")).tolist(), (x * 2 + 1).tolist())
            self.assertEqual(report["events"]["begun"], 0)
            self.assertGreater(report["events"]["done"], 0)

    def test_priorities(self):
        source = harness.EXAMPLES / "priorities.cgraph"
        for seed in harness.SEEDS:
            self.cgrun(
                source, "--set", "n=100", "--in", "urgent=1", "--in", "background=0", "--out",
                "urgent=u.npy", "--out", "background=b.npy", "--seed", seed,
            )  # fmt: skip
            self.assertTrue((np.load(self.path("u.npy")) == 2 - 0.5**4).all())
            self.assertTrue((np.load(self.path("b.npy")) == 2 - np.float32(0.5**15)).all())
        text = self.run_tool(harness.CGC, source, "--emit=ir", "-o", "-").stdout
        # The expression of the priority is the constant -5, on the first stream alone.
        number = re.search(r"(%\d+) = const int -5\n", text).group(1)
        first = re.findall(r'priority\((%\d+)\).* stream "first"', text)
        self.assertEqual(first, [number] * 4)
        self.assertNotRegex(text, r'priority.* stream "later"')

    def test_callback_progress(self):
        source = self.bundle(harness.EXAMPLES / "callback_progress.cgraph")
        for seed in harness.SEEDS:
            said = self.cgrun(
                source, "--set", "n=64", "--in", "x=8", "--out", "x=x.npy", "--seed", seed,
                "--repeat", 5,
            ).stdout  # fmt: skip
            calls = re.findall(r"progress\(part = \[(\d)\], parts = (\d)\)", said)
            self.assertEqual(calls, [(str(part), "4") for part in (1, 2, 3, 4)] * 5)
            self.assertTrue((np.load(self.path("x.npy")) == 8 * np.float32(0.5) ** 20).all())


class OrderTest(harness.ToolTest):
    def test_the_edges_of_every_example_suffice(self):
        for source in sorted(harness.EXAMPLES.glob("*.cgraph")):
            with self.subTest(source=source.name):
                self.run_tool(harness.CGC, source, "--emit=check", "--verify-order")

    def test_each_edge_that_matters_is_missed(self):
        """Without one of the edges, there is a race unless another way orders the pair."""
        deletions = 0
        for name in ("abc", "saxpy", "pipeline_chunks", "cg"):
            source = harness.EXAMPLES / f"{name}.cgraph"
            text = self.run_tool(harness.CGC, source, "--emit=ir", "-o", "-").stdout
            text = re.sub(r"(?m)^((?:child )?graph .*) \{", r"\1 explicit {", text)
            deletions += self.check_deletions(text)
        self.assertGreater(deletions, 20)

    def check_deletions(self, text):
        lines = text.split("\n")
        deletions = 0
        for at, line in enumerate(lines):
            after = re.search(r" after ([^@]*) @", line)
            edges = after.group(1).split(", ") if after else []
            for edge in edges:
                rest = [other for other in edges if other != edge]
                kept = f" after {', '.join(rest)} @" if rest else " @"
                changed = lines[:at] + [line.replace(after.group(0), kept)] + lines[at + 1 :]
                path = self.write("p.cgir", "\n".join(changed))
                # An edge of data names the buffer; a condition's edge orders no memory.
                if "(" in edge:
                    said = self.run_tool(harness.CGC, path, "--emit=check", status=1).stderr
                    self.assertIn("[race]", said)
                    deletions += 1
        return deletions

    def test_a_loop_in_an_explicit_graph(self):
        source = self.bundle(self.write("p.cgraph", """
          param n: i32; host out r: i32[2]; device i: i32[2];
          kernel add(x: inout i32[1], y: in i32[1]) grid(1) block(1) cuda { x[0] += y[0]; }
          @explicit graph main {
            stream s, t;
            on s {
              fill i <- 0;
              while (i[0] < n) { i[0] = i[0] + 1; add(i[1:2], i[0:1]); }
              copy r <- i;
            }
          }"""))  # fmt: skip
        for seed in harness.SEEDS:
            self.cgrun(source, "--set", "n=10", "--out", "r=r.npy", "--seed", seed)
            self.assertEqual(np.load(self.path("r.npy")).tolist(), [10, 55])

    def test_sync_orders_callbacks(self):
        source = self.bundle(self.write("p.cgraph", """
          callback a(); callback b(); callback c();
          graph main { a(); sync; b(); sync; c(); }"""))  # fmt: skip
        for seed in harness.SEEDS:
            said = self.cgrun(source, "--seed", seed).stdout
            self.assertEqual(re.findall(r"([abc])\(\)", said), ["a", "b", "c"])


if __name__ == "__main__":
    harness.main()
