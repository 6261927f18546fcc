"""Files that others write to, cut, replace or lock while they are captured. Needs no library."""

import contextlib
import ctypes
import mmap
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from amdahl import checkpoint  # noqa: E402
from amdahl.checkpoint import directories  # noqa: E402


class Changing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="amdahl-python-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name, "t")
        (self.root / "inner/deep").mkdir(parents=True)
        for name in ("a", "inner/b", "inner/deep/c"):
            (self.root / name).write_bytes(name.encode() * 10_000)
            os.utime(self.root / name, (1, 1))  # another moment than that of any change here

    def during(self, change, at: int = 1) -> str:
        """What is said when that happens before the piece of this number is read."""
        mapped, seen = mmap.mmap, []

        def mapping(*arguments, **options):
            seen.append(arguments)
            if len(seen) == at:
                change()
            return mapped(*arguments, **options)

        with mock.patch.object(directories.mmap, "mmap", mapping):
            with self.assertRaises(checkpoint.CheckpointError) as raised:
                directories._Copied(str(self.root), 0)
        self.assertEqual(raised.exception.code, "conflict")
        return str(raised.exception)

    def test_nested_folders_are_taken_as_they_are(self):
        with directories._Copied(str(self.root), 0) as copied:
            self.assertEqual([one["path"] for one in copied.files],
                             ["a", "inner/b", "inner/deep/c"])
            for one, address in zip(copied.files, copied.addresses):
                self.assertEqual(ctypes.string_at(address, one["bytes"]),
                                 (self.root / one["path"]).read_bytes())

    def test_pieces_are_bounded_and_make_the_whole(self):
        with mock.patch.object(directories, "PIECE_BYTES_MAX", 777), \
                directories._Copied(str(self.root), 0) as copied:
            self.assertEqual(ctypes.string_at(copied.addresses[2], copied.files[2]["bytes"]),
                             (self.root / "inner/deep/c").read_bytes())

    def test_a_file_that_is_cut_short_before_it_is_read(self):
        self.assertRegex(self.during(lambda: os.truncate(self.root / "a", 5000)),
                         "t/a had 10000 bytes and ends at 5000 while it was captured")

    def test_a_file_that_is_cut_short_after_it_was_read(self):
        self.assertRegex(self.during(lambda: os.truncate(self.root / "a", 0), at=3),
                         "t/a had 10000 bytes and has 0 while")

    def test_a_file_that_grows(self):
        def grow():
            with open(self.root / "inner/b", "ab") as file:
                file.write(b"more")

        for at in (1, 2, 3):
            self.assertRegex(self.during(grow, at), "inner/b had [0-9]+ bytes and has [0-9]+ while")

    def test_a_file_that_is_written_to_or_replaced(self):
        def write():
            with open(self.root / "a", "r+b") as file:
                file.write(b"other")

        def replace():
            (self.root / "new").write_bytes((self.root / "a").read_bytes())
            os.replace(self.root / "new", self.root / "a")

        for change in (write, replace):
            self.assertRegex(self.during(change, at=3), "t/a was written to or replaced")

    def test_files_that_come_or_go(self):
        self.assertRegex(self.during((self.root / "a").unlink, at=3), "t/a came or went")
        self.assertRegex(self.during((self.root / "late").touch), "t/late came or went")

    def test_a_file_that_becomes_a_link_is_not_followed(self):
        def link():
            (self.root / "inner/b").unlink()
            os.symlink("/etc/hostname", self.root / "inner/b")

        real = mmap.mmap
        with mock.patch.object(directories.mmap, "mmap",
                               side_effect=lambda *a, **o: (link(), real(*a, **o))[1]):
            with self.assertRaisesRegex(OSError, "inner/b"):
                directories._Copied(str(self.root), 0)

    def test_what_cannot_be_read_is_named(self):
        os.chmod(self.root.parent, 0o755)
        for name, mode in (("inner/deep", 0o755), ("inner/b", 0o644)):
            os.chmod(self.root / name, 0)
            try:
                with self.as_nobody(), self.assertRaisesRegex(PermissionError, name):
                    directories._Copied(str(self.root), 0)
            finally:
                os.chmod(self.root / name, mode)

    @contextlib.contextmanager
    def as_nobody(self):
        """Root may read everything."""
        before = os.geteuid()
        if before == 0:
            os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(before)


if __name__ == "__main__":
    unittest.main()
