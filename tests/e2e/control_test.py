"""What control flow on the device computes: random programs against Python, and each rule alone."""

import itertools
import os
import signal
import subprocess
import time

import harness
import numpy as np
import random_control

PROGRAMS = 40 if harness.DEVICE == "host" else 12
SEEDS = range(3)
TYPES = {
    "bool": ["true"], "i8": ["1", "-128"], "u8": ["255"], "i16": ["-32768"], "u16": ["65535"],
    "i32": ["-1"], "u32": ["4294967295"], "i64": ["1 << 40", "-(1 << 40)"],
    "u64": ["18446744073709551615", "1 << 32"], "f16": ["0.0001", "inf"], "bf16": ["-1e-30"],
    "f32": ["1e-45", "nan"], "f64": ["5e-324", "-inf"],
}  # fmt: skip


class ControlTest(harness.ToolTest):
    def values(self, source, *options, name="r", status=0):
        """The elements of an `out` buffer."""
        self.cgrun(source, "--out", f"{name}=out.npy", *options, status=status)
        return np.load(self.path("out.npy")).tolist()

    def check(self, text, expected, *options, seeds=SEEDS):
        """Whether the program leaves this in `r`, in whatever order independent nodes run."""
        source = self.bundle(self.write("p.cgraph", text))
        for seed in seeds:
            self.assertEqual(self.values(source, "--seed", seed, *options), expected)


class RandomProgramTest(ControlTest):
    def test_random_programs(self):
        for number in range(PROGRAMS):
            program = random_control.Program(number)
            source = self.bundle(self.write("p.cgraph", program.text))
            for seed, p in itertools.product(SEEDS, (0, 3)):
                with self.subTest(program=number, seed=seed, p=p):
                    self.cgrun(
                        source, "--seed", seed, "--set", f"p={p}",
                        "--out", "rv=v.npy", "--out", "rw=w.npy", "--repeat", 1 + seed,
                    )  # fmt: skip
                    v, w = program.results(p=p)
                    self.assertEqual(np.load(self.path("v.npy")).tolist(), v, program.text)
                    self.assertEqual(np.load(self.path("w.npy")).tolist(), w, program.text)

    def test_a_deeper_one(self):
        program = random_control.Program(1000, size=6, depth=9)
        self.cgrun(self.write("p.cgraph", program.text), "--out", "rv=v.npy")
        self.assertEqual(np.load(self.path("v.npy")).tolist(), program.results()[0])


