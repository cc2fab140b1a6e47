"""The examples with control flow against NumPy: how often the device went round, and what it made.

On the host device under 20 orders, on a GPU as it comes.
"""

import os
import pathlib
import unittest

import harness
import numpy as np

DATA = os.environ.get("CGRAPH_TEST_DATA")
ON_GPU = harness.DEVICE == "cuda"
ORDERS = range(1) if ON_GPU else harness.SEEDS


class ExampleTest(harness.ToolTest):
    """Runs the example that the class names."""

    EXAMPLE = None

    def compiled(self, *options):
        return self.bundle(harness.EXAMPLES / f"{self.EXAMPLE}.cgraph", *options)

    def compute(self, bundle, given, out, *, seed=0, repeat=1, status=0, **params):
        """The arrays left in the buffers named by `out`, or what a run says that must fail."""
        arguments = [bundle, "--seed", seed, "--repeat", repeat]
        for name, value in params.items():
            arguments += ["--set", f"{name}={value!s}"]
        for name, array in given.items():
            np.save(self.path(f"{name}.npy"), array)
            arguments += ["--in", f"{name}={name}.npy"]
        for name in out.split():
            arguments += ["--out", f"{name}={name}.out.npy"]
        done = self.cgrun(*arguments, status=status)
        if status:
            return done.stderr
        return [np.load(self.path(f"{name}.out.npy")) for name in out.split()]


class JacobiTest(ExampleTest):
    EXAMPLE = "jacobi"

    def sweep(self, u, f):
        """In float32 as the kernel does it; a quarter is exact: no device rounds otherwise."""
        v = u.copy()
        beside = u[1:-1, :-2] + u[1:-1, 2:]
        v[1:-1, 1:-1] = np.float32(0.25) * (beside + (u[:-2, 1:-1] + u[2:, 1:-1]) + f[1:-1, 1:-1])
        return v

    def expected(self, u, f, tolerance):
        """The solution, the sweeps, and the largest change after each look at it."""
        u, v = u, self.sweep(u, f)
        sweeps, changes = 1, [np.abs(v - u).max()]
        while changes[-1] > np.float32(tolerance):
            u = self.sweep(v, f)
            v = self.sweep(u, f)
            sweeps += 2
            changes.append(np.abs(v - u).max())
        return v, sweeps, changes

    def problem(self, h, w, seed=0):
        return np.random.default_rng(seed).uniform(-1, 1, (2, h, w)).astype("f4")

    def solve(self, bundle, u, f, **options):
        h, w = u.shape
        solution, sweeps = self.compute(
            bundle, {"hu": u, "hf": f}, "hu sweeps", h=h, w=w, **options
        )
        return solution, sweeps[0]

    def check(self, bundle, u, f, tolerance, **options):
        solution, sweeps = self.solve(bundle, u, f, tolerance=tolerance, **options)
        reference, count, _ = self.expected(u, f, tolerance)
        self.assertEqual(sweeps, count)
        np.testing.assert_array_equal(solution, reference)

    def test_against_numpy(self):
        bundle = self.compiled()
        sizes = [(1, 1), (1, 9), (2, 2), (3, 3), (3, 50), (16, 16), (17, 15), (18, 33), (40, 31)]
        for h, w in sizes:
            with self.subTest(h=h, w=w):
                self.check(bundle, *self.problem(h, w), 1e-4)

    def test_random_orders(self):
        bundle = self.compiled("-D", "PARTS=3")
        for seed in ORDERS:
            with self.subTest(seed=seed):
                self.check(bundle, *self.problem(19, 13 + seed, seed), 1e-2, seed=seed)

    def test_rounds_end_where_the_change_meets_the_tolerance(self):
        """None, one or two rounds, at tolerances met exactly and missed by one bit."""
        bundle = self.compiled()
        u, f = self.problem(12, 11)
        changes = self.expected(u, f, 1e-2)[2]
        for rounds in range(3):
            below = np.nextafter(changes[rounds], np.float32(0))
            for tolerance, more in [(changes[rounds], 0), (below, 2)]:
                with self.subTest(rounds=rounds, more=more):
                    self.check(bundle, u, f, tolerance)
                    _, sweeps = self.solve(bundle, u, f, tolerance=tolerance)
                    self.assertEqual(sweeps, 1 + 2 * rounds + more)

    def test_replay_goes_on_from_the_solution(self):
        bundle = self.compiled()
        u, f = self.problem(15, 14)
        first, _, _ = self.expected(u, f, 1e-3)
        again, count, _ = self.expected(first, f, 1e-3)
        solution, sweeps = self.solve(bundle, u, f, tolerance=1e-3, repeat=2)
        self.assertEqual(sweeps, count)
        np.testing.assert_array_equal(solution, again)

    def test_limit_is_reported_if_the_change_is_still_too_large(self):
        bundle = self.compiled()
        u, f = self.problem(12, 11)
        tolerance = 1e-2
        rounds = (self.expected(u, f, tolerance)[1] - 1) // 2
        self.check(bundle, u, f, tolerance, limit=rounds)
        size = {"h": 12, "w": 11, "tolerance": tolerance}
        for limit in (0, 1, rounds - 1):
            with self.subTest(limit=limit):
                said = self.compute(bundle, {"hu": u, "hf": f}, "hu", limit=limit, status=3, **size)
                self.assertRegex(said, rf"jacobi\.cgraph:\d+:\d+: error: .* {limit} iteration")

    def test_harmonic_function(self):
        """x y is its neighbours' mean: from zeros inside, sweeps lead back to it."""
        n = 17
        y, x = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 2, n), indexing="ij")
        exact = (x * y).astype("f4")
        u = exact.copy()
        u[1:-1, 1:-1] = 0
        solution, _ = self.solve(self.compiled(), u, np.zeros_like(u), tolerance=1e-5)
        slowest = np.cos(np.pi / (n - 1))  # what a sweep leaves of the slowest error
        self.assertLess(np.abs(solution - exact).max(), 2 * 1e-5 / (1 - slowest))


