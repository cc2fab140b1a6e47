"""What the end-to-end tests share: the programs under test and a scratch folder for each test.

Environment: CGRAPH_CGC and CGRAPH_CGRUN are the programs; CGRAPH_DEVICE is `host` (the default) or
`cuda`. A script for a GPU that is not there exits with 77, which ctest counts as skipped.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import gpu_probe

CGC = os.environ["CGRAPH_CGC"]
CGRUN = os.environ["CGRAPH_CGRUN"]
DEVICE = os.environ.get("CGRAPH_DEVICE", "host")
SOURCE = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = SOURCE / "examples"
SEEDS = range(20)
SKIPPED = 77


def examples():
    """Those that cgrun can run: the others call the C++ functions of the program beside them."""
    return [
        source
        for source in sorted(EXAMPLES.glob("*.cgraph"))
        if not re.search(r"^captured ", source.read_text(), re.M)
    ]


def blocks(page, language):
    """The texts of the page's fenced blocks in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


class ToolTest(unittest.TestCase):
    """A test with a folder of its own, in which the programs run."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cgraph-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return str(self.folder / name)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def run_tool(self, *command, status=0):
        """Runs a command that must end with this exit status."""
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, status, f"{command}\n{done.stdout}{done.stderr}")
        return done

    def cgrun(self, *arguments, device=DEVICE, status=0):
        return self.run_tool(CGRUN, *arguments, "--device", device, status=status)

    def cgrun_json(self, *arguments, **options):
        return json.loads(self.cgrun(*arguments, "--json", **options).stdout)

    def bundle(self, source, *options):
        """Compiles for this run's device."""
        target = self.path(pathlib.Path(source).stem + ".cgb")
        self.run_tool(CGC, source, "-o", target, f"--target={DEVICE}", *options)
        return target

    def edges(self, source, *options):
        """The edges of a program with one graph, between places in the order of its statements."""
        dot = self.run_tool(CGC, source, "--emit=dot", *options).stdout
        return sorted((int(a), int(b)) for a, b in re.findall(r"^ *n(\d+) -> n(\d+)\b", dot, re.M))

    def assert_refused(self, *arguments, status, message, place="cgrun", device=DEVICE):
        """cgrun says one line, `PLACE: error: ...` with `message` in it, and leaves no file."""
        before = sorted(self.folder.iterdir())
        done = self.cgrun(*arguments, status=status, device=device)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], rf"^{re.escape(place)}(:\d+:\d+)?: error: ")
        self.assertIn(message, lines[0])
        self.assertEqual(done.stdout, "")
        self.assertEqual(sorted(self.folder.iterdir()), before)


def main():
    """Runs the script's tests."""
    if DEVICE == "cuda" and gpu_probe.gpu_count() == 0:
        print("skipped: no GPU")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