class BranchTest(ControlTest):
    def test_every_type_is_true_when_it_is_not_0(self):
        checks, expected = [], []
        for at, (type_, value) in enumerate((t, v) for t in TYPES for v in ["0", *TYPES[t]]):
            stored = "false" if type_ == "bool" and value == "0" else value
            checks.append(
                f"device x{at}: {type_}[1]; fill x{at} <- {stored}; t[{at}] = -1;"
                f"if (x{at}[0]) {{ t[{at}] = 1; }} else {{ t[{at}] = 0; }}"
            )
            expected.append(int(value != "0"))
        text = f"host out r: i32[{len(checks)}]; device t: i32[{len(checks)}];\n"
        self.check(text + "graph main {\n" + "\n".join(checks) + "\ncopy r <- t; }", expected)

    def test_many_branches_in_a_row(self):
        for count in (16, 17, 20, 64):
            statements = "if (p[0]) { x[0] = x[0] * 2; } else { x[0] = x[0] + 1; }\n" * count
            for chosen in (0, 1):
                expected = 1
                for _ in range(count):
                    expected = expected * 2 if chosen else expected + 1
                self.check(
                    "host in hp: i32[1]; host out r: u64[1]; device p: i32[1]; device x: u64[1];\n"
                    f"graph main {{ copy p <- hp; x[0] = 1; {statements} copy r <- x; }}",
                    [expected % 2**64], "--in", f"hp={chosen}",
                )  # fmt: skip

    def test_a_chain_of_many_branches(self):
        chain = " else ".join(f"if (x[0] == {i}) {{ y[0] = {i * i}; }}" for i in range(300))
        self.check(
            "param n: i32 = 1; host out r: i32[1]; device x, y: i32[1];\n"
            f"graph main {{ x[0] = n; {chain} else {{ y[0] = -1; }} copy r <- y; }}",
            [299 * 299], "--set", "n=299",
        )  # fmt: skip

    def test_later_conditions_are_not_looked_at(self):
        """Their index would be out of range."""
        self.check(
            """
host out r: i32[4];
device x, y: i32[4];
graph main {
  fill x <- 9;
  if (x[0] == 9) { y[0] = 1; } else if (x[x[0]] == 0) { y[0] = 2; }
  y[1] = x[0] < 4 && x[x[0]] == 0;
  y[2] = x[0] >= 4 || x[x[0]] == 0;
  y[3] = x[0] < 4 ? x[x[0]] : 7;
  copy r <- y;
}""",
            [1, 0, 1, 7],
        )

    def test_memory_of_a_body(self):
        self.check(
            """
kernel twice(x: in f32[4], y: out f32[4]) grid(1) block(4)
cuda { y[threadIdx.x] = 2 * x[threadIdx.x]; }
host in hx: f32[4]; host out r: f32[4]; device x: f32[4];
graph main {
  copy x <- hx;
  if (x[1] > 0) { device t: f32[4]; twice(x, t); copy x <- t; }
  copy r <- x;
}""",
            [0, 2, 4, 6], "--in", "hx=iota",
        )  # fmt: skip

    def test_conditions_of_consts_leave_no_nodes(self):
        text = """
const A = 3;
host out r: i32[6]; device x: i32[6];
graph main {
  fill x <- 0;
  if (A > 2) { x[0] = 1; } else { x[0] = 2; }
  if (A > 3) { x[1] = 1; } else if (A == 3) { x[1] = 2; } else { x[1] = 3; }
  while (A < 3) { x[2] = 1; }
  do { x[3] = x[3] + 1; } while (false);
  switch (A) { case 1: { x[4] = 1; } default: { x[4] = 2; } case 3: { x[4] = 3; } }
  repeat (0) { x[5] = 1; }
  copy r <- x;
}"""
        dot = self.run_tool(harness.CGC, self.write("p.cgraph", text), "--emit=dot").stdout
        self.assertNotIn("cluster", dot)
        self.check(text, [1, 2, 0, 1, 3, 0])

    def test_switch_of_wide_values(self):
        values = {-(2**63): 1, -1: 2, 0: 3, 2**32: 4, 2**63 - 1: 5, 5: 0}
        for type_, given in (("i64", values), ("u64", {2**64 - 1: 6, 2**63: 7, 0: 3, 2**32: 4})):
            for value, case in given.items():
                self.check(
                    f"""
host in hx: {type_}[1]; host out r: i32[1]; device x: {type_}[1]; device y: i32[1];
graph main {{
  copy x <- hx;
  y[0] = 0;
  switch (x[0]) {{
    case 4294967296: {{ y[0] = 4; }}
    case -9223372036854775807 - 1: {{ y[0] = 1; }}
    case -1: {{ y[0] = 2; }}
    case 18446744073709551615: {{ y[0] = 6; }}
    case 9223372036854775807: {{ y[0] = 5; }}
    case 9223372036854775808: {{ y[0] = 7; }}
    case 0: {{ y[0] = 3; }}
  }}
  copy r <- y;
}}""",
                    [case], "--in", f"hx={value}", seeds=[0],
                )  # fmt: skip

    def test_a_switch_of_many_cases(self):
        cases = "".join(f"case {7 * i}, {7 * i + 3}: {{ y[0] = {i}; }}\n" for i in range(300))
        for value, expected in ((0, 0), (7 * 299 + 3, 299), (8, -1), (7 * 300, -1)):
            self.check(
                "param n: i32; host out r: i32[1]; device x, y: i32[1];\n"
                f"graph main {{ x[0] = n; y[0] = -1; switch (x[0]) {{ {cases} }} copy r <- y; }}",
                [expected], "--set", f"n={value}", seeds=[0],
            )  # fmt: skip

    def test_nesting_to_the_limit(self):
        """With the braces of the graph 256 levels of brackets, of all kinds in turns."""
        heads = [
            ("if (x[0] >= 0) {", "}"),
            ("repeat (1) {", "}"),
            ("switch (x[1]) { default: {", "} }"),
            ("do {", "} while (x[1] > 0);"),
            ("while (x[2] == 0) {", "}"),
        ]
        opened, closed, depth = [], [], 0
        for head, end in itertools.cycle(heads):
            depth += head.count("{")
            if depth > 250:
                break
            opened.append(head)
            closed.append(end)
        text = " ".join([*opened, "x[0] = x[0] + 1; x[2] = 1;", *reversed(closed)])
        self.check(
            "host out r: i32[3]; device x: i32[3];\n"
            f"graph main {{ fill x <- 0; {text} copy r <- x; }}",
            [1, 0, 1], seeds=[0],
        )  # fmt: skip


    def test_parts_without_elements_have_their_c_types(self):
        """1 << 30 times 4 is 0 in 32 bits, however the 4 is said."""
        self.check(
            """
param n: i32 = 3; param u: u32 = 4; param f: f32 = 0.1;
const FOUR = 4; const LONG = i64(4);
host out r: f64[10]; device r_: f64[10]; device x: i32[2]; device y: f32[1];
def with_parameter(k: i64, r: inout f64[10], x: in i32[2]) { r[8] = x[0] * k; }
graph main {
  x[0] = 1 << 30; x[1] = -1; y[0] = 0.1;
  r_[0] = x[0] * (n + 1); r_[1] = x[0] * FOUR; r_[2] = x[0] * (3 + 1); r_[3] = x[0] * LONG;
  r_[4] = x[1] < u; r_[5] = x[1] < u + 0; r_[6] = x[1] < min(u, 5);
  r_[7] = y[0] == f * 1; with_parameter(4, r_, x); r_[9] = x[0] * (1 << 32);
  copy r <- r_;
}""",
            [0, 0, 0, 2**32, 0, 0, 0, 1, 2**32, 2**62],
        )

    def test_parts_without_elements_must_fit_their_types(self):
        source = self.write(
            "p.cgraph",
            "param n: i32 = 2147483647; host out r: i32[1]; device x: i32[1];\n"
            "graph main { x[0] = 0; if (x[0] < n + 1) { x[0] = 1; } copy r <- x; }",
        )
        self.assert_refused(
            source, status=1, place="p.cgraph",
            message="'n + 1' 2147483648 is more than i32 holds [range]",
        )  # fmt: skip
        self.assertEqual(self.values(source, "--set", "n=5"), [1])


