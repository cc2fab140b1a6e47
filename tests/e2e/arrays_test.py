"""Arrays through cgrun and back: every type, layout and source, against NumPy."""

import hashlib

import harness
import numpy as np

TYPES = {
    "bool": "?", "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2", "i32": "i4", "u32": "u4",
    "i64": "i8", "u64": "u8", "f16": "f2", "f32": "f4", "f64": "f8",
}  # fmt: skip

COPY = """
host in  a: {type}[3, 4];
host out b: {type}[3, 4];
device   d: {type}[3, 4];
graph main {{
  copy d <- a;
  copy b <- d;
}}
"""


def splitmix64(seed, count):
    """The generator's first outputs, as in its public definition."""
    mask = (1 << 64) - 1
    outputs = []
    for i in range(1, count + 1):
        z = (seed + i * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        outputs.append(z ^ (z >> 31))
    return np.array(outputs, dtype=np.uint64)


class ArraysTest(harness.ToolTest):
    def copied(self, element_type, source):
        """What a program that copies `source` through the device gives, and its report."""
        program = self.write("copy.cgraph", COPY.format(type=element_type))
        report = self.cgrun_json(program, "--in", f"a={source}", "--out", "b=b.npy")
        return np.load(self.path("b.npy")), report["outputs"]["b"]

    def test_every_type_comes_back(self):
        generator = np.random.default_rng(1)
        for name, code in TYPES.items():
            with self.subTest(name):
                values = generator.integers(0, 2 if name == "bool" else 100, (3, 4)).astype(code)
                np.save(self.path("a.npy"), values)
                result, summary = self.copied(name, "a.npy")
                self.assertEqual(result.dtype, values.dtype)
                np.testing.assert_array_equal(result, values)
                self.assertEqual(summary["dtype"], name)
                self.assertEqual(summary["shape"], [3, 4])
                self.assertEqual(summary["min"], float(values.min()))
                self.assertEqual(summary["max"], float(values.max()))
                self.assertAlmostEqual(summary["mean"], values.astype("f8").mean())
                self.assertEqual(summary["sha256"], hashlib.sha256(values.tobytes()).hexdigest())

    def test_bf16_travels_as_its_bits(self):
        values = np.arange(12, dtype="u2").reshape(3, 4) + 0x3F80
        np.save(self.path("a.npy"), values)
        result, summary = self.copied("bf16", "a.npy")
        np.testing.assert_array_equal(result, values)
        self.assertEqual((summary["min"], summary["max"]), (1.0, 1.0 + 11 / 128))

    def test_fortran_order_and_version_2(self):
        values = np.arange(12, dtype="f4").reshape(3, 4)
        np.save(self.path("a.npy"), np.asfortranarray(values))
        np.testing.assert_array_equal(self.copied("f32", "a.npy")[0], values)
        with open(self.path("a.npy"), "wb") as file:
            np.lib.format.write_array(file, values, version=(2, 0))
        np.testing.assert_array_equal(self.copied("f32", "a.npy")[0], values)

    def test_made_sources(self):
        iota, summary = self.copied("i16", "iota")
        np.testing.assert_array_equal(iota, np.arange(12, dtype="i2").reshape(3, 4))
        self.assertEqual((summary["min"], summary["max"], summary["mean"]), (0, 11, 5.5))
        for source, value in {"ones": 1, "zeros": 0, "-2.5": -2.5, "1e3": 1000}.items():
            np.testing.assert_array_equal(self.copied("f64", source)[0], np.full((3, 4), value))

    def test_random_is_splitmix64(self):
        outputs = splitmix64(7, 12).reshape(3, 4)
        np.testing.assert_array_equal(self.copied("u64", "random:7")[0], outputs)
        top_bytes = (outputs >> np.uint64(56)).astype("u1").view("i1")
        np.testing.assert_array_equal(self.copied("i8", "random:7")[0], top_bytes)
        doubles = (outputs >> np.uint64(11)).astype("f8") * 2.0**-53
        np.testing.assert_array_equal(self.copied("f64", "random:7")[0], doubles)

    def test_text_output(self):
        program = self.write("copy.cgraph", COPY.format(type="f32"))
        done = self.cgrun(program, "--in", "a=iota", "--out", "b=-")
        self.assertEqual(done.stdout, "# b f32[3, 4]\n0 1 2 3\n4 5 6 7\n8 9 10 11\n")
        self.assertIn("graph main on", done.stderr)

    def test_nan_and_infinity_are_valid_json(self):
        values = np.zeros((3, 4), dtype="f4")
        values[1, 2] = -np.inf
        np.save(self.path("a.npy"), values)
        self.assertEqual(self.copied("f32", "a.npy")[1]["min"], "-inf")
        values[0, 0] = np.nan
        np.save(self.path("a.npy"), values)
        summary = self.copied("f32", "a.npy")[1]
        self.assertEqual((summary["min"], summary["mean"]), ("nan", "nan"))

    def test_empty_buffers(self):
        program = self.write(
            "empty.cgraph",
            "param n: i32; host in a: f32[n]; host out b: f32[n]; graph main { copy b <- a; }",
        )
        report = self.cgrun_json(program, "--set", "n=0", "--in", "a=iota", "--out", "b=b.npy")
        self.assertEqual(np.load(self.path("b.npy")).shape, (0,))
        self.assertIsNone(report["outputs"]["b"]["mean"])


if __name__ == "__main__":
    harness.main()
