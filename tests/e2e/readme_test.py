"""What README.md and docs/ show is true: programs compile, commands print what is shown.

In every page, a ```cgraph block is a complete program, and in a ```console block each line after
`$ ` is a command, the lines below it what it prints; durations may differ. README.md's ```cpp block
is tests/e2e/embedding.cpp.
"""

import os
import pathlib
import re

import harness

PAGES = [harness.SOURCE / "README.md", *sorted((harness.SOURCE / "docs").glob("*.md"))]
EMBEDDING = os.environ["CGRAPH_EMBEDDING"]


def sessions(text):
    """The commands of a console block, each with its output."""
    for session in text.split("$ ")[1:]:
        command, _, output = session.partition("\n")
        yield command, output


def without_durations(text):
    return re.sub(r" +\d+(\.\d+)? (us|ms|s)\b", " TIME", text)


class ReadmeTest(harness.ToolTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("build"))
        os.symlink(pathlib.Path(harness.CGC).parent, self.path("build/bin"))
        os.symlink(harness.EXAMPLES, self.path("examples"))

    def test_programs_compile(self):
        for page in PAGES:
            for number, program in enumerate(harness.blocks(page, "cgraph")):
                with self.subTest(page=page.name, block=number):
                    source = self.write("block.cgraph", program)
                    done = self.run_tool(harness.CGC, source, "--emit=check")
                    self.assertEqual(done.stderr, "")

    def test_first_program_is_the_example(self):
        self.assertEqual(
            harness.blocks(PAGES[0], "cgraph")[0], (harness.EXAMPLES / "saxpy.cgraph").read_text()
        )

    def test_commands_print_what_is_shown(self):
        count = 0
        for page in PAGES:
            for block in harness.blocks(page, "console"):
                for command, output in sessions(block):
                    with self.subTest(page=page.name, command=command):
                        done = self.run_tool(*command.split())
                        self.assertEqual(without_durations(done.stdout), without_durations(output))
                        count += 1
        self.assertGreaterEqual(count, 3)

    def test_embedding_example(self):
        program = (harness.SOURCE / "tests/e2e/embedding.cpp").read_text()
        self.assertEqual(harness.blocks(PAGES[0], "cpp"), [program])
        self.run_tool(harness.CGC, harness.EXAMPLES / "saxpy.cgraph", "-o", "saxpy.cgb")
        self.assertEqual(self.run_tool(EMBEDDING).stdout, "y[1023] = 2047\n")

    def test_picture_is_current(self):
        """docs/saxpy.svg is what dot makes of docs/saxpy.dot, which is what cgc makes of the
        example. dot's versions place nodes differently, so of the picture the text is compared."""
        dot = self.run_tool(harness.CGC, "--emit=dot", "examples/saxpy.cgraph").stdout
        self.assertEqual((harness.SOURCE / "docs/saxpy.dot").read_text(), dot)
        self.write("saxpy.dot", dot)
        drawn = self.run_tool("dot", "-Tsvg", "saxpy.dot").stdout
        texts = re.compile(r"<title>.*?</title>|<text [^>]*>(.*?)</text>")
        committed = (harness.SOURCE / "docs/saxpy.svg").read_text()
        self.assertEqual(texts.findall(committed), texts.findall(drawn))


if __name__ == "__main__":
    harness.main()