class LoopTest(ControlTest):
    LOOPS = """
param n: i32; param most: i64 = 1000;
host out r: i32[6]; device i: i32[6];
graph main {
  fill i <- 0;
  while (i[0] < n) { i[0] = i[0] + 1; }
  do { i[1] = i[1] + 1; } while (i[1] < n);
  repeat (n) { i[2] = i[2] + 1; }
  while (i[3] < n) max most { i[3] = i[3] + 1; }
  do { i[4] = i[4] + 1; } while (i[4] < n) max most;
  while (i[5] < 2 * n) { while (i[5] % 2 == 0) { i[5] = i[5] + 1; } i[5] = i[5] + 1; }
  copy r <- i;
}"""

    def test_how_often(self):
        for n in (0, 1, 2, 100):
            at_least = max(n, 1)
            self.check(
                self.LOOPS, [n, at_least, n, n, at_least, 2 * n],
                "--set", f"n={n}", "--repeat", 3, seeds=[0, 1],
            )  # fmt: skip

    def test_max_is_reported(self):
        source = self.write("p.cgraph", self.LOOPS)
        done = self.cgrun(source, "--set", "n=10", "--set", "most=10")
        self.assertNotIn("error", done.stderr)
        done = self.cgrun(
            source, "--set", "n=10", "--set", "most=9", "--out", "r=out.npy", status=3
        )
        self.assertRegex(
            done.stderr,
            r"p\.cgraph:9:3: error: while i\[3\] < n was ended after 9 iterations, its max, and its "
            r"condition still holds; do while i\[4\] < n \(line 10\) was ended after 9",
        )
        # Everything else has run, and what it computed is there.
        self.assertEqual(np.load(self.path("out.npy")).tolist(), [10, 10, 10, 9, 9, 20])

    def test_a_max_of_0_runs_nothing(self):
        source = self.write(
            "p.cgraph",
            "host out r: i32[1]; device i: i32[1];\n"
            "graph main { i[0] = 0; while (true) max 0 { i[0] = 1; } copy r <- i; }",
        )
        self.assertEqual(self.values(source, status=3), [0])

    def test_a_negative_count_is_refused(self):
        for text, message in (
            ("do { x[0] = 0; } while (x[0]) max n;", "'max' is -1; it must be at least 1 [range]"),
            ("repeat (n) { }", "the count of 'repeat' is -1; it must be at least 0 [range]"),
            ("while (x[0]) max n { x[0] = 0; }", "'max' is -1; it must be at least 0 [range]"),
        ):
            source = self.write(
                "p.cgraph",
                "param n: i32 = -1; host out r: i32[1]; device x: i32[1];\n"
                f"graph main {{ x[0] = 0; {text} copy r <- x; }}",
            )
            self.assert_refused(source, status=1, message=message, place="p.cgraph")

    def test_replays_go_on(self):
        """What loops leave in file-scope memory, the next launch finds; their own state is new."""
        self.check(
            """
host inout r: i32[2]; device x: i32[2];
graph main {
  copy x <- r;
  repeat (3) { x[0] = x[0] + 1; }
  do { x[1] = x[1] * 2; } while (x[1] % 3 != 1);
  copy r <- x;
}""",
            [1 + 3 * 5, 4**5], "--in", "r=ones", "--repeat", 5,
        )  # fmt: skip

    def test_independent_loops_and_what_is_beside_them(self):
        self.check(
            """
host in hx: i32[3]; host out r: i32[3]; device x: i32[3]; device y: i32[1];
graph main {
  copy x <- hx;
  while (x[0] < 100) { x[0] = x[0] + 7; }
  while (x[1] < 100) { x[1] = x[1] * 3; }
  y[0] = x[2] + 1;
  copy r[0:2] <- x[0:2];
  copy r[2:3] <- y;
}""",
            [106, 162, 8], "--in", "hx=hx.npy", given=[1, 2, 7],
        )  # fmt: skip

    def check(self, text, expected, *options, given=None, seeds=SEEDS):
        if given is not None:
            np.save(self.path("hx.npy"), np.array(given, dtype=np.int32))
        super().check(text, expected, *options, seeds=seeds)

    def test_an_index_from_the_device_is_checked(self):
        if harness.DEVICE != "host":
            self.skipTest("a trap makes the GPU unusable for the process")
        source = self.write(
            "p.cgraph",
            "param k: i32 = 4; host out r: i32[1]; device x: i32[4]; device i: i32[1];\n"
            "graph main { fill x <- 0; i[0] = k;\n"
            "  if (x[i[0]] == 0) { x[0] = 1; }\n"
            "  copy r <- x[0:1]; }",
        )
        self.assertEqual(self.values(source, "--set", "k=3"), [1])
        done = self.cgrun(source, status=3)
        self.assertIn(
            "kernel if.3: dimension 0 of x[i[0]] (line 3): index 4 is outside of 0..4", done.stderr
        )
        self.assertIn("p.cgraph:3:3: error: ", done.stderr)
        done = self.cgrun(source, "--set", "k=-1", status=3)
        self.assertIn("index -1 is outside of 0..4", done.stderr)


    def test_errors_of_params_stand_where_they_are_made(self):
        """Also where several statements are one kernel."""
        text = """
param n: i32; param m: i32 = 1;
host out r: i32[4]; device x: i32[4];
graph main {
  fill x <- 0;
  x[0] = 3;
  x[n] = 4;
  if (x[0] == 3 && 10 / m > 1) { x[1] = 2; }
  while (x[2] < 2) max 3 {
    x[2] = x[2] + 1;
    x[n + 1] = 4;
  }
  copy r <- x;
}"""
        source = self.write("p.cgraph", text)
        for n, m, place, message in (
            (4, 1, "7:5", "index 4 of 'x' is beyond the last, 3 [range]"),
            (3, 1, "11:7", "index 4 of 'x' is beyond the last, 3 [range]"),
            (-1, 1, "7:5", "index -1 of 'x' is less than 0 [range]"),
            (1, 0, "8:20", "division by zero [range]"),
        ):
            done = self.cgrun(source, "--set", f"n={n}", "--set", f"m={m}", status=1)
            self.assertIn(f"p.cgraph:{place}: error: {message}", done.stderr)
        self.assertEqual(self.values(source, "--set", "n=0"), [4, 4, 2, 0])


