"""Wrong input: one clear error with its place, the right exit status, and no partial file."""

import os
import subprocess
import unittest

import harness
import numpy as np

SAXPY = harness.EXAMPLES / "saxpy.cgraph"
GIVEN = ("--in", "hx=iota", "--in", "hy=ones")


class UsageTest(harness.ToolTest):
    def refuse(self, *arguments, message, **options):
        self.assert_refused(SAXPY, *arguments, status=2, message=message, **options)

    def test_missing_input_file(self):
        self.assert_refused("none.cgraph", status=1, message="none.cgraph: No such file")
        self.assert_refused("none.cgb", status=1, message="none.cgb: No such file")

    def test_folder_as_input(self):
        self.assert_refused(self.folder, status=1, message="Is a directory")

    def test_no_input(self):
        self.assert_refused(status=2, message="no input file")

    def test_unknown_option(self):
        self.refuse("--frobnicate", message="--frobnicate")

    def test_wrong_numbers(self):
        for count in ("0", "-1", "x", "1.5", "99999999999999999999"):
            self.refuse(*GIVEN, "--repeat", count, message="--repeat")
        self.refuse(*GIVEN, "--seed", "-1", message="--seed")

    def test_unknown_device(self):
        done = self.run_tool(harness.CGRUN, SAXPY, *GIVEN, "--device", "tpu", status=2)
        self.assertIn("tpu", done.stderr)

    def test_unknown_names(self):
        self.refuse(*GIVEN, "--in", "hz=ones", message="hz is not a buffer of this program")
        self.refuse(*GIVEN, "--out", "hz=z.npy", message="hz is not a buffer of this program")
        self.refuse(*GIVEN, "--set", "m=1", message="no param 'm'; it has: n, a")
        self.refuse(*GIVEN, "--graph", "step", message="step")

    def test_private_buffer(self):
        self.refuse(*GIVEN, "--out", "x=x.npy", message="not one that the caller reads")
        self.refuse(*GIVEN, "--in", "x=ones", message="not one that the caller fills")

    def test_wrong_direction(self):
        self.refuse(*GIVEN, "--out", "hx=x.npy", message="hx is not one that the caller reads")

    def test_missing_buffers(self):
        self.refuse(message="no contents for hx, hy")

    def test_given_twice(self):
        self.refuse(*GIVEN, "--in", "hx=ones", message="hx is given twice")
        self.refuse("--set", "n=1", "--set", "n=2", *GIVEN, message="n is given twice")

    def test_malformed_assignment(self):
        self.refuse("--in", "hx", message="'hx' is not of the form")
        self.refuse("--set", "=1", message="'=1' is not of the form")

    def test_wrong_values(self):
        self.refuse(*GIVEN, "--set", "n=many", message="--set n: 'many' is not a value of type i32")
        self.refuse(*GIVEN, "--set", "n=1.5", message="not a value of type i32")
        self.refuse(*GIVEN, "--set", "n=3000000000", message="3000000000 does not fit i32")
        self.refuse("--in", "hx=many", "--in", "hy=ones", message="not a value of type f32")

    def test_missing_param(self):
        source = self.write(
            "needs.cgraph",
            "param n: i32;\nhost in a: f32[n];\nhost out b: f32[n];\ngraph main { copy b <- a; }\n",
        )
        self.assert_refused(
            source, "--in", "a=iota", status=2, message="no default", place="needs.cgraph"
        )

    def test_json_and_text_on_one_stream(self):
        self.refuse(*GIVEN, "--out", "hy=-", "--json", message="--json and --out")


class ArrayTest(harness.ToolTest):
    def refuse(self, array, message):
        np.save(self.path("x.npy"), array)
        self.assert_refused(
            SAXPY, "--set", "n=8", "--in", "hx=x.npy", "--in", "hy=ones", "--out", "hy=y.npy",
            status=2, message=message,
        )  # fmt: skip

    def test_wrong_type_names_both(self):
        self.refuse(np.zeros(8, "f8"), "holds '<f8' of shape (8,); wanted is '<f4' of shape (8,)")

    def test_wrong_shape_names_both(self):
        self.refuse(np.zeros(9, "f4"), "holds '<f4' of shape (9,); wanted is '<f4' of shape (8,)")
        self.refuse(np.zeros((2, 4), "f4"), "of shape (2, 4); wanted is '<f4' of shape (8,)")

    def test_big_endian(self):
        self.refuse(np.zeros(8, ">f4"), "big-endian '>f4'")

    def test_structured_type(self):
        self.refuse(np.zeros(8, [("a", "<f4")]), "structured")

    def test_missing_file(self):
        self.assert_refused(
            SAXPY, "--in", "hx=none.npy", "--in", "hy=ones",
            status=2, message="cannot read none.npy: No such file",
        )  # fmt: skip

    def test_not_an_array(self):
        self.write("x.npy", "not an array")
        self.assert_refused(
            SAXPY, "--in", "hx=x.npy", "--in", "hy=ones", status=2, message="magic bytes"
        )


