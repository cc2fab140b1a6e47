"""The examples against NumPy: on the host device under 20 orders, on a GPU as it comes."""

import itertools
import os
import pathlib
import unittest

import harness
import numpy as np

DATA = os.environ.get("CGRAPH_TEST_DATA")
ON_GPU = harness.DEVICE == "cuda"
ORDERS = range(1) if ON_GPU else harness.SEEDS


class SaxpyTest(harness.ToolTest):
    SOURCE = harness.EXAMPLES / "saxpy.cgraph"

    def test_against_numpy(self):
        bundle = self.bundle(self.SOURCE)
        for seed in ORDERS:
            with self.subTest(seed=seed):
                generator = np.random.default_rng(seed)
                n = int(generator.integers(1, 100_000))
                a = np.float32(generator.normal())
                x, y = generator.normal(size=(2, n)).astype("f4")
                np.save(self.path("x.npy"), x)
                np.save(self.path("y.npy"), y)
                self.cgrun(
                    bundle, "--set", f"n={n}", "--set", f"a={a!s}", "--in", "hx=x.npy",
                    "--in", "hy=y.npy", "--out", "hy=out.npy", "--seed", seed,
                )  # fmt: skip
                result = np.load(self.path("out.npy"))
                self.assertEqual(result.dtype, np.dtype("f4"))
                # A device may fuse the product and the sum, which is exact to one rounding.
                exact = a.astype("f8") * x.astype("f8") + y.astype("f8")
                bound = 2.0**-23 * (np.abs(a * x) + np.abs(y) + np.abs(exact))
                self.assertTrue((np.abs(result - exact) <= bound).all())

    def test_known_result_and_report(self):
        report = self.cgrun_json(self.SOURCE, "--in", "hx=iota", "--in", "hy=ones")
        n = 1 << 20
        output = report["outputs"]["hy"]
        self.assertEqual((output["dtype"], output["shape"]), ("f32", [n]))
        self.assertEqual((output["min"], output["max"], output["mean"]), (1, 2 * n - 1, n))
        self.assertEqual(set(report), {"device", "graph", "nodes", "edges", "times_us", "outputs"})
        self.assertEqual(
            set(report["times_us"]), {"compile", "load", "build", "instantiate", "launch", "total"}
        )
        self.assertTrue(report["device"].startswith(harness.DEVICE))
        # Two copies in, one kernel after both, one copy out.
        self.assertEqual((report["graph"], report["nodes"], report["edges"]), ("main", 4, 3))

    def test_repeated_launches_keep_memory(self):
        """y is copied in at each launch and out again, so that it grows by 2x each time."""
        report = self.cgrun_json(
            self.SOURCE, "--set", "n=10", "--in", "hx=iota", "--in", "hy=zeros", "--repeat", 5
        )
        self.assertEqual(report["outputs"]["hy"]["max"], 5 * 2 * 9)

    def test_zero_elements(self):
        report = self.cgrun_json(self.SOURCE, "--set", "n=0", "--in", "hx=iota", "--in", "hy=ones")
        self.assertEqual(report["outputs"]["hy"]["shape"], [0])


class AbcTest(harness.ToolTest):
    SOURCE = harness.EXAMPLES / "abc.cgraph"
    REPLAYS = 100

    def expected(self, x, a, b, c):
        """Each step is one rounding in float32, as in the kernels."""
        for _ in range(self.REPLAYS):
            x = ((x + a) * b) + -c
        return x

    def test_against_numpy(self):
        bundle = self.bundle(self.SOURCE)
        for seed in ORDERS:
            with self.subTest(seed=seed):
                generator = np.random.default_rng(seed)
                n = int(generator.integers(1, 10_000))
                a, b, c = generator.uniform(0.9, 1.1, 3).astype("f4")
                x = generator.normal(size=n).astype("f4")
                np.save(self.path("x.npy"), x)
                params = {"n": n, "a": a, "b": b, "c": c}
                sets = [word for name in params for word in ("--set", f"{name}={params[name]!s}")]
                self.cgrun(
                    bundle, *sets, "--in", "x=x.npy", "--out", "x=out.npy",
                    "--repeat", self.REPLAYS, "--seed", seed,
                )  # fmt: skip
                np.testing.assert_array_equal(
                    np.load(self.path("out.npy")), self.expected(x, a, b, c)
                )

    def test_nodes_stand_in_a_row(self):
        report = self.cgrun_json(self.SOURCE, "--in", "x=iota", "--repeat", self.REPLAYS)
        self.assertEqual((report["nodes"], report["edges"]), (3, 2))


