"""cgrun --check-effects: what kernels do to memory against what they declare."""

import json
import re
import subprocess

import harness

GRID = "grid(ceildiv(n, 128)) block(128)"
INDEX = "const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;"
MEMORY = """
param n: i32 = 1000;
host in hx: f32[n];
host out hy: f32[n];
device x, y, z: f32[n];
device one: i32[1];
"""


def kernel(name, params, body):
    return f"kernel {name}(n: i32, {params}) {GRID} cuda {{ {INDEX} {body} }}\n"


DOUBLE = kernel("twice", "x: in f32[n], y: out f32[n]", "y[i] = 2 * x[i];")
EVENS = kernel("evens", "x: in f32[n], y: out f32[n]", "if (i % 2 == 0) y[i] = x[i];")
ADD = kernel("add", "x: in f32[n], y: out f32[n]", "y[i] += x[i];")
SPOIL = kernel(
    "spoil", "x: in f32[n], y: out f32[n]",
    "y[i] = x[i]; if (i == 3 || i == 5) const_cast<f32 *>(x)[i] = -1;",
)  # fmt: skip


class EffectsTest(harness.ToolTest):
    def check(self, program, *options, stopped=False):
        """(kind, kernel, parameter, buffer, element, elements, line) of each fault, and the report.

        Standard error must say the same, a line each, and the exit status that there are some.
        `stopped`: it also says that a loop was ended by its `max`.
        """
        source = self.write("p.cgraph", program)
        wants = ["--in", "hx=iota"] if "hx" in program else []
        command = [harness.CGRUN, source, *wants, "--device", harness.DEVICE, *options]
        command += ["--check-effects", "--json"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        report = json.loads(done.stdout)
        status = 1 if report["faults"] else 3 if stopped else 0
        self.assertEqual(done.returncode, status, done.stderr)
        said = [line for line in done.stderr.splitlines() if ": error: " in line]
        places = [
            f"{fault['file']}:{fault['line']}:{fault['column']}: error: {fault['message']}"
            for fault in report["faults"]
        ]
        self.assertEqual(said[len(said) - len(places) :], places)
        self.assertEqual(len(said), len(places) + (1 if stopped else 0))
        keys = ("kind", "kernel", "parameter", "buffer", "element", "elements", "line")
        return [tuple(fault[key] for key in keys) for fault in report["faults"]], report

    def faults(self, program, *options):
        """(kind, kernel, parameter, first element, elements) of each."""
        faults, _ = self.check(program, *options)
        return [(*fault[:3], f"{fault[3]}{fault[4]}", fault[5]) for fault in faults]

    def launch(self, kernels, statements):
        """A graph that runs these between copies in and out; y is 0 before them."""
        return (
            f"{MEMORY}{kernels}\ngraph main {{ copy x <- hx; fill y <- 0; fill z <- 0;\n"
            f"{statements}\ncopy hy <- y; }}"
        )

    def test_no_fault(self):
        kernels = DOUBLE + kernel("grow", "y: inout f32[n]", "y[i] += 1;")
        faults, report = self.check(self.launch(kernels, "twice(n, x, y); grow(n, y);"))
        self.assertEqual((faults, report["kernels_checked"]), ([], 2))
        # 2 x + 1, and nothing of the patterns that the check puts in between
        hy = report["outputs"]["hy"]
        self.assertEqual((hy["min"], hy["max"], hy["mean"]), (1, 1999, 1000))

    def test_writes_what_it_declares_in(self):
        self.assertEqual(
            self.faults(self.launch(SPOIL, "spoil(n, x, y);")),
            [("wrote-in", "spoil", "x", "x[3]", 2)],
        )

    def test_elements_are_the_buffers(self):
        program = self.launch(SPOIL, "spoil(10, x[100:110], y[0:10]);")
        self.assertEqual(self.faults(program), [("wrote-in", "spoil", "x", "x[103]", 2)])
        program = """
          param n: i32 = 4; device a, b: i32[3, 5, n];
          kernel some(n: i32, a: in i32[n], b: out i32[n]) grid(1) block(n)
          cuda { if (threadIdx.x != 2) b[threadIdx.x] = a[threadIdx.x]; }
          graph main { fill a <- 7; fill b <- 7; some(n, a[1, 3], b[2, 4]); }"""
        self.assertEqual(self.faults(program), [("left-out", "some", "b", "b[2, 4, 2]", 1)])

    def test_writes_what_it_is_not_given(self):
        """Beyond its slice of a buffer, and between two slices."""
        kernels = kernel("over", "a: out f32[n], b: inout f32[n]", "a[i] = 1; a[n + 2] = 5;")
        program = self.launch(kernels, "over(10, y[0:10], y[20:30]);")
        self.assertEqual(self.faults(program), [("wrote-other", "over", None, "y[12]", 1)])

    def test_leaves_a_part_of_out(self):
        program = self.launch(EVENS, "evens(n, x, y);")
        self.assertEqual(self.faults(program), [("left-out", "evens", "y", "y[1]", 500)])
        self.assertEqual(self.faults(program, "--set", "n=1"), [])
        one = ("left-out", "evens", "y", "y[1]", 1)
        self.assertEqual(self.faults(program, "--set", "n=2"), [one])
        self.assertEqual(self.faults(program, "--set", "n=0"), [])

    def test_leaves_one_element_that_has_the_right_value(self):
        """Zeros are there already; the kernel writes those but the last."""
        kernels = kernel("zero", "y: out f32[n]", "if (i < n - 1) y[i] = 0;")
        program = self.launch(kernels, "zero(n, y);")
        self.assertEqual(self.faults(program), [("left-out", "zero", "y", "y[999]", 1)])

    def test_reads_out(self):
        program = self.launch(ADD, "fill x <- 1; add(n, x, y);")
        self.assertEqual(self.faults(program), [("read-out", "add", "y", "y[0]", 1000)])

    def test_treats_a_zero_in_out_apart(self):
        """Neither what memory holds first, 0xFF, nor the patterns are 0."""
        for kind in ("i8", "u16", "i32", "i64", "f32", "f64"):
            with self.subTest(kind=kind):
                body = f"y[i] = y[i] == {kind}(0) ? {kind}(1) : {kind}(2);"
                program = kernel("first", f"y: out {kind}[n]", body)
                program = f"param n: i32 = 100; device y: {kind}[n];" + program
                faults = self.faults(program + "graph main { first(n, y); }")
                self.assertEqual(faults, [("read-out", "first", "y", "y[0]", 100)])

    def test_reads_out_on_the_way_to_another_buffer(self):
        kernels = kernel(
            "peek", "x: in f32[n], y: out f32[n], s: inout f32[n]",
            "if (i == 7) s[i] = y[i]; y[i] = x[i];",
        )  # fmt: skip
        program = self.launch(kernels, "peek(n, x, y, z);")
        self.assertEqual(self.faults(program), [("read-out", "peek", "s", "z[7]", 1)])

    def test_fails_with_other_values_in_out(self):
        source = self.write("p.cgraph", """
          device y: i32[4];
          kernel trust(y: out i32[4]) grid(1) block(4)
          cuda { assert(y[threadIdx.x] == 0); y[threadIdx.x] = 1; }
          graph main { fill y <- 0; trust(y); }""")  # fmt: skip
        self.cgrun(source)
        said = self.cgrun(source, "--check-effects", status=3).stderr
        self.assertRegex(said, r"p\.cgraph:5:37: error: .*trust.* \(only with other values in y")

    def test_least_and_greatest_over_out(self):
        for name in ("fminf", "fmaxf"):
            with self.subTest(name=name):
                body = f"y[i] = {name}(x[i], y[i]);"
                kernels = kernel("join", "x: in f32[n], y: out f32[n]", body)
                found = self.faults(self.launch(kernels, "join(n, x, y);"))
                self.assertEqual([fault[:3] for fault in found], [("read-out", "join", "y")])

    def test_types(self):
        """One element left, and others made of what stood elsewhere in `out`, in each type."""
        for name in "bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64".split():
            with self.subTest(type=name):
                program = f"""
                  device y, z: {name}[100];
                  kernel part(y: out {name}[100]) grid(1) block(100)
                  cuda {{ if (threadIdx.x != 41) y[threadIdx.x] = {name}(1); }}
                  kernel turn(y: out {name}[100], z: inout {name}[100]) grid(1) block(100)
                  cuda {{
                    z[threadIdx.x] = y[99 - threadIdx.x];
                    __syncthreads();
                    y[threadIdx.x] = {name}(threadIdx.x % 2);
                  }}
                  graph main {{ part(y); turn(y, z); }}"""
                left = ("left-out", "part", "y", "y[41]", 1)
                read = ("read-out", "turn", "z", "z[0]", 100)
                self.assertEqual(self.faults(program), [left, read])

    def test_moves_elements_of_out(self):
        """What stands where another element of `out` stood was written, though not made anew."""
        program = """
          device y: i32[100];
          kernel turn(y: out i32[100]) grid(1) block(100)
          cuda { const int v = y[99 - threadIdx.x]; __syncthreads(); y[threadIdx.x] = v; }
          graph main { turn(y); }"""
        self.assertEqual(self.faults(program), [("read-out", "turn", "y", "y[0]", 100)])

    def test_kernels_from_a_file(self):
        (self.folder / "k.cu").write_text(
            "__global__ void evens(int n, const float *__restrict__ x, float *__restrict__ y) {\n"
            "  for (int i = 0; i < n; i += 2) { y[i] = x[i]; const_cast<float *>(x)[1] = -1; }\n"
            "}\n"
        )
        kernels = """kernel evens(n: i32, x: in f32[n], y: out f32[n]) grid(1) block(1)
                     source "k.cu" """
        self.assertEqual(
            self.faults(self.launch(kernels, "evens(n, x, y);")),
            [("wrote-in", "evens", "x", "x[1]", 1), ("left-out", "evens", "y", "y[1]", 500)],
        )

    def test_every_statement_once(self):
        """The three iterations of a `for` are one statement, the launch below is another."""
        program = self.launch(EVENS, "for k in 0..3 {\n evens(n, x, y); }\n evens(n, x, z);")
        faults, report = self.check(program)
        line = program[: program.index("evens(n, x, y)")].count("\n") + 1
        self.assertEqual(
            faults,
            [
                ("left-out", "evens", "y", "y", [1], 500, line),
                ("left-out", "evens", "y", "z", [1], 500, line + 1),
            ],
        )
        self.assertEqual(report["kernels_checked"], 4)

    def test_child_graph(self):
        part = "def part(a: in f32[n], b: out f32[n]) { evens(n, a, b); twice(n, a, b); }"
        program = self.launch(EVENS + DOUBLE + part, "child part(x, y); child part(x, z);")
        faults, report = self.check(program)
        self.assertEqual({fault[:3] for fault in faults}, {("left-out", "evens", "y")})
        self.assertEqual(report["kernels_checked"], 4)
        self.assertEqual(report["outputs"]["hy"]["max"], 2 * 999)

    def test_loops_and_branches(self):
        """Bodies run as often as they would, and only those that would."""
        program = self.launch(
            DOUBLE + EVENS + SPOIL,
            """one[0] = 0;
               while (one[0] < 5) {
                 if (one[0] % 2 == 1) { evens(n, x, y); } else { twice(n, x, y); }
                 switch (one[0]) {
                   case 0, 4: { twice(n, x, y); twice(n, x, z); }
                   case 1: { spoil(n, x, z); }
                   case 7: { evens(n, x, z); }
                 }
                 if (one[0] > 100) { evens(n, x, z); }
                 repeat (2) { do { twice(n, x, y); } while (one[0] < 0); }
                 one[0] = one[0] + 1;
               }
               if (one[0] != 5) { evens(n, x, z); }""",
        )
        faults, report = self.check(program)
        # if: 5; switch: 2 + 2 + 1; repeat: 10. The count in `one` stands where conditions are set.
        self.assertEqual(report["kernels_checked"], 20)
        self.assertEqual(
            [fault[:5] for fault in faults],
            [
                ("left-out", "evens", "y", "y", [1]),
                ("wrote-in", "spoil", "x", "x", [3]),
            ],
        )
        plain = self.cgrun_json("p.cgraph", "--in", "hx=iota")
        self.assertEqual(plain["outputs"], report["outputs"])
        for key in ("device", "graph", "nodes", "edges"):
            self.assertEqual(plain[key], report[key])

    def test_loop_ended_by_its_max(self):
        program = self.launch(DOUBLE, "one[0] = 1; while (one[0] != 0) max 3 { twice(n, x, y); }")
        faults, report = self.check(program, stopped=True)
        self.assertEqual((faults, report["kernels_checked"] >= 3), ([], True))
        # A fault weighs more.
        program = self.launch(EVENS, "one[0] = 1; while (one[0] != 0) max 3 { evens(n, x, y); }")
        self.assertEqual(len(self.check(program, stopped=True)[0]), 1)

    def test_state_goes_on_from_the_first_run(self):
        """Even from what a wrong kernel leaves."""
        program = self.launch(
            EVENS + SPOIL, "fill y <- 5; evens(n, x, y); spoil(n, x, z); x[0] = x[3]; y[0] = x[0];"
        )
        _, report = self.check(program)
        hy = report["outputs"]["hy"]  # -1 5 2 5 4 5 …
        self.assertEqual((hy["min"], hy["max"]), (-1, 998))
        self.assertEqual(hy["mean"], (-1 + sum(range(0, 1000, 2)) + 5 * 500) / 1000)
        plain = self.cgrun_json("p.cgraph", "--in", "hx=iota")
        self.assertEqual(report["outputs"], plain["outputs"])

    def test_results_that_vary_are_no_fault(self):
        """Places are given out in the order in which threads come, and in the end all are taken."""
        program = """
          param n: i32 = 20000;
          device order: i32[n]; device taken: i32[1]; device sum: f32[1];
          kernel place(n: i32, order: out i32[n], taken: inout i32[1], sum: inout f32[1])
            grid(ceildiv(n, 32)) block(32)
          cuda {
            const int i = blockIdx.x * 32 + threadIdx.x;
            if (i < n) { order[atomicAdd(taken, 1)] = i; atomicAdd(sum, 1.0f / (i + 1)); }
          }
          graph main { fill taken <- 0; fill sum <- 0; place(n, order, taken, sum); }"""
        for _ in range(3):
            self.assertEqual(self.faults(program), [])

    def test_overlapping_arguments_of_an_inplace_kernel(self):
        """What is in and out at once may be read; the rest of out must still be written."""
        kernels = "@inplace " + kernel(
            "shift", "x: in f32[n], y: out f32[n]", "if (i < n - 1) y[i] = x[i] + 1;"
        )
        program = self.launch(kernels, "shift(n - 1, y[1:n], y[0:n - 1]); shift(n, x, y);")
        self.assertEqual(self.faults(program), [("left-out", "shift", "y", "y[999]", 1)])

    def test_strided_fill(self):
        program = "device a: f64[9, 9, 9]; graph main { fill a[1:4, 2:5, 3:7] <- 2.5; }"
        self.assertEqual(self.faults(program), [])

    def test_mapped_host_memory(self):
        program = """
          param n: i32 = 10; @mapped host h: i32[n];
          kernel evens(n: i32, h: out i32[n]) grid(1) block(n)
          cuda { if (threadIdx.x % 2 == 0) h[threadIdx.x] = 1; }
          graph main { evens(n, h); }"""
        self.assertEqual(self.faults(program), [("left-out", "evens", "h", "h[1]", 5)])

    def test_graphs_in_order(self):
        program = f"""{MEMORY}{DOUBLE}{EVENS}
          graph first {{ copy x <- hx; twice(n, x, y); copy hy <- y; }}
          graph second {{ evens(n, y, y2); copy hy <- y2; }}
          device y2: f32[n];"""
        faults, report = self.check(program, "--graph", "first,second")
        self.assertEqual([fault[:3] for fault in faults], [("left-out", "evens", "y")])
        self.assertEqual((report["graph"], report["kernels_checked"]), ("first,second", 2))

    def test_table(self):
        source = self.write("p.cgraph", self.launch(EVENS, "evens(n, x, y);"))
        done = self.cgrun(source, "--in", "hx=iota", "--check-effects", status=1)
        self.assertEqual(done.stdout.splitlines()[-1], "effects: 1 kernel checked, 1 fault")
        line = 1 + (self.folder / source).read_text().split("evens(n, x, y);")[0].count("\n")
        self.assertRegex(
            done.stderr,
            rf"(^|\n)p\.cgraph:{line}:1: error: kernel evens did not write y\[1\] and 499 more, "
            r"but declares y out\n$",
        )

    def test_repeat_is_refused(self):
        source = self.write("p.cgraph", self.launch(DOUBLE, "twice(n, x, y);"))
        self.assert_refused(
            source, "--in", "hx=iota", "--check-effects", "--repeat", 2,
            status=2, message="--repeat",
        )  # fmt: skip


class ExamplesTest(harness.ToolTest):
    """No example has a fault, and checking changes no result."""

    GRAPH = ["--in", "hbegin=iota"]
    OPTIONS = {
        "abc": ["--in", "x=iota"],
        "bfs": [*GRAPH, "--in", "htarget=iota"],
        "callback_progress": ["--set", "n=1000", "--in", "x=iota"],
        "cg": [*GRAPH, "--in", "hcolumn=iota", "--in", "hvalue=2", "--in", "hb=iota"],
        "compress_switch": ["--in", "hx=iota"],
        "decode_loop": [
            "--in", "hembedding=random:1", "--in", "hrecurrent=random:2",
            "--in", "houtput=random:3",
        ],
        "gemm_batch": [
            "-D", "BATCH=3", "--set", "m=130", "--set", "n=260", "--set", "k=33",
            "--in", "ha=random:1", "--in", "hb=random:2",
        ],
        "jacobi": [
            "--set", "h=19", "--set", "w=14", "--in", "hu=random:1", "--in", "hf=random:2",
        ],
        "newton_sqrt": ["--set", "n=1000", "--in", "ha=iota"],
        "overlap": ["--set", "n=257", "--in", "hx=iota"],
        "pipeline_chunks": ["--set", "chunk=257", "--in", "hx=random"],
        "priorities": ["--set", "n=1000", "--in", "urgent=iota", "--in", "background=ones"],
        "saxpy": ["--set", "n=1000", "--in", "hx=iota", "--in", "hy=ones"],
        "streams_pool": [
            "-D", "BATCH=5", "-D", "STREAMS=2", "--set", "m=130", "--set", "n=33", "--set", "k=9",
            "--in", "ha=random:1", "--in", "hb=random:2",
        ],
        "sobel": ["--set", "h=33", "--set", "w=47", "--in", "himage=random"],
        "work_queue": ["--set", "items=50", "--set", "blocks=4", "--in", "hcost=iota"],
        "update_sweep": ["--set", "batch=5", "--in", "hw=random:1", "--in", "hx=random:2"],
    }  # fmt: skip

    def test_all(self):
        for source in harness.examples():
            if "@device_launch" in source.read_text():
                continue  # refused: the check does not follow what kernels launch
            with self.subTest(source=source.name):
                command = [source, *self.OPTIONS[source.stem]]
                checked = self.cgrun_json(*command, "--check-effects")
                self.assertEqual(checked["faults"], [])
                self.assertGreater(checked["kernels_checked"], 0)
                plain = self.cgrun_json(*command)
                self.assertEqual(checked["outputs"], plain["outputs"])

    def test_standard_kernels(self):
        """Each kernel of the standard modules, around sizes of its blocks."""
        program = """
          import std.blas1; import std.reduce;
          param n: i32 = 1000;
          host in hx: f64[n]; device x, y: f64[n]; device parts: f64[7]; device r: f64[1];
          graph main {
            copy x <- hx;
            blas1.copy(n, x, y); blas1.scale(n, 0.5, y); blas1.axpy(n, 2.0, x, y);
            blas1.dot(n, x, y, r); blas1.dot_parts(n, 7, x, y, parts);
            reduce.sum(n, x, r); reduce.max(n, x, r);
            reduce.sum_parts(n, 7, x, parts); reduce.max_parts(n, 7, x, parts);
          }"""
        called = set(re.findall(r"(?:blas1|reduce)\.(\w+)\(", program))
        modules = list((harness.SOURCE / "stdlib_kernels").glob("*.cgraph"))
        declared = [re.findall(r"^kernel (\w+)", module.read_text(), re.M) for module in modules]
        if modules:  # not where the tests run without the sources
            self.assertEqual(called, set(sum(declared, [])))
        source = self.write("p.cgraph", program)
        for n in (1, 255, 257, 1000):
            report = self.cgrun_json(
                source, "--set", f"n={n}", "--in", "hx=random", "--check-effects"
            )
            self.assertEqual((report["faults"], report["kernels_checked"]), ([], 9))


if __name__ == "__main__":
    harness.main()
