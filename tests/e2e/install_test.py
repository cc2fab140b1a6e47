"""An outside project builds against an installed copy: the one in docs/building.md, with README.md's
program. CGRAPH_BUILD_DIR is the build folder that is installed, and whose compiler and sanitizers
the outside project must share."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

BUILD = pathlib.Path(os.environ["CGRAPH_BUILD_DIR"])
PAGE = harness.SOURCE / "docs/building.md"
os.environ["CUDA_VISIBLE_DEVICES"] = ""  # Device::automatic() is the host device


def cached(name):
    """The value of a variable in the build folder's cache."""
    found = re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)
    return found[1] if found else ""


CXX = cached("CMAKE_CXX_COMPILER")
FLAGS = f"-fsanitize={cached('CGRAPH_SANITIZE')}" if cached("CGRAPH_SANITIZE") else ""
GENERATORS = {"Ninja": "ninja", "Unix Makefiles": "make"}


def saxpy(index):
    """README.md's program with its a = 2, x = 0, 1, … and y = 1."""
    return f"y[{index}] = {2 * index + 1}\n"


class OutsideTest(harness.ToolTest):
    """A fresh prefix for each class, a copy of the project for each test."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="cgraph-install-")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.installed = pathlib.Path(cls.scratch.name) / "prefix"
        subprocess.run(
            ["cmake", "--install", BUILD, "--prefix", cls.installed],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def setUp(self):
        super().setUp()
        self.prefix = self.installed
        (self.cmake,) = harness.blocks(PAGE, "cmake")
        self.write("CMakeLists.txt", self.cmake)
        shutil.copy(harness.SOURCE / "tests/e2e/embedding.cpp", self.path("main.cpp"))
        shutil.copy(harness.EXAMPLES / "saxpy.cgraph", self.path("saxpy.cgraph"))

    def configure(self, *options, generator="Ninja", status=0):
        shutil.rmtree(self.path("build"), ignore_errors=True)
        return self.run_tool(
            "cmake", "-S", ".", "-B", "build", "-G", generator, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={CXX}", f"-DCMAKE_CXX_FLAGS={FLAGS}", *options, status=status,
        )  # fmt: skip

    def build(self, status=0):
        return self.run_tool("cmake", "--build", "build", status=status)

    def run_app(self, folder="build"):
        return self.run_tool("sh", "-c", f"cd {folder} && ./app").stdout

    def build_with_pkg_config(self):
        (commands,) = (it for it in harness.blocks(PAGE, "sh") if "pkg-config" in it)
        commands = re.sub(r"^c\+\+", f"{CXX} {FLAGS}", commands, flags=re.M)
        paths = f"PATH={self.prefix}/bin:$PATH PKG_CONFIG_PATH={self.prefix}/lib/pkgconfig"
        self.run_tool("sh", "-ec", f"export {paths}\n{commands}")

    def built(self, name):
        return (self.folder / "build" / name).stat().st_mtime_ns


class InstallTest(OutsideTest):
    @unittest.skipIf(FLAGS, "sanitizers make it larger")
    def test_the_runtime_is_small(self):
        self.assertLessEqual((self.installed / "lib/libcgrt.a").stat().st_size, 2 << 20)

    def test_find_package(self):
        self.configure()
        self.build()
        self.assertEqual(self.run_app(), saxpy(1023))

    @unittest.skipIf(shutil.which("pkg-config") is None, "pkg-config is not here")
    def test_pkg_config(self):
        self.build_with_pkg_config()
        self.assertEqual(self.run_app("."), saxpy(1023))

    def test_the_prefix_may_be_moved(self):
        self.prefix = self.folder / "elsewhere/it is"
        shutil.copytree(self.installed, self.prefix)
        hidden = self.installed.with_name("hidden")
        self.installed.rename(hidden)
        self.addCleanup(hidden.rename, self.installed)
        self.test_find_package()
        if shutil.which("pkg-config"):
            self.prefix = self.prefix.rename(self.folder / "again")
            self.test_pkg_config()

    def test_nothing_names_the_source_or_build_folder(self):
        for file in self.installed.rglob("*"):
            if file.suffix in (".cmake", ".pc", ".h"):
                for folder in (harness.SOURCE, BUILD):
                    self.assertNotIn(str(folder) + "/", file.read_text(), file)

    def test_versions(self):
        self.write("CMakeLists.txt", self.cmake.replace("find_package(cgrt 0.1 ", "find_package(cgrt 0.0 "))
        self.assertIn('requested version "0.0"', self.configure(status=1).stderr)


class RebuildTest(OutsideTest):
    """The graph has parts in several files: y = a * x + y + 2 * HALF."""

    MAIN = 'import "parts/more.cgraph";\n'
    PARTS = {
        "parts/more.cgraph": "kernel more(n: i32, y: inout f32[n]) grid(ceildiv(n, 256)) block(256)"
        ' source "more.cu";\n',
        "parts/more.cu": '#include "half.h"\n__global__ void more(int n, float *y) {\n'
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] += 2 * HALF;\n}\n",
        "parts/half.h": "#define HALF 4\n",
    }

    def setUp(self):
        super().setUp()
        text = self.MAIN + (harness.EXAMPLES / "saxpy.cgraph").read_text()
        self.write("saxpy.cgraph", text.replace("copy hy <- y;", "more.more(n, y);\n  copy hy <- y;"))
        os.mkdir(self.path("parts"))
        for name, text in self.PARTS.items():
            self.write(name, text)

    def assert_rebuilt(self, *names):
        """A build makes these anew, and one after it nothing."""
        outputs = ("saxpy.cgb", "app")
        before = {name: self.built(name) for name in outputs}
        self.build()
        after = {name: self.built(name) for name in outputs}
        self.assertEqual([it for it in outputs if after[it] != before[it]], list(names))
        self.build()
        self.assertEqual({name: self.built(name) for name in outputs}, after)

    def test_bundles_are_rebuilt_when_they_must(self):
        """With make, one file stands for all that the dependency file names."""
        for generator, program in GENERATORS.items():
            if shutil.which(program) is None:
                continue
            with self.subTest(generator=generator):
                self.configure(generator=generator)
                self.build()
                self.assertEqual(self.run_app(), "y[1023] = 2055\n")
                self.assert_rebuilt()
                inputs = [*self.PARTS, "saxpy.cgraph", self.prefix / "bin/cgc"]
                for name in inputs if generator == "Ninja" else inputs[:1]:
                    (self.folder / name).touch()
                    self.assert_rebuilt("saxpy.cgb")
                (self.folder / "main.cpp").touch()
                self.assert_rebuilt("app")
                self.write("parts/half.h", "#define HALF 0.5f\n")
                self.assert_rebuilt("saxpy.cgb")
                self.assertEqual(self.run_app(), "y[1023] = 2048\n")
                self.write("parts/half.h", self.PARTS["parts/half.h"])

    def test_a_wrong_graph_fails_the_build(self):
        self.configure()
        self.write("parts/more.cgraph", "kernel more(n: i32) grid(m) block(1) cuda { }\n")
        done = self.build(status=1)
        self.assertRegex(done.stdout, r"parts/more\.cgraph:1:26: error: 'm' is not declared \[undefined\]")
        self.assertFalse((self.folder / "build/saxpy.cgb").exists())
        self.write("parts/more.cgraph", self.PARTS["parts/more.cgraph"])
        self.build()
        self.assertEqual(self.run_app(), "y[1023] = 2055\n")


class OptionsTest(OutsideTest):
    GRAPH = """