class ProductsTest:
    """What the two ways to write a batch of products share."""

    # Around a block's tile, rows that no vector load fits, and nothing to add up.
    SIZES = [
        (1, 1, 1), (128, 128, 8), (129, 127, 9), (127, 132, 16), (130, 260, 64), (7, 301, 33),
        (257, 5, 3), (64, 64, 100), (2, 3, 260), (31, 200, 0),
    ]  # fmt: skip

    def products(self, bundle, batch, m, n, k, seed):
        """Random A and B and what the program makes of them."""
        generator = np.random.default_rng(seed)
        a = generator.normal(size=(batch, m, k)).astype("f4")
        b = generator.normal(size=(k, n)).astype("f4")
        np.save(self.path("a.npy"), a)
        np.save(self.path("b.npy"), b)
        self.cgrun(
            bundle, "--set", f"m={m}", "--set", f"n={n}", "--set", f"k={k}", "--seed", seed,
            "--in", "ha=a.npy", "--in", "hb=b.npy", "--out", "hc=c.npy",
        )  # fmt: skip
        c = np.load(self.path("c.npy"))
        self.assertEqual((c.dtype, c.shape), (np.dtype("f4"), (batch, m, n)))
        return a, b, c

    def assert_products(self, a, b, c):
        """Every sum of k products, in any order, is within k + 1 roundings of the exact one."""
        a, b = a.astype("f8"), b.astype("f8")
        bound = (b.shape[0] + 1) * 2.0**-24 * (np.abs(a) @ np.abs(b))
        self.assertTrue((np.abs(c - a @ b) <= bound).all())

    def test_against_numpy(self):
        bundle = self.bundle(self.SOURCE, "-D", "BATCH=4")
        for seed, (m, n, k) in enumerate(self.SIZES):
            with self.subTest(m=m, n=n, k=k):
                self.assert_products(*self.products(bundle, 4, m, n, k, seed))

    def test_random_orders(self):
        bundle = self.bundle(self.SOURCE, "-D", "BATCH=7")
        for seed in ORDERS:
            with self.subTest(seed=seed):
                self.assert_products(*self.products(bundle, 7, 20, 30, 10, seed))

    @unittest.skipUnless(ON_GPU, "full size takes a GPU")
    def test_full_size(self):
        a, b, c = self.products(self.bundle(self.SOURCE), 100, 1024, 1024, 512, 1)
        generator = np.random.default_rng(2)
        for i in range(100):
            rows = generator.choice(1024, 16, replace=False)
            self.assert_products(a[i, rows], b, c[i, rows])


class GemmBatchTest(ProductsTest, harness.ToolTest):
    SOURCE = harness.EXAMPLES / "gemm_batch.cgraph"

    def test_products_wait_for_their_own_operands_alone(self):
        batch = 100
        expected = []
        for copy_in in range(1, 3 * batch, 3):
            gemm, copy_out = copy_in + 1, copy_in + 2
            expected += [(0, gemm), (copy_in, gemm), (gemm, copy_out)]
        self.assertEqual(self.edges(self.SOURCE), sorted(expected))


class StreamsPoolTest(ProductsTest, harness.ToolTest):
    SOURCE = harness.EXAMPLES / "streams_pool.cgraph"

    def test_each_stream_is_a_chain_behind_the_fork(self):
        expected = []
        for i in range(100):
            first = 1 + 3 * i  # the copy in of product i
            expected.append((0 if i < 8 else first - 3 * 8 + 2, first))
            expected += [(first, first + 1), (first + 1, first + 2)]
        self.assertEqual(self.edges(self.SOURCE), sorted(expected))

    def test_each_wait_is_needed(self):
        text = self.SOURCE.read_text()
        self.assertIn("{ wait fork; }", text)
        unordered = self.write("p.cgraph", text.replace("{ wait fork; }", "{ }"))
        kernels = str(harness.EXAMPLES)
        said = self.run_tool(
            harness.CGC, unordered, "-I", kernels, "--emit=check", status=1
        ).stderr
        self.assertIn("which both touch b, and at least one writes it; add `record e;` after", said)
        self.assertEqual(said.count("[race]"), 1)  # once for all products