class CgTest(ExampleTest):
    EXAMPLE = "cg"

    def csr(self, a):
        """A dense matrix's nonzeros, row by row."""
        rows, columns = np.nonzero(a)
        begin = np.searchsorted(rows, np.arange(len(a) + 1))
        return begin.astype("i4"), columns.astype("i4"), a[rows, columns]

    def matrix(self, n, seed):
        """Sparse, symmetric, with a dominant diagonal of different sizes."""
        generator = np.random.default_rng(seed)
        a = np.where(generator.random((n, n)) < 3 / n, generator.normal(size=(n, n)), 0)
        a += a.T
        return a + np.diag(np.abs(a).sum(1) + generator.uniform(0.1, 10, n))

    def iterations(self, a, b, tolerance):
        """Of the same method, with NumPy's products."""
        r = b.copy()
        z = r / a.diagonal()
        p = z
        count = 0
        while r @ r > tolerance**2 * (b @ b):
            q = a @ p
            rz = r @ z
            r = r - rz / (p @ q) * q
            z = r / a.diagonal()
            p = z + (r @ z) / rz * p
            count += 1
        return count

    def solve(self, bundle, begin, column, value, b, **options):
        """x and the number of iterations."""
        given = {"hbegin": begin, "hcolumn": column, "hvalue": value, "hb": b}
        x, count = self.compute(
            bundle, given, "hx iterations", n=len(b), nonzeros=len(column), **options
        )
        return x, count[0]

    def assert_solves(self, a, b, x, tolerance):
        # The residual that the loop carries along drifts a little from the true one.
        bound = 1.01 * tolerance * np.linalg.norm(b) + 1e-14
        self.assertLessEqual(np.linalg.norm(b - a @ x), bound)

    def test_against_numpy(self):
        bundle = self.compiled()
        for seed, n in enumerate([1, 2, 3, 31, 128, 129, 200]):
            with self.subTest(n=n):
                a = self.matrix(n, seed)
                b = np.random.default_rng(seed).normal(size=n)
                x, count = self.solve(bundle, *self.csr(a), b)
                self.assert_solves(a, b, x, 1e-10)
                self.assertLessEqual(abs(int(count) - self.iterations(a, b, 1e-10)), 1)

    def test_random_orders_and_replay(self):
        bundle = self.compiled()
        a = self.matrix(50, 1)
        b = np.random.default_rng(1).normal(size=50)
        first = self.solve(bundle, *self.csr(a), b, tolerance=1e-6)
        self.assert_solves(a, b, first[0], 1e-6)
        for seed in ORDERS:
            with self.subTest(seed=seed):
                x, count = self.solve(
                    bundle, *self.csr(a), b, tolerance=1e-6, seed=seed, repeat=1 + seed % 2
                )
                np.testing.assert_array_equal(x, first[0])
                self.assertEqual(count, first[1])

    def test_no_iteration_and_one(self):
        bundle = self.compiled()
        a = np.diag(np.arange(1.0, 8))
        x, count = self.solve(bundle, *self.csr(a), np.zeros(7))
        self.assertEqual(count, 0)
        np.testing.assert_array_equal(x, np.zeros(7))
        x, count = self.solve(bundle, *self.csr(a), np.arange(1.0, 8)[::-1].copy())
        self.assertEqual(count, 1)
        np.testing.assert_allclose(x, np.arange(1.0, 8)[::-1] / np.arange(1.0, 8), rtol=1e-15)

    def test_limit_is_reported(self):
        bundle = self.compiled()
        a = self.matrix(40, 3)
        begin, column, value = self.csr(a)
        given = {"hbegin": begin, "hcolumn": column, "hvalue": value, "hb": np.ones(40)}
        size = {"n": 40, "nonzeros": len(column)}
        said = self.compute(bundle, given, "hx", limit=3, status=3, **size)
        self.assertRegex(said, r"cg\.cgraph:\d+:\d+: error: .* 3 iterations")

    def test_defaults_take_generated_inputs(self):
        report = self.cgrun_json(
            self.compiled(), "--in", "hbegin=iota", "--in", "hcolumn=iota", "--in", "hvalue=2",
            "--in", "hb=iota",
        )  # fmt: skip
        self.assertEqual(report["outputs"]["hx"]["max"], 999 / 2)

    @unittest.skipUnless(DATA, "CGRAPH_TEST_DATA names no folder")
    def test_stiffness_matrix(self):
        names = ["rowptr_i32", "col_i32", "val_f64", "rhs_f64"]
        begin, column, value, b = (
            np.load(pathlib.Path(DATA) / f"bcsstk09_{name}.npy") for name in names
        )
        x, count = self.solve(self.compiled(), begin, column, value, b)
        self.assertLessEqual(abs(int(count) - 192), 5)
        self.assertLess(np.abs(x - 1).max(), 1e-7)
        rows = np.repeat(np.arange(len(b)), np.diff(begin))
        residual = b - np.bincount(rows, value * x[column], len(b))
        self.assertLess(np.linalg.norm(residual), 1.01e-10 * np.linalg.norm(b))