import "ones.cgraph";
const N = 1;
host out r: i32[N];
graph main { fill r <- ones.ONE; }
"""

    def add_graph(self, call, status=0):
        text = re.sub(r"^cgrt_add_graph.*$", lambda _: call, self.cmake, flags=re.M)
        self.write("CMakeLists.txt", text)
        return self.configure(status=status)

    def test_every_option(self):
        os.mkdir(self.path("sub"))
        os.mkdir(self.path("folder"))
        self.write("sub/g.cgraph", self.GRAPH)
        self.write("folder/ones.cgraph", "const ONE = 1;\n")
        done = self.add_graph(
            "foreach(n 2 3)\n  cgrt_add_graph(app sub/g.cgraph NAME g${n} TARGET host ARCH sm_80 sm_90"
            " DEFINES N=${n} INCLUDES folder)\nendforeach()\n"
            "add_library(sharer INTERFACE)\nforeach(user app sharer)\n"
            "  cgrt_add_graph(${user} saxpy.cgraph TARGET host)\nendforeach()\n"
            "get_target_property(bundle app CGRT_GRAPH_g3)\nmessage(STATUS \"is ${bundle}\")\n"
        )
        self.assertIn(f"is {self.folder}/build/g3.cgb\n", done.stdout)
        self.build()
        for n in (2, 3):
            done = self.run_tool(harness.CGRUN, f"build/g{n}.cgb", "--device", "host", "--out", "r=-")
            self.assertEqual(done.stdout, f"# r i32[{n}]\n" + "1\n" * n)

    def test_wrong_calls(self):
        self.write("a#b.cgraph", "graph main { }")
        for call, message in {
            "cgrt_add_graph(app saxpy.cgraph FROM x)": "cannot use 'FROM;x'",
            "cgrt_add_graph(app saxpy.cgraph NAME)": "cannot use 'NAME'",
            "cgrt_add_graph(nobody saxpy.cgraph)": "there is no target 'nobody'",
            "cgrt_add_graph(app none.cgraph)": "there is no file",
            'cgrt_add_graph(app "a#b.cgraph")': "has one of $ # ;",
            "cgrt_add_graph(app saxpy.cgraph)\ncgrt_add_graph(app saxpy.cgraph ARCH sm_80)": "another NAME",
        }.items():
            with self.subTest(call=call):
                self.assertIn(message, self.add_graph(call, status=1).stderr)


class CTest(OutsideTest):
    """A project in C, with the shared library."""

    PROGRAM = """
