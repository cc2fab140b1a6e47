"""Ctrl-C ends a run promptly, with status 130 and no partial file; a long one shows progress."""

import os
import pty
import signal
import subprocess
import time

import harness

SOURCE = "host in a: f32[64]; host out b: f32[64]; graph main { copy b <- a; }"
SECONDS_TO_END = 5


class InterruptTest(harness.ToolTest):
    def start(self, **options):
        source = self.write("long.cgraph", SOURCE)
        command = [
            harness.CGRUN, source, "--in", "a=iota", "--out", "b=b.npy",
            "--repeat", "1000000000", "--device", harness.DEVICE,
        ]  # fmt: skip
        process = subprocess.Popen(command, cwd=self.folder, **options)
        self.addCleanup(process.kill)
        return process

    def test_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM) * 15:
            process = self.start(stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            deadline = time.monotonic() + 60
            while len(os.listdir(self.folder)) < 2 and time.monotonic() < deadline:
                pass  # until the temporary output is there, and not a moment longer
            self.assertEqual(len(os.listdir(self.folder)), 2)
            process.send_signal(number)
            process.communicate(timeout=SECONDS_TO_END)
            self.assertEqual(process.returncode, 130)
            self.assertEqual(os.listdir(self.folder), ["long.cgraph"])

    def test_progress_line(self):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminal: {error}")
        process = self.start(stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        text = b""
        deadline = time.monotonic() + 60
        while b" of 1000000000" not in text and time.monotonic() < deadline:
            text += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=SECONDS_TO_END)
        os.close(ours)
        self.assertRegex(text.decode(), r"cgrun: launching main, \d+ of 1000000000, \d+ s")


if __name__ == "__main__":
    harness.main()