class BfsTest(ExampleTest):
    EXAMPLE = "bfs"

    def expected(self, begin, target, root):
        """With a queue, vertex by vertex."""
        level = np.full(len(begin) - 1, -1, "i4")
        level[root] = 0
        queue = [root]
        for v in queue:
            for w in target[begin[v] : begin[v + 1]]:
                if level[w] < 0:
                    level[w] = level[v] + 1
                    queue.append(w)
        return level

    def search(self, bundle, begin, target, root=0, **options):
        level, rounds = self.compute(
            bundle, {"hbegin": begin, "htarget": target}, "hlevel rounds",
            n=len(begin) - 1, edges=len(target), root=root, **options,
        )  # fmt: skip
        # The last round is the one that finds nothing.
        self.assertEqual(rounds[0], level.max() + 1)
        return level

    def check(self, bundle, begin, target, root=0, **options):
        level = self.search(bundle, begin, target, root, **options)
        np.testing.assert_array_equal(level, self.expected(begin, target, root))

    def random_graph(self, n, edges, seed):
        """Directed, with loops, double edges, and vertices that no path reaches."""
        generator = np.random.default_rng(seed)
        begin = np.searchsorted(np.sort(generator.integers(0, n, edges)), np.arange(n + 1))
        return begin.astype("i4"), generator.integers(0, n, edges, "i4")

    def test_against_a_queue(self):
        bundle = self.compiled()
        for seed in ORDERS:
            with self.subTest(seed=seed):
                n = int(np.random.default_rng(seed).integers(1, 600))
                graph = self.random_graph(n, 2 * n, seed)
                self.check(bundle, *graph, root=n // 2, seed=seed, repeat=1 + seed % 2)

    def test_small_graphs(self):
        bundle = self.compiled()
        self.check(bundle, np.zeros(2, "i4"), np.zeros(0, "i4"))
        self.check(bundle, np.zeros(130, "i4"), np.zeros(0, "i4"), root=128)
        self.check(bundle, np.arange(2, dtype="i4"), np.zeros(1, "i4"))

    def test_one_round_a_vertex(self):
        """A path, walked from its start, its end, and its middle."""
        bundle = self.compiled()
        n = 131
        begin = np.minimum(np.arange(n + 1), n - 1).astype("i4")
        for root in (0, n - 1, n // 2):
            with self.subTest(root=root):
                level = self.search(bundle, begin, np.arange(1, n, dtype="i4"), root)
                np.testing.assert_array_equal(level, np.maximum(np.arange(n) - root, -1))

    def test_defaults_take_generated_inputs(self):
        report = self.cgrun_json(self.compiled(), "--in", "hbegin=iota", "--in", "htarget=iota")
        self.assertEqual(report["outputs"]["hlevel"]["max"], 0)
        self.assertEqual(report["outputs"]["rounds"]["max"], 1)

    @unittest.skipUnless(DATA, "CGRAPH_TEST_DATA names no folder")
    def test_power_grid(self):
        begin, target, levels = (
            np.load(pathlib.Path(DATA) / f"uspowergrid_{name}_i32.npy")
            for name in ("rowptr", "col", "bfs0")
        )
        bundle = self.compiled()
        for seed in ORDERS[:5]:
            with self.subTest(seed=seed):
                level = self.search(bundle, begin, target, seed=seed)
                np.testing.assert_array_equal(level, levels)


class NewtonSqrtTest(ExampleTest):
    EXAMPLE = "newton_sqrt"

    def expected_steps(self, a):
        """Halving is exact, so that every device rounds as NumPy does."""
        half = np.float32(0.5)
        a = a[(a > 0) & np.isfinite(a)]
        x = half * a + half
        steps = 1
        while True:
            following = half * (x + a / x)
            if not (following < x).any():
                return steps
            x = np.minimum(x, following)
            steps += 1

    def check(self, bundle, a, **options):
        x, steps = self.compute(bundle, {"ha": a}, "hx steps", n=len(a), **options)
        self.assertEqual(x.dtype, np.dtype("f4"))
        with np.errstate(invalid="ignore"):
            exact = np.sqrt(a)
        finite = np.isfinite(exact)
        np.testing.assert_array_equal(x[~finite], exact[~finite])
        np.testing.assert_array_equal(np.signbit(x[a == 0]), np.signbit(a[a == 0]))
        error = np.abs(x[finite].astype("f8") - np.sqrt(a[finite].astype("f8")))
        self.assertTrue((error <= np.spacing(exact[finite])).all())
        self.assertEqual(steps[0], self.expected_steps(a))
        return steps[0]

    def test_against_numpy(self):
        bundle = self.compiled()
        for seed in ORDERS:
            with self.subTest(seed=seed):
                generator = np.random.default_rng(seed)
                n = int(generator.integers(1, 3000))
                a = np.exp2(generator.uniform(-149, 127, n)).astype("f4")
                self.check(bundle, a, seed=seed, repeat=1 + seed % 2)

    def test_special_values(self):
        """The roots of 0 and infinity, and of what has none."""
        largest = np.finfo("f4").max
        a = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, 4.0, 2.0, 1e-45, 1e-38, largest]
        self.check(self.compiled(), np.array(a, "f4"))

    def test_as_many_steps_as_the_slowest_element_takes(self):
        bundle = self.compiled()
        fast = self.check(bundle, np.ones(513, "f4"))
        self.assertEqual(fast, 1)
        for place in (0, 256, 512):
            with self.subTest(place=place):
                a = np.ones(513, "f4")
                a[place] = 1e30
                self.assertGreater(self.check(bundle, a), 50)

    def test_no_elements(self):
        _, steps = self.compute(self.compiled(), {"ha": np.zeros(0, "f4")}, "hx steps", n=0)
        self.assertEqual(steps[0], 1)


class CompressSwitchTest(ExampleTest):
    EXAMPLE = "compress_switch"
    EQUAL, NARROW, WIDE = range(3)
    LEAST, MOST = np.iinfo("i4").min, np.iinfo("i4").max

    def block(self, kind, n, generator):
        """Random values of this kind; what has one value is always of the first."""
        base = int(generator.integers(self.LEAST, self.MOST - 255))
        if kind == self.EQUAL:
            return np.full(n, base)
        if kind == self.NARROW:
            return base + generator.integers(0, 256, n)
        return generator.integers(self.LEAST, self.MOST, n, endpoint=True)

    def kind_of(self, block):
        extent = int(block.max()) - int(block.min())
        return self.EQUAL if extent == 0 else self.NARROW if extent < 256 else self.WIDE

    def decode(self, kind, base, words, code):
        """A block's values from its code, and that no word beyond it is used."""
        n = len(code)
        self.assertFalse(code[words:].any())
        if kind == self.EQUAL:
            self.assertEqual(words, 0)
            return np.full(n, base)
        if kind == self.NARROW:
            self.assertEqual(words, -(-n // 4))
            return int(base) + code.view("u1").astype("i8")[:n]
        self.assertEqual(words, n)
        return code

    def check(self, bundle, x, **options):
        """Both decoders, NumPy's and the example's own, give x back."""
        x = np.array(x, "i4")
        kind, base, words, code, y = self.compute(
            bundle, {"hx": x}, "hkind hbase hwords hcode hy", n=x.shape[1], **options
        )
        np.testing.assert_array_equal(kind, [self.kind_of(block) for block in x])
        np.testing.assert_array_equal(base, x.min(axis=1))
        for i, block in enumerate(x):
            np.testing.assert_array_equal(self.decode(kind[i], base[i], words[i], code[i]), block)
        np.testing.assert_array_equal(y, x)

    def test_all_kinds_at_once(self):
        bundle = self.compiled("-D", "BLOCKS=7")
        for seed in ORDERS:
            with self.subTest(seed=seed):
                generator = np.random.default_rng(seed)
                n = int(generator.integers(1, 1500))
                kinds = generator.permutation([0, 1, 2, 0, 1, 2, 1])
                x = [self.block(kind, n, generator) for kind in kinds]
                self.check(bundle, x, seed=seed, repeat=1 + seed % 2)

    def test_one_kind_everywhere(self):
        bundle = self.compiled()
        generator = np.random.default_rng(1)
        for kind in (self.EQUAL, self.NARROW, self.WIDE):
            with self.subTest(kind=kind):
                self.check(bundle, [self.block(kind, 300, generator) for _ in range(4)])

    def test_sizes(self):
        """Around a word, a block of threads, and what a block of threads packs."""
        bundle = self.compiled()
        generator = np.random.default_rng(2)
        for n in (1, 2, 3, 4, 5, 255, 256, 257, 1023, 1025):
            with self.subTest(n=n):
                self.check(bundle, [self.block(kind, n, generator) for kind in (0, 1, 2, 1)])

    def test_border_between_the_kinds(self):
        """Ranges of 1, 255 and 256, at both ends of i32, and the widest there is."""
        extents = [[0, 1, 0], [255, 0, 3], [0, 256, 7], [9, 9, 9]]
        bundle = self.compiled()
        self.check(bundle, np.array(extents))
        self.check(bundle, self.LEAST + np.array(extents))
        self.check(bundle, self.MOST - np.array(extents))
        self.check(bundle, [[self.LEAST, self.MOST]] * 4)

    def test_default_size(self):
        generator = np.random.default_rng(3)
        x = [self.block(kind, 4096, generator) for kind in (1, 2, 0, 1)]
        self.check(self.compiled(), x)


class DecodeLoopTest(ExampleTest):
    EXAMPLE = "decode_loop"
    END, BREAK = range(2)

    def model(self, vocabulary, width, seed):
        """The embedding, the recurrent and the output matrix."""
        generator = np.random.default_rng(seed)
        return [
            generator.integers(-128, 128, shape).astype("i1")
            for shape in ((vocabulary, width), (width, width), (vocabulary, width))
        ]

    def expected(self, model, first, limit):
        embedding, recurrent, output = (matrix.astype("i8") for matrix in model)
        state = np.zeros(len(recurrent), "i8")
        token, tokens = first, []
        while token != self.END and len(tokens) < limit:
            state = np.clip((recurrent @ state) // 256 + embedding[token], -128, 127)
            token = int(np.argmax(output @ state))
            tokens.append(token)
            if token == self.BREAK:
                state[:] = 0
        return tokens

    def check(self, bundle, model, *, first=2, limit=60, **options):
        """The expected tokens, once the device has made the same."""
        vocabulary, width = model[0].shape
        names = ("hembedding", "hrecurrent", "houtput")
        tokens, length = self.compute(
            bundle, dict(zip(names, model)), "htokens hlength",
            vocabulary=vocabulary, width=width, first=first, limit=limit, **options,
        )  # fmt: skip
        expected = self.expected(model, first, limit)
        self.assertEqual(length[0], len(expected))
        np.testing.assert_array_equal(tokens, expected + [self.END] * (limit - len(expected)))
        return expected

    def test_against_numpy(self):
        bundle = self.compiled()
        seen = [
            self.check(bundle, self.model(30, 17, seed), seed=seed, repeat=1 + seed % 2)
            for seed in range(8)
        ]
        # The models are such that all occurs: an early stop, none, and sentences that begin anew.
        self.assertTrue(any(len(tokens) < 60 for tokens in seen))
        self.assertTrue(any(self.END not in tokens for tokens in seen))
        self.assertTrue(any(self.BREAK in tokens[:-1] for tokens in seen))

    def test_a_new_sentence_forgets(self):
        """After BREAK the tokens are those of a run that begins with BREAK."""
        for seed in harness.SEEDS:
            model = self.model(12, 24, seed)
            tokens = self.expected(model, 2, 60)
            if self.BREAK not in tokens[:-1]:
                continue
            following = tokens[tokens.index(self.BREAK) + 1 :]
            self.assertEqual(following, self.expected(model, self.BREAK, len(following)))
            self.check(self.compiled(), model)
            return
        self.fail("no model breaks a sentence")

    def test_sizes(self):
        bundle = self.compiled()
        sizes = [(3, 1), (7, 5), (255, 64), (256, 3), (300, 260)]
        for seed, (vocabulary, width) in enumerate(sizes):
            with self.subTest(vocabulary=vocabulary, width=width):
                self.check(bundle, self.model(vocabulary, width, seed), limit=20)

    def test_no_step_and_one(self):
        bundle = self.compiled()
        model = self.model(30, 17, 2)
        self.assertEqual(self.check(bundle, model, limit=0), [])
        self.assertEqual(self.check(bundle, model, first=self.END), [])
        self.assertEqual(len(self.check(bundle, model, limit=1)), 1)

    def test_the_first_of_equal_scores_wins(self):
        bundle = self.compiled()
        nothing = [np.zeros_like(matrix) for matrix in self.model(300, 8, 0)]
        self.assertEqual(self.check(bundle, nothing), [self.END])
        embedding, recurrent, output = nothing
        embedding[:] = 1
        output[[70, 200, 271]] = 1
        self.assertEqual(self.check(bundle, [embedding, recurrent, output], limit=3), [70] * 3)


if __name__ == "__main__":
    harness.main()
