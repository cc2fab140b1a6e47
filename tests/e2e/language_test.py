"""What programs of the dataflow language compute, against NumPy and formulas."""

import random

import harness
import numpy as np

TYPES = {
    "bool": "?", "u8": "u1", "i16": "i2", "f16": "f2", "i32": "i4", "f32": "f4", "f64": "f8",
    "i64": "i8",
}  # fmt: skip

ADD_ONE = """
kernel inc(k: i64, x: inout f32[k]) grid(ceildiv(k, 32)) block(32)
cuda { int i = blockIdx.x * 32 + threadIdx.x; if (i < k) x[i] += 1; }
"""


class LanguageTest(harness.ToolTest):
    def run_program(self, text, out, given=None, name="p.cgraph", options=(), **run):
        """The arrays that the program leaves in the buffers named by `out`."""
        arguments = [self.write(name, text), *options]
        for buffer, array in (given or {}).items():
            np.save(self.path(buffer + ".npy"), array)
            arguments += ["--in", f"{buffer}={buffer}.npy"]
        for buffer in out.split():
            arguments += ["--out", f"{buffer}={buffer}.out.npy"]
        self.cgrun(*arguments, **run)
        arrays = [np.load(self.path(buffer + ".out.npy")) for buffer in out.split()]
        return arrays[0] if len(arrays) == 1 else arrays

    def run_seeds(self, text, out, given=None, options=(), seeds=5):
        """The same for several orders of independent nodes; all must agree."""
        results = [
            self.run_program(text, out, given, options=(*options, "--seed", seed))
            for seed in range(seeds)
        ]
        for result in results[1:]:
            np.testing.assert_array_equal(result, results[0])
        return results[0]


class DefTest(LanguageTest):
    def test_locals_shadow_and_are_new_in_each_call(self):
        result = self.run_seeds(
            ADD_ONE + """
host in x: f32[4];
host out y: f32[4];
device a, t: f32[4];
def twice(t: inout f32[4]) {
  device a: f32[4];
  copy a <- t;
  inc(4, a);
  { device t: f32[4]; copy t <- a; inc(4, t); copy a <- t; }
  copy t <- a;
}
graph main {
  copy a <- x;
  fill t <- 100;
  twice(a);
  twice(a);
  twice(t);
  copy y <- a;
}
""", "y", {"x": np.arange(4, dtype="f4")})  # fmt: skip
        np.testing.assert_array_equal(result, np.arange(4) + 4)

    def test_def_in_def_with_slices_of_slices(self):
        x = np.arange(48, dtype="f4").reshape(2, 4, 6)
        result = self.run_seeds(
            ADD_ONE + """
host in x: f32[2, 4, 6];
host out y: f32[2, 4, 6];
device d: f32[2, 4, 6];
def row(r: inout f32[w], w: i32, times: i32) { for i in 0..times { inc(w - 2, r[1:w - 1]); } }
def rows(m: inout f32[h, 6], h: i32) { for i in 1..3 { row(m[i], 6, i); } fill m[0, 0:2] <- -1; }
graph main {
  copy d <- x;
  rows(d[1], 4);
  rows(d[0][1:4], 3);
  copy y <- d;
}
""", "y", {"x": x})  # fmt: skip
        for part in (x[1], x[0, 1:4]):
            for i in (1, 2):
                part[i, 1:5] += i
            part[0, 0:2] = -1
        np.testing.assert_array_equal(result, x)

    def test_child_graphs(self):
        text = ADD_ONE + """
host in x: f32[8];
host out y: f32[8];
device d: f32[8];
def part(r: inout f32[4]) { device t: f32[4]; copy t <- r; inc(4, t); copy r <- t; }
def both(r: inout f32[8]) { child part(r[0:4]); part(r[4:8]); }
graph main { copy d <- x; child both(d); part(d[2:6]); child both(d); copy y <- d; }
"""
        x = np.arange(8, dtype="f4")
        result = self.run_seeds(text, "y", {"x": x})
        np.testing.assert_array_equal(result, x + [2, 2, 3, 3, 3, 3, 2, 2])

    def test_x_i_serves_as_one_element(self):
        result = self.run_program(
            ADD_ONE + """
host out y: f32[3, 2];
device d: f32[3, 2];
def one(r: inout f32[1]) { inc(1, r); inc(1, r[0]); }
graph main { fill d <- 0; inc(1, d[1, 1]); one(d[2][0]); copy y[0, 1] <- d[1, 1]; copy y[1:] <- d[1:];
             copy y[0, 0] <- d[0, 0]; }
""", "y")  # fmt: skip
        np.testing.assert_array_equal(result, [[0, 1], [0, 1], [2, 0]])


