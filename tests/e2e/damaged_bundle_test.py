"""A truncated, altered or newer bundle is refused with a reason; whatever is in one, no crash."""

import hashlib
import random
import struct
import subprocess

import harness

HEADER_BYTES = 56
GIVEN = ("--in", "hx=iota", "--in", "hy=ones", "--out", "hy=y.npy")


class DamagedBundleTest(harness.ToolTest):
    def setUp(self):
        super().setUp()
        with open(self.bundle(harness.EXAMPLES / "saxpy.cgraph"), "rb") as file:
            self.good = file.read()

    def write_bundle(self, contents):
        with open(self.path("bad.cgb"), "wb") as file:
            file.write(contents)
        return "bad.cgb"

    def refuse(self, contents, message):
        self.assert_refused(self.write_bundle(contents), *GIVEN, status=1, message=message)

    def test_sound_bundle_runs(self):
        self.cgrun(self.write_bundle(self.good), *GIVEN)

    def test_truncated(self):
        for length in (0, 7, 8, 20, HEADER_BYTES - 1, HEADER_BYTES, len(self.good) - 1):
            self.refuse(self.good[:length], "bad.cgb")

    def test_extended(self):
        self.refuse(self.good + b"\0", "bad.cgb")

    def test_newer_version(self):
        newer = bytearray(self.good)
        (version,) = struct.unpack_from("<I", newer, 8)
        struct.pack_into("<I", newer, 8, version + 1)
        self.refuse(bytes(newer), f"version {version + 1}")

    def test_every_header_byte(self):
        for at in range(HEADER_BYTES):
            with self.subTest(at=at):
                flipped = bytearray(self.good)
                flipped[at] ^= 1 << at % 8
                self.refuse(bytes(flipped), "bad.cgb")

    def test_flipped_bits_in_the_payload(self):
        generator = random.Random(1)
        for _ in range(50):
            bit = generator.randrange(8 * HEADER_BYTES, 8 * len(self.good))
            with self.subTest(bit=bit):
                flipped = bytearray(self.good)
                flipped[bit // 8] ^= 1 << bit % 8
                self.refuse(bytes(flipped), "checksum")

    def test_altered_payload_with_a_matching_checksum(self):
        """The structure is checked as well. Machine code cannot be: a bundle's author is trusted,
        so each run ends, at a buffer that is not there, before the code is loaded."""
        generator = random.Random(2)
        for _ in range(150):
            payload = bytearray(self.good[HEADER_BYTES:])
            at = generator.randrange(len(payload))
            payload[at] ^= 1 << generator.randrange(8)
            header = self.good[: HEADER_BYTES - 32] + hashlib.sha256(payload).digest()
            name = self.write_bundle(header + bytes(payload))
            with self.subTest(at=at):
                done = subprocess.run(
                    [harness.CGRUN, name, "--in", "none=0", "--device", harness.DEVICE],
                    cwd=self.folder, capture_output=True, text=True,
                )  # fmt: skip
                self.assertIn(done.returncode, (1, 2), done.stderr)
                self.assertEqual(done.stderr.count("error: "), 1, done.stderr)


if __name__ == "__main__":
    harness.main()