class SobelTest(harness.ToolTest):
    SOURCE = harness.EXAMPLES / "sobel.cgraph"
    SIZES = [(1, 1), (1, 50), (50, 1), (2, 2), (16, 16), (17, 15), (33, 47), (128, 31), (200, 333)]

    def expected(self, image):
        """The two correlations, term by term."""
        h, w = image.shape
        around = np.pad(image.astype(int), 1, mode="edge")
        weights = np.outer([1, 2, 1], [-1, 0, 1])
        gx, gy = np.zeros((2, h, w), int)
        for y, x in itertools.product(range(3), repeat=2):
            gx += weights[y, x] * around[y : y + h, x : x + w]
            gy += weights[x, y] * around[y : y + h, x : x + w]
        return np.minimum(np.abs(gx) + np.abs(gy), 255).astype("u1")

    def check(self, bundle, image, seed):
        h, w = image.shape
        np.save(self.path("image.npy"), image)
        self.cgrun(
            bundle, "--set", f"h={h}", "--set", f"w={w}", "--seed", seed,
            "--in", "himage=image.npy", "--out", "hedges=edges.npy",
        )  # fmt: skip
        result = np.load(self.path("edges.npy"))
        self.assertEqual(result.dtype, np.dtype("u1"))
        np.testing.assert_array_equal(result, self.expected(image))

    def test_against_numpy(self):
        bundle = self.bundle(self.SOURCE)
        for seed, size in enumerate(self.SIZES):
            with self.subTest(size=size):
                # Wide enough to be cut off at 255, narrow enough not to be everywhere.
                image = np.random.default_rng(seed).integers(0, 100, size).astype("u1")
                self.check(bundle, image, seed)

    @unittest.skipUnless(DATA, "CGRAPH_TEST_DATA names no folder")
    def test_photograph(self):
        bundle = self.bundle(self.SOURCE)
        image = np.load(pathlib.Path(DATA) / "camera_u8.npy")
        for seed in ORDERS:
            with self.subTest(seed=seed):
                self.check(bundle, image, seed)


class PipelineChunksTest(harness.ToolTest):
    SOURCE = harness.EXAMPLES / "pipeline_chunks.cgraph"
    CHUNKS = 16

    def check(self, bundle, chunk, seed):
        x = np.random.default_rng(seed).normal(scale=10, size=self.CHUNKS * chunk).astype("f4")
        np.save(self.path("x.npy"), x)
        self.cgrun(
            bundle, "--set", f"chunk={chunk}", "--seed", seed, "--repeat", 2,
            "--in", "hx=x.npy", "--out", "hy=y.npy",
        )  # fmt: skip
        y = np.load(self.path("y.npy"))
        self.assertEqual((y.dtype, y.shape), (np.dtype("f4"), x.shape))
        # Two roundings, each 2^-24, and a little for their product.
        exact = x.astype("f8") / (1 + np.abs(x.astype("f8")))
        self.assertTrue((np.abs(y - exact) <= 2.0**-22.99 * np.abs(exact)).all())

    def test_against_numpy(self):
        bundle = self.bundle(self.SOURCE)
        for chunk in (1, 255, 256, 257, 1000):
            with self.subTest(chunk=chunk):
                self.check(bundle, chunk, chunk)

    def test_random_orders(self):
        bundle = self.bundle(self.SOURCE)
        for seed in ORDERS:
            with self.subTest(seed=seed):
                self.check(bundle, 100 + seed, seed)

    def test_full_size(self):
        self.check(self.bundle(self.SOURCE), 1 << 20, 1)

    def test_a_slot_is_filled_again_once_it_was_read(self):
        expected = []
        for i in range(self.CHUNKS):
            copy_in, kernel, copy_out = range(3 * i, 3 * i + 3)
            expected += [(copy_in, kernel), (kernel, copy_out)]
            if i + 2 < self.CHUNKS:
                expected += [(kernel, copy_in + 6), (copy_out, kernel + 6)]
        self.assertEqual(self.edges(self.SOURCE), sorted(expected))


if __name__ == "__main__":
    harness.main()