class OrderTest(LanguageTest):
    def test_labels_forward_and_from_inner_blocks(self):
        """The order shows in what conflicting statements leave; `after` must not change that."""
        text = """
host out y: i32[6];
device d: i32[6];
graph main {
  fill d[0:2] <- 1 after LAST;
  MID: { fill d[2:4] <- 2; { fill d[4] <- 3 after LAST; } }
  LAST: fill d[5] <- 4;
  for i in 0..2 { IN: fill d[i] <- 5 + i after MID; }
  copy y <- d;
}
"""
        np.testing.assert_array_equal(self.run_seeds(text, "y"), [5, 6, 2, 2, 3, 4])
        dot = self.run_tool(harness.CGC, "p.cgraph", "--emit=dot").stdout
        self.assertEqual(dot.count("->"), self.cgrun_json("p.cgraph")["edges"])

    def test_nested_loops_with_scopes_and_consts(self):
        text = """
const N = 3;
host out y: i32[N, N + 1];
device d: i32[N, N + 1];
graph main {
  fill d <- 0;
  for i in 0..N {
    const BASE = 10 * i;
    for j in 0..i + 1 {
      const N = BASE + j;
      { const BASE = N * 2; fill d[i, j] <- BASE; }
    }
    sync;
  }
  copy y <- d;
}
"""
        wanted = np.zeros((3, 4), "i4")
        for i in range(3):
            for j in range(i + 1):
                wanted[i, j] = 2 * (10 * i + j)
        np.testing.assert_array_equal(self.run_seeds(text, "y"), wanted)
        result = self.run_program(text, "y", name="p.cgraph")
        self.assertEqual(result.shape, (3, 4))

    def test_an_empty_launch_keeps_its_place(self):
        text = ADD_ONE + """
param n: i32 = 0;
host out y: f32[4];
device a, b: f32[4];
device none: f32[0];
graph main {
  fill a <- 1;
  inc(n, a[0:n]);
  copy b <- a;
  fill none <- 1;
  copy a[2:2] <- b[1:1];
  fill b[4:] <- 9;
  copy y <- b;
}
graph idle { }
"""
        np.testing.assert_array_equal(self.run_seeds(text, "y"), [1, 1, 1, 1])
        ten = self.run_program(text, "y", options=("--set", "n=3"))
        np.testing.assert_array_equal(ten, [2, 2, 2, 1])
        self.cgrun("p.cgraph", "--graph", "idle")


