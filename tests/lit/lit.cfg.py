# The lit suite: RUN and CHECK lines in .cgraph (and .test) files. CMakeLists.txt beside this file
# passes the parameters.
#
# %cgc, %cgrun, %FileCheck and %python are the programs, %S the test's folder, %t a scratch path.
#   REQUIRES: cuda-compiler    NVRTC can be loaded
#   REQUIRES: gpu              and there is a GPU
#   UNSUPPORTED: sanitizer     the programs are built with one, which has faults to itself
import os
import subprocess
import sys

import lit.formats

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../e2e"))
sys.dont_write_bytecode = True
import gpu_probe

config.name = "cgraph"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".cgraph", ".cgir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["scratch"]

config.substitutions.append(("%python", sys.executable))
programs = {name: lit_config.params[name] for name in ("cgc", "cgrun", "FileCheck")}
for name, path in programs.items():
    config.substitutions.append((f"%{name}\\b", path))

if lit_config.params.get("sanitize"):
    config.available_features.add("sanitizer")


def succeeds(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


os.makedirs(config.test_exec_root, exist_ok=True)
probe = os.path.join(config.test_exec_root, "probe.cgraph")
with open(probe, "w") as file:
    file.write(
        "device x: i32[1];\n"
        "kernel one(x: out i32[1]) grid(1) block(1) cuda { x[0] = 1; }\n"
        "graph main { one(x); }\n"
    )
if succeeds(programs["cgc"], probe, "--target=cuda", "-o", probe + ".cgb"):
    config.available_features.add("cuda-compiler")
    if gpu_probe.gpu_count() > 0:
        config.available_features.add("gpu")
