"""The programs themselves: what they are linked with, and that they run alone."""

import os
import re
import shutil
import subprocess

import harness

C_AND_CPP = r"linux-vdso|ld-linux|libc\.|libm\.|libstdc\+\+|libgcc_s|libpthread|libdl|librt"


class ProgramsTest(harness.ToolTest):
    def test_static_but_for_the_c_and_cpp_libraries(self):
        for program in (harness.CGC, harness.CGRUN):
            libraries = self.run_tool("ldd", program).stdout
            if re.search("lib[atu]b?san", libraries):
                self.skipTest("built with a sanitizer")
            for line in libraries.splitlines():
                self.assertRegex(line, rf"^\s*\S*({C_AND_CPP})")

    def test_run_alone(self):
        """Copied elsewhere, with no environment but a C++ compiler on PATH for the host device."""
        for program in (harness.CGC, harness.CGRUN):
            shutil.copy(program, self.folder)
        source = self.write("one.cgraph", "host out r: u8[2]; graph main { fill r <- 7; }")
        done = subprocess.run(
            [self.path("cgrun"), source, "--device", "host", "--out", "r=-"],
            cwd=self.folder, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stdout), (0, "# r u8[2]\n7\n7\n"), done.stderr)

    def test_help_and_version(self):
        for program in (harness.CGC, harness.CGRUN):
            self.assertIn("USAGE", self.run_tool(program, "--help").stdout)
            version = self.run_tool(program, "--version").stdout
            self.assertRegex(version, r"^cg(c|run) \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    harness.main()