class KernelTest(LanguageTest):
    def test_geometry_overrides(self):
        text = """
host out y: i32[5, 8];
device d: i32[5, 8];
kernel shape(x: out i32[8]) grid(1) block(1) shared(16)
cuda {
  extern __shared__ char bytes[];
  if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z == 0) {
    int v[8] = {(int)gridDim.x, (int)gridDim.y, (int)gridDim.z,
                (int)blockDim.x, (int)blockDim.y, (int)blockDim.z, 0, 0};
    for (int i = 0; i < 8; ++i) x[i] = v[i];
  }
}
kernel fill_shared(n: i32, x: out i32[8]) grid(1) block(n) shared(4)
cuda {
  extern __shared__ int lanes[];
  lanes[threadIdx.x] = threadIdx.x;
  __syncthreads();
  x[threadIdx.x] = lanes[n - 1 - threadIdx.x];
}
graph main {
  shape(d[0]);
  shape<<<2, 4>>>(d[1]);
  shape<<<(2, 3), (4, 2, 2)>>>(d[2]);
  shape<<<(2, 3, 4), 4, 0>>>(d[3]);
  fill_shared<<<1, 8, 8 * sizeof(i32)>>>(8, d[4]);
  copy y <- d;
}
"""
        np.testing.assert_array_equal(self.run_program(text, "y"), [
            [1, 1, 1, 1, 1, 1, 0, 0], [2, 1, 1, 4, 1, 1, 0, 0], [2, 3, 1, 4, 2, 2, 0, 0],
            [2, 3, 4, 4, 1, 1, 0, 0], [7, 6, 5, 4, 3, 2, 1, 0],
        ])  # fmt: skip

    def test_generic_kernels(self):
        text = """
kernel scale<T: f32, f64, i32>(n: i64, a: T, x: inout T[n]) grid(1) block(n)
cuda { T factor = a; x[threadIdx.x] *= factor; if (sizeof(T) == 8) x[threadIdx.x] += T(0.5); }
kernel store<T>(value: T, bytes: i64, x: out i64[1]) grid(1) block(1) shared(sizeof(T))
cuda { x[0] = bytes + sizeof(T) * 100; }
param k: i16 = 1;
host in hf: f32[4]; host out of: f32[4];
host in hd: f64[4]; host out od: f64[4];
host in hi: i32[4]; host out oi: i32[4];
host out os: i64[3];
device f: f32[4]; device d: f64[4]; device i: i32[4]; device s: i64[3];
def thrice(n: i32, x: inout f64[n]) { scale(n, 3, x); }
graph main {
  copy f <- hf; copy d <- hd; copy i <- hi;
  scale(4, 0.5, f); thrice(4, d); scale(4, 3, i);
  copy of <- f; copy od <- d; copy oi <- i;
  store(k, 1, s[0]); store(f64(1), 2, s[1]); store(bool(1), 3, s[2]);
  copy os <- s;
}
"""
        x = np.arange(1, 5)
        given = {"hf": x.astype("f4"), "hd": x.astype("f8"), "hi": x.astype("i4")}
        f, d, i, s = self.run_program(text, "of od oi os", given)
        np.testing.assert_array_equal(f, x * 0.5)
        np.testing.assert_array_equal(d, x * 3 + 0.5)
        np.testing.assert_array_equal(i, x * 3)
        np.testing.assert_array_equal(s, [201, 802, 103])

    def test_source_files(self):
        self.write("code.cu", """
__device__ float helper(float v) { return v + 1; }
__global__ void plain(int n, const float* __restrict__ x, float* __restrict__ y) {
  if (threadIdx.x < n) y[threadIdx.x] = helper(x[threadIdx.x]);
}
extern "C" __global__ void c_name(float* __restrict__ y) { y[threadIdx.x] *= 2; }
template <typename T, int N> __global__ void scaled(T* __restrict__ y) { y[threadIdx.x] *= N; }
""")  # fmt: skip
        text = """
kernel plain(n: i32, x: in f32[n], y: out f32[n]) grid(1) block(n) source "code.cu";
kernel twice(y: inout f32[4]) grid(1) block(4) source "code.cu" symbol "c_name";
kernel fives(y: inout f32[4]) grid(1) block(4) source "code.cu" symbol "scaled<float, 5>"
host in x: f32[4]; host out y: f32[4];
device a, b: f32[4];
graph main { copy a <- x; plain(4, a, b); twice(b); fives(b); copy y <- b; }
"""
        result = self.run_program(text, "y", {"x": np.arange(4, dtype="f4")})
        np.testing.assert_array_equal(result, (np.arange(4) + 1) * 10)

    def test_host_bodies_and_file_scope_blocks(self):
        text = """
cuda { __device__ int square(int v) { return v * v; } constexpr int OFFSET = 7; }
const SHIFT = 3;
kernel mix(x: inout i32[4]) grid(1) block(4) cuda { x[threadIdx.x] = square(x[threadIdx.x]) + OFFSET + SHIFT; }
kernel sorted(n: i32, x: inout i32[n]) grid(1) block(1)
cuda { for (int i = 1; i < n; ++i) for (int j = i; j > 0 && x[j] < x[j - 1]; --j) { int t = x[j]; x[j] = x[j - 1]; x[j - 1] = t; } }
host { std::sort(x, x + n); }
host in x: i32[4]; host out y: i32[4];
device d: i32[4];
graph main { copy d <- x; mix(d); sorted(4, d); copy y <- d; }
"""
        x = np.array([3, -1, 2, 0], "i4")
        result = self.run_program(text, "y", {"x": x})
        np.testing.assert_array_equal(result, np.sort(x * x + 10))

    def test_mapped_inplace_and_cluster(self):
        text = """
@mapped host inout m: i32[4];
host out y: i32[9];
device d: i32[9];
kernel twice(x: inout i32[4]) grid(1) block(4) cuda { x[threadIdx.x] *= 2; }
@inplace kernel shift(n: i32, a: in i32[n], b: out i32[n]) grid(1) block(1)
cuda { for (int i = 0; i < n; ++i) b[i] = a[i] + 1; }
@cluster(2) kernel wide(g: i32, x: inout i32[1]) grid(g) block(1) cuda { atomicAdd(x, 1); }
graph main {
  twice(m);
  fill d <- 0;
  shift(8, d[0:8], d[1:9]);
  wide(8, d[0]);
  copy y <- d;
}
"""
        m, y = self.run_program(text, "m y", {"m": np.arange(4, dtype="i4")})
        np.testing.assert_array_equal(m, np.arange(4) * 2)
        np.testing.assert_array_equal(y, [8, 1, 2, 3, 4, 5, 6, 7, 8])
        odd = self.write("odd.cgraph", text.replace("wide(8,", "wide(7,"))
        done = self.cgrun(odd, "--in", "m=iota", status=1)
        self.assertRegex(done.stderr, r"odd\.cgraph:13:3: error: .*grid\.x is 7.*cluster.*\[geometry\]")

    def test_arguments_of_every_size_arrive(self):
        text = """
param a: u8 = 250; param b: f64 = 0.1; param c: u16 = 65535; param d: i64 = -9007199254740993; param e: u8 = 1;
host out y: f64[3]; host out z: i64[2];
device f: f64[3]; device i: i64[2];
kernel echo(a: u8, b: f64, c: u16, d: i64, e: u8, f: out f64[3], i: out i64[2]) grid(1) block(1)
cuda { f[0] = a; f[1] = b; f[2] = c; i[0] = d; i[1] = e; }
graph main { echo(a, b, c, d, e, f, i); copy y <- f; copy z <- i; }
"""
        y, z = self.run_program(text, "y z")
        np.testing.assert_array_equal(y, [250, 0.1, 65535])
        np.testing.assert_array_equal(z, [-9007199254740993, 1])
        changed = ("--set", "b=-2.5", "--set", "d=9223372036854775807", "--set", "e=255")
        y, z = self.run_program(text, "y z", options=changed)
        np.testing.assert_array_equal(y, [250, -2.5, 65535])
        np.testing.assert_array_equal(z, [9223372036854775807, 255])

    def test_geometry_beyond_the_limits(self):
        """Found when compiled where the sizes are constant, and when launched where they are not."""
        kernel = "kernel k({p}x: out f32[1]) grid({gx}, {gy}) block({bx}, {by}, {bz}) cuda {{ }}\n"
        normal = {"gx": 1, "gy": 1, "bx": 1, "by": 1, "bz": 1}
        for changes, message in (
            ({"gy": 65536}, "grid.y is 65536; the limit is 65535"),
            ({"bx": 1025}, "block.x is 1025; the limit is 1024"),
            ({"bx": 32, "by": 32, "bz": 2}, "the block has 2048 threads; the limit is 1024"),
            ({"gx": -1}, "grid.x is -1; it must be at least 0"),
        ):
            with self.subTest(message):
                wrong = normal | changes
                program = "device x: f32[1];\n" + kernel.format(p="", **wrong)
                program += "graph main { k(x); }\n"
                done = self.cgrun(self.write("c.cgraph", program), status=1)
                self.assertRegex(done.stderr, rf"c\.cgraph:3:14: error: .*{message}.*\[geometry\]")
                program = "".join(f"param {name}: i32 = 1;\n" for name in wrong)
                program += "device x: f32[1];\n"
                program += kernel.format(
                    p="".join(f"{name}: i32, " for name in wrong), **{name: name for name in wrong}
                )
                program += f"graph main {{ k({', '.join(wrong)}, x); }}\n"
                self.cgrun(self.write("p.cgraph", program))
                options = [word for it in wrong.items() for word in ("--set", f"{it[0]}={it[1]}")]
                done = self.cgrun("p.cgraph", *options, status=1)
                self.assertIn(message, done.stderr)
                self.assertIn("p.cgraph:8:14: error: ", done.stderr)

    def test_values_convert_as_they_should(self):
        good = "kernel k(a: f32, x: out f32[1]) grid(1) block(1) cuda { x[0] = a; }\nhost out y: f32[1];\n"
        good += "device d: f32[1];\ngraph main { k(2.0, d); copy y <- d; }\n"
        self.assertEqual(self.run_program(good, "y")[0], np.float32(2))
        for argument, slug in (("i64(1) << 40", "range"), ("1.5", "type")):
            bad = f"kernel k(a: i32) grid(1) block(1) cuda {{ }}\ngraph main {{ k({argument}); }}\n"
            done = self.cgrun(self.write("bad.cgraph", bad), status=1)
            self.assertRegex(done.stderr, rf"bad\.cgraph:2:16: error: .*\[{slug}\]")