#include <cgrt/cgrt_c.h>
#include <stdio.h>

int main(void) {
  cgrt_program *program = NULL;
  if (cgrt_program_from_file("saxpy.cgb", &program) != CGRT_OK) {
    fprintf(stderr, "%s\\n", cgrt_last_error());
    return 1;
  }
  cgrt_param_info param;
  cgrt_program_param(program, 0, &param);
  printf("%s\\n", param.name);
  cgrt_program_destroy(program);
  return 0;
}
"""

    @unittest.skipIf(FLAGS, "a sanitizer must come first, and a C program does not bring it")
    def test_find_package(self):
        text = self.cmake.replace("LANGUAGES CXX", "LANGUAGES C CXX").replace("main.cpp", "main.c")
        self.write("CMakeLists.txt", text.replace("cgrt::runtime", "cgrt::c"))
        self.write("main.c", self.PROGRAM)
        self.configure()
        self.build()
        self.assertEqual(self.run_app(), "n\n")

    @unittest.skipIf(FLAGS, "a sanitizer comes with the compiler that it is of")
    @unittest.skipIf(shutil.which("pkg-config") is None, "pkg-config is not here")
    def test_pkg_config(self):
        self.write("main.c", self.PROGRAM)
        path = f"{self.prefix}/lib/pkgconfig"
        self.run_tool(
            "sh", "-ec", f"{self.prefix}/bin/cgc saxpy.cgraph --target=host\n"
            f"cc main.c $(PKG_CONFIG_PATH='{path}' pkg-config --cflags --libs cgrt_c) -o app",
        )  # fmt: skip
        done = self.run_tool("sh", "-c", f"LD_LIBRARY_PATH={self.prefix}/lib ./app")
        self.assertEqual(done.stdout, "n\n")


class CompilerTest(OutsideTest):
    PROGRAM = """
#include <cgc/compilation.h>
#include <cgrt/cgrt.h>
#include <cstdio>

int main() {
  cgc::CompileOptions options;
  options.input = "../saxpy.cgraph";
  options.target = cgc::Target::Host;
  std::string messages;
  const cgc::CompileResult result = cgc::compile(options, messages);
  const auto program = cgrt::Program::from_bytes(std::as_bytes(std::span(result.output)));
  cgrt::Instance instance(program, cgrt::Device::host(), {{"n", 3}});
  instance.host<float>("hx")[2] = 4;
  instance.host<float>("hy")[2] = 1;
  cgrt::Executable graph = instance.executable("main");
  graph.launch();
  graph.wait();
  std::printf("%zu %g\\n", result.inputs.size(), instance.host<float>("hy")[2]);
}
"""

    def test_compiler_library(self):
        text = self.cmake.replace("REQUIRED)", "REQUIRED COMPONENTS compiler)")
        self.write("CMakeLists.txt", text.replace("cgrt::runtime", "cgrt::compiler"))
        self.write("main.cpp", self.PROGRAM)
        self.configure()
        self.build()
        self.assertEqual(self.run_app(), "1 9\n")


if __name__ == "__main__":
    harness.main()
