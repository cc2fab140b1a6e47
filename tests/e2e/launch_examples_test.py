"""The examples in which kernels launch graphs, against NumPy and against the versions with loops.

On the host device under 20 orders, on a GPU as it comes.
"""

import control_examples_test as control
import harness
import numpy as np

ORDERS = control.ORDERS


class DecodeDeviceTest(control.DecodeLoopTest):
    """The same model, limits and stops as the version with `while`."""

    EXAMPLE = "decode_device"


class CompressDispatchTest(control.ExampleTest):
    EXAMPLE = "compress_dispatch"

    def check(self, bundle, x, **options):
        x = np.array(x, "i4")
        kind, base, narrow, wide = self.compute(
            bundle, {"hx": x}, "hkind hbase hnarrow hwide", n=len(x), **options
        )
        extent = int(x.max()) - int(x.min())
        self.assertEqual(kind[0], 0 if extent == 0 else 1 if extent < 256 else 2)
        self.assertEqual(base[0], x.min())
        if kind[0] == 1:
            values = narrow.view("u1").astype("i8")[: len(x)] + int(base[0])
            np.testing.assert_array_equal(values, x)
        else:
            self.assertFalse(narrow.any(), "this encoder was not started")
        np.testing.assert_array_equal(wide, x if kind[0] == 2 else np.zeros_like(x))

    def test_each_encoder(self):
        bundle = self.compiled()
        for seed in ORDERS:
            generator = np.random.default_rng(seed)
            n = int(generator.integers(1, 2000))
            for kind, x in enumerate(
                [np.full(n, 77), 1000 + generator.integers(0, 256, n), generator.integers(0, 1 << 30, n)]
            ):
                with self.subTest(seed=seed, kind=kind):
                    self.check(bundle, x, seed=seed, repeat=1 + seed % 2)


class SchedulerTest(control.ExampleTest):
    EXAMPLE = "scheduler"

    def expected(self, kinds, values):
        values = values.astype("u4")
        mixed = values * np.uint32(2654435761)
        turned = mixed << np.uint32(7) | mixed >> np.uint32(25)
        digits = np.array([sum(map(int, str(value))) for value in values], "u4")
        return np.choose(kinds, [values * values, turned, digits])

    def check(self, bundle, items, seed=0, **options):
        generator = np.random.default_rng(seed)
        kinds = generator.integers(0, 3, items).astype("i4")
        values = generator.integers(0, 1 << 31, items).astype("i4")
        (results,) = self.compute(
            bundle, {"hkinds": kinds, "hvalues": values}, "hresults", items=items, seed=seed, **options
        )
        np.testing.assert_array_equal(results, self.expected(kinds, values))

    def test_against_numpy(self):
        bundle = self.compiled()
        for seed in ORDERS:
            with self.subTest(seed=seed):
                self.check(bundle, [1, 2, 500, 37][seed % 4], seed, repeat=1 + seed % 3)

    def test_ten_thousand_items(self):
        self.check(self.compiled(), 10000)


class WorkQueueTest(control.ExampleTest):
    EXAMPLE = "work_queue"

    def expected(self, cost):
        """The sum of what the lanes of a block come to: each step is linear modulo 2^32."""
        value = np.arange(128, dtype="u4")[None, :] + np.arange(len(cost), dtype="u4")[:, None]
        for round_ in range(int(cost.max(initial=0))):
            more = (cost > round_)[:, None]
            value = np.where(more, value * np.uint32(1664525) + np.uint32(1013904223), value)
        return value.sum(axis=1, dtype="u4")

    def test_against_numpy(self):
        bundle = self.compiled()
        for seed, (items, blocks, batch) in enumerate([(1, 1, 1), (300, 7, 4), (100, 30, 64)]):
            with self.subTest(items=items):
                cost = np.random.default_rng(seed).integers(0, 60, items).astype("i4")
                fixed, queued = self.compute(
                    bundle, {"hcost": cost}, "hfixed hqueued",
                    items=items, blocks=blocks, batch=batch, seed=seed, repeat=2,
                )  # fmt: skip
                np.testing.assert_array_equal(fixed, self.expected(cost))
                np.testing.assert_array_equal(queued, self.expected(cost))


if __name__ == "__main__":
    harness.main()