class StridedTest(LanguageTest):
    def box(self, generator, shape):
        """A random box as text and as NumPy's index; sometimes it drops dimensions or is empty."""
        words, index = [], []
        for extent in shape:
            begin = generator.randrange(extent)
            end = begin + generator.randrange(1 if generator.random() < 0.95 else 0, extent - begin + 1)
            kind = generator.random()
            if kind < 0.2:
                words.append(":")
                index.append(slice(None))
            else:
                words.append(f"{begin}:{end}")
                index.append(slice(begin, end))
        return f"[{', '.join(words)}]", tuple(index)

    def test_fills_of_boxes_of_every_type(self):
        for name, code in TYPES.items():
            generator = random.Random(name)
            for shape in ((9,), (5, 7), (3, 4, 5)):
                with self.subTest(name, shape=shape):
                    wanted = np.zeros(shape, code)
                    statements = ""
                    for value in range(1, 9):
                        text, index = self.box(generator, shape)
                        value = value % 2 if name == "bool" else value
                        wanted[index] = value
                        statements += f"  fill d{text} <- {value};\n"
                    extents = ", ".join(map(str, shape))
                    program = (
                        f"device d: {name}[{extents}];\nhost out y: {name}[{extents}];\n"
                        f"graph main {{\n  fill d <- 0;\n{statements}  copy y <- d;\n}}\n"
                    )
                    np.testing.assert_array_equal(self.run_program(program, "y"), wanted)

    def test_copies_of_boxes_of_every_type(self):
        for name, code in TYPES.items():
            generator = random.Random(name + "copy")
            shape = (4, 5, 6)
            with self.subTest(name):
                x = np.random.default_rng(3).integers(0, 2 if name == "bool" else 100, shape).astype(code)
                wanted = np.zeros(shape, code)
                statements = ""
                for _ in range(12):
                    text, index = self.box(generator, shape)
                    counts = [len(range(*it.indices(n))) for it, n in zip(index, shape)]
                    to = [generator.randrange(n - count + 1) for n, count in zip(shape, counts)]
                    target = ", ".join(f"{b}:{b + c}" for b, c in zip(to, counts))
                    wanted[tuple(slice(b, b + c) for b, c in zip(to, counts))] = x[index]
                    statements += f"  copy e[{target}] <- d{text};\n"
                program = (
                    f"host in x: {name}[4, 5, 6];\ndevice d, e: {name}[4, 5, 6];\n"
                    f"host out y: {name}[4, 5, 6];\n"
                    f"graph main {{\n  copy d <- x;\n  fill e <- 0;\n{statements}  copy y <- e;\n}}\n"
                )
                np.testing.assert_array_equal(self.run_program(program, "y", {"x": x}), wanted)

    def test_a_small_box_out_of_a_cube(self):
        x = np.arange(64, dtype="i4").reshape(4, 4, 4)
        program = """
param z: i32 = 3;
host in x: i32[4, 4, 4];
host out y: i32[1, 3, 3];
device d: i32[4, 4, 4];
device t: i32[1, 3, 3];
graph main { copy d <- x; fill t <- -1; copy t <- d[z:z + 1, 0:3, 1:4]; copy y <- t; }
"""
        np.testing.assert_array_equal(self.run_program(program, "y", {"x": x}), x[3:4, 0:3, 1:4])
        done = self.cgrun("p.cgraph", "--in", "x=iota", "--set", "z=4", status=1)
        self.assertRegex(done.stderr, r"p\.cgraph:7:41: error: .*\[range\]")

    def test_widths_by_params(self):
        program = """
param w: i32 = 2; param at: i32 = 1; param value: i16 = 7;
host out y: i16[4, 8];
device d: i16[4, 8];
graph main { fill d <- -1; fill d[1:3, at:at + w] <- value; copy y <- d; }
"""
        for w, at, value in ((2, 1, 7), (0, 8, 1), (8, 0, -5), (1, 7, 0)):
            wanted = np.full((4, 8), -1, "i2")
            wanted[1:3, at : at + w] = value
            options = ("--set", f"w={w}", "--set", f"at={at}", "--set", f"value={value}")
            np.testing.assert_array_equal(self.run_program(program, "y", options=options), wanted)