class OutputTest(harness.ToolTest):
    def refuse(self, target, message):
        self.assert_refused(SAXPY, *GIVEN, "--out", f"hy={target}", status=2, message=message)

    def test_missing_folder(self):
        self.refuse("none/y.npy", "cannot write none/y.npy: No such file")

    def test_folder(self):
        os.mkdir(self.path("sub"))
        self.refuse("sub", "cannot write sub: it is a folder")

    def test_device_file(self):
        self.refuse("/dev/full", "not a regular file")

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_read_only_folder(self):
        os.mkdir(self.path("sub"), 0o500)
        self.refuse("sub/y.npy", "Permission denied")

    def test_same_target_twice(self):
        source = self.write(
            "two.cgraph",
            "host in a: f32[2]; host out b, c: f32[2]; graph main { copy b <- a; copy c <- a; }",
        )
        self.assert_refused(
            source, "--in", "a=iota", "--out", "b=y.npy", "--out", "c=./y.npy",
            status=2, message="two buffers go to",
        )  # fmt: skip

    def test_full_standard_output(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [harness.CGRUN, SAXPY, *GIVEN, "--device", harness.DEVICE],
                stdout=full, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot write to standard output: No space left", done.stderr)


class SourceTest(harness.ToolTest):
    def test_errors_in_the_source(self):
        source = self.write("bad.cgraph", "device x: f32[4];\ngraph main { fill y <- 0; }\n")
        done = self.cgrun(source, "--out", "x=x.npy", status=1)
        self.assertRegex(done.stderr, r"bad\.cgraph:2:19: error: .*\[undefined\]")
        self.assertEqual(sorted(os.listdir(self.folder)), ["bad.cgraph"])

    def test_what_is_no_text(self):
        """Found before anything is parsed; in the file itself and in what it imports."""
        for name, contents, message in (
            ("nul", b"graph main { }\n// \0", "line 2, column 4: a NUL byte"),
            ("latin", b"graph main { }\n//\n/* \xe9 */", "line 3, column 4: "),
            ("cut", b"const A = 1;\n// \xf0\x9f\x9a", "line 2, column 4: "),
            ("surrogate", b"// \xed\xa0\x80\n", "line 1, column 4: "),
        ):
            with self.subTest(name):
                (self.folder / f"{name}.cgraph").write_bytes(contents)
                done = self.run_tool(harness.CGC, f"{name}.cgraph", "--emit=check", status=1)
                self.assertIn(message, done.stderr)
                self.write("p.cgraph", f'import "{name}.cgraph";\ngraph main {{ }}\n')
                done = self.run_tool(harness.CGC, "p.cgraph", "--emit=check", status=1)
                self.assertRegex(done.stderr, r"p\.cgraph:1:8: error: .*\[import\]")
                self.assertIn(message, done.stderr)

    def test_a_file_that_is_too_large(self):
        with open(self.path("large.cgraph"), "wb") as large:
            large.truncate((1 << 28) + 1)
        done = self.run_tool(harness.CGC, "large.cgraph", "--emit=check", status=1)
        self.assertRegex(done.stderr, "error: .*large.cgraph.*256 MiB")

    def test_imports_that_cannot_be_read(self):
        self.write("a.cgraph", 'import "b.cgraph";')
        self.write("b.cgraph", 'import "a.cgraph";')
        self.write("self.cgraph", 'import "self.cgraph";\ngraph main { }')
        os.mkdir(self.path("folder.cgraph"))
        text = "graph main { fill nowhere <- 0; }\n"
        for path, message in (
            ("none.cgraph", "there is no file 'none.cgraph'"),
            ("folder.cgraph", "Is a directory"),
            ("/dev/null/x", "there is no file"),
        ):
            self.write("p.cgraph", f'import "{path}" as m;\n{text}')
            done = self.run_tool(harness.CGC, "p.cgraph", "--emit=check", status=1)
            self.assertIn("p.cgraph:1:8: error: ", done.stderr)
            self.assertIn(message, done.stderr)
            self.assertIn("p.cgraph:2:19: error: 'nowhere' is not declared", done.stderr)
        self.write("p.cgraph", f'import "a.cgraph";\n{text}')
        done = self.run_tool(harness.CGC, "p.cgraph", "--emit=check", status=1)
        self.assertIn("a.cgraph imports b.cgraph imports a.cgraph [import]", done.stderr)
        done = self.run_tool(harness.CGC, "self.cgraph", "--emit=check", status=1)
        self.assertIn("self.cgraph imports self.cgraph [import]", done.stderr)

    def test_a_file_without_end(self):
        for path in ("/dev/zero", "/dev/full"):
            done = self.run_tool(harness.CGC, path, "--emit=check", status=1)
            self.assertEqual(done.stderr.count("error:"), 1)

    def test_negative_size(self):
        source = self.write(
            "size.cgraph", "param n: i32 = 1;\nhost out b: f32[n];\ngraph main { fill b <- 0; }\n"
        )
        self.assert_refused(
            source, "--set", "n=-1", status=1, message="-1", place="size.cgraph"
        )

    @unittest.skipIf(harness.gpu_probe.gpu_count() > 0, "there is a GPU")
    def test_no_gpu(self):
        self.assert_refused(SAXPY, *GIVEN, device="cuda", status=3, message="")


if __name__ == "__main__":
    harness.main()
