"""The examples against NumPy: on the host device under 20 orders, on a GPU as it comes."""

import harness
import numpy as np

ORDERS = harness.SEEDS if harness.DEVICE == "host" else range(1)


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


if __name__ == "__main__":
    harness.main()