class ModuleTest(LanguageTest):
    def test_imports_by_path_name_and_folder(self):
        (self.folder / "lib" / "deep").mkdir(parents=True)
        self.write("lib/base.cgraph", "const SCALE = 3;\n" + ADD_ONE)
        self.write("lib/more.cgraph", 'import "base.cgraph" as b;\n'
                   "def both(k: i32, x: inout f32[k]) { b.inc(k, x); fill x[0] <- b.SCALE; }\n"
                   "def copy(x: inout f32[4]) { both(4, x); }\n")  # fmt: skip
        text = """
import "more.cgraph";
import "base.cgraph" as plain;
const SCALE = 10;
host out y: f32[4];
device d: f32[4];
graph main { fill d <- SCALE; more.copy(d); plain.inc(3, d[1:4]); copy y <- d; }
"""
        self.run_tool(harness.CGC, self.write("p.cgraph", text), "--emit=check", status=1)
        bundle = self.path("p.cgb")
        self.run_tool(
            harness.CGC, "p.cgraph", "-I", "nowhere", "-I", "lib", "-D", "SCALE=20",
            f"--target={harness.DEVICE}", "-o", bundle,
        )  # fmt: skip
        self.cgrun(bundle, "--out", "y=y.npy")
        np.testing.assert_array_equal(np.load(self.path("y.npy")), [3, 22, 22, 22])

    def test_blas1_and_reduce(self):
        for name, code, tolerance in (("f32", "f4", 2e-5), ("f64", "f8", 1e-12)):
            text = f"""
import std.blas1;
import std.reduce;
param n: i64 = 1;
host in hx: {name}[n]; host in hy: {name}[n];
host out ox: {name}[n]; host out oy: {name}[n]; host out oz: {name}[n];
host out scalars: {name}[6];
device x, y, z: {name}[n];
device s: {name}[6];
device parts: {name}[2, 64];
graph main {{
  copy x <- hx; copy y <- hy;
  blas1.dot(n, x, y, s[0]);
  blas1.dot_parts(n, 64, x, y, parts[0]);
  reduce.sum(64, parts[0], s[1]);
  reduce.sum(n, x, s[2]);
  reduce.max(n, x, s[3]);
  reduce.sum_parts(n, 64, y, parts[1]);
  reduce.sum(64, parts[1], s[4]);
  reduce.max_parts(n, 64, y, parts[0]);
  reduce.max(64, parts[0], s[5]);
  blas1.copy(n, x, z);
  blas1.scale(n, 0.5, z);
  blas1.axpy(n, -2, x, y);
  copy ox <- x; copy oy <- y; copy oz <- z; copy scalars <- s;
}}
"""
            bundle = self.bundle(self.write(f"{name}.cgraph", text))
            for n in (0, 1, 255, 256, 257, 100000):
                with self.subTest(name, n=n):
                    generator = np.random.default_rng(n)
                    x = generator.standard_normal(n).astype(code)
                    y = generator.standard_normal(n).astype(code)
                    np.save(self.path("x.npy"), x)
                    np.save(self.path("y.npy"), y)
                    outs = [w for b in ("oy", "oz", "scalars") for w in ("--out", f"{b}={b}.npy")]
                    self.cgrun(
                        bundle, "--set", f"n={n}", "--in", "hx=x.npy", "--in", "hy=y.npy", *outs,
                        "--out", "ox=ox.npy",
                    )  # fmt: skip
                    x8, y8 = x.astype("f8"), y.astype("f8")
                    most = lambda v: v.max() if n else -np.inf
                    wanted = [x8 @ y8, x8 @ y8, x8.sum(), most(x8), y8.sum(), most(y8)]
                    scale = tolerance * max(1.0, np.sqrt(n))
                    got = np.load(self.path("scalars.npy"))
                    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=scale)
                    np.testing.assert_array_equal(np.load(self.path("oz.npy")), x * x.dtype.type(0.5))
                    np.testing.assert_allclose(
                        np.load(self.path("oy.npy")), y8 - 2 * x8, rtol=tolerance, atol=tolerance
                    )


if __name__ == "__main__":
    harness.main()