class StopTest(ControlTest):
    ENDLESS = """
host out r: i64[1]; device x: i64[1];
@cancellable graph main { x[0] = 0; while (true) { x[0] = x[0] + 1; } copy r <- x; }
"""

    def interrupt(self, text, *options, begun=lambda: True):
        """Ctrl-C while the program runs: later on a machine on which it has not begun by then."""
        source = self.bundle(self.write("p.cgraph", text))
        for seconds in (1, 4, 16):
            process = subprocess.Popen(
                [harness.CGRUN, source, "--device", harness.DEVICE, *map(str, options)],
                cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
            )  # fmt: skip
            self.addCleanup(process.kill)
            time.sleep(seconds)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=20)
            if begun():
                break
        return process.returncode, errors

    def results_are_there(self):
        return os.path.exists(self.path("r.npy"))

    def test_ctrl_c_ends_the_loops_and_keeps_the_results(self):
        status, errors = self.interrupt(
            self.ENDLESS, "--out", "r=r.npy", begun=self.results_are_there
        )
        self.assertEqual(status, 130, errors)
        self.assertRegex(errors, r"p\.cgraph:3:37: error: while true was stopped, as asked")
        self.assertGreater(np.load(self.path("r.npy"))[0], 0)

    def test_ctrl_c_between_launches_ends_the_run(self):
        quick = self.ENDLESS.replace("true", "x[0] < 10")
        status, _ = self.interrupt(quick, "--repeat", 10**9)
        self.assertEqual(status, 130)

    def test_ctrl_c_ends_the_list_of_graphs(self):
        if harness.DEVICE != "host":
            self.skipTest("a GPU has the whole list in its queue at once")
        status, errors = self.interrupt(
            self.ENDLESS.replace("device x", "device y: i64[1]; device x")
            + "graph later { while (true) { y[0] = y[0] + 1; } }",
            "--graph", "main,later", "--out", "r=r.npy", begun=self.results_are_there,
        )  # fmt: skip
        self.assertEqual(status, 130, errors)
        self.assertTrue(self.results_are_there())

    def test_every_loop_is_reported_and_counted(self):
        source = self.write(
            "p.cgraph",
            "host inout r: i64[2]; device x: i64[2];\n"
            "graph a { copy x <- r; while (true) max 3 { x[0] = x[0] + 1; } copy r <- x; }\n"
            "graph b { copy x <- r; while (true) max 1 { x[1] = x[1] + 1; } copy r <- x; }",
        )
        done = self.cgrun(
            source, "--graph", "a,b", "--repeat", 5, "--in", "r=zeros", "--out", "r=r.npy", status=3
        )
        self.assertIn("p.cgraph:2:24: error: while true was ended after 3 iterations", done.stderr)
        self.assertIn("p.cgraph:3:24: error: while true was ended after 1 iteration,", done.stderr)
        self.assertRegex(done.stdout, r"\b1 launch\b")
        self.assertEqual(np.load(self.path("r.npy")).tolist(), [3, 1])

    def test_without_cancellable_ctrl_c_ends_at_once(self):
        if harness.DEVICE != "host":
            self.skipTest("an endless graph ends with its process, which the host device shows")
        status, _ = self.interrupt(
            self.ENDLESS.replace("@cancellable ", ""), "--out", "r=r.npy"
        )
        self.assertEqual(status, 130)
        self.assertFalse(self.results_are_there())


if __name__ == "__main__":
    harness.main()
