"""Checkpoints made to hurt the process that looks at them. Records are sealed as ours are."""

import hashlib
import json
import os
import struct
from pathlib import Path

MIB = 1 << 20
ZERO = "0" * 64
SAVE = "00000000000000aa"
RANKS = 90  # of the checkpoint with many large receipts


def canonical(value) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def seal(body: bytes) -> bytes:
    return body + b"\n" + canonical({"sha256": hashlib.sha256(body + b"\n").hexdigest()}) + b"\n"


def receipt(step: int, uid: str, rank: int, ranks: int, state=None) -> bytes:
    """One that says nothing wrong: no objects, and a state of any size."""
    root = hashlib.sha256(b"amdahl-rank-1\n" + struct.pack("<Q", 0)).hexdigest()
    body = {"format": 1, "jobUid": uid, "objects": [], "rank": rank, "root": root, "saveId": SAVE,
            "step": step, "tensors": [], "worldSize": ranks}
    if state is not None:
        body["state"] = state
    return seal(canonical(body))


class HostileStore:
    """Adds newer and newer checkpoints to the store of a job; large files are made once."""

    def __init__(self, folder: Path, uid: str, shared: Path):
        self.folder, self.uid, self.shared = folder, uid, shared
        shared.mkdir(exist_ok=True)

    def _file(self, name: str, key: str, content) -> bytes:
        """A link to what `content()` gives, kept under `key`."""
        there = self.shared / key
        if not there.exists():
            there.write_bytes(content())
        os.link(there, self.folder / name)
        return there.read_bytes()

    def _manifest(self, step: int, receipts: list) -> None:
        root = hashlib.sha256(b"amdahl-checkpoint-1\n" + struct.pack("<Q", len(receipts)) +
                              bytes(32) * len(receipts)).hexdigest()
        body = {"bytes": 0, "committedAt": "2026-01-01T00:00:00Z", "format": 1, "jobUid": self.uid,
                "receipts": receipts, "root": root, "saveId": SAVE, "step": step}
        (self.folder / f"manifests/{step:020}.jsonl").write_bytes(seal(canonical(body)))

    def _receipts(self, step: int, key: str, make, ranks: int = 1, digest=None, size=None) -> None:
        named = []
        for rank in range(ranks):
            text = self._file(f"receipts/{step:020}-{SAVE}-{rank:05}.jsonl", f"{key}-{rank}",
                              lambda rank=rank: make(rank))
            named.append({"bytes": size or len(text), "root": ZERO,
                          "sha256": digest or hashlib.sha256(text).hexdigest()})
        self._manifest(step, named)

    def many_receipts_of_another_digest(self, step: int) -> None:
        """What was parsed and kept before its digest was compared: 93 MB on disk, gigabytes."""
        zeros = [0] * (MIB // 2)
        self._receipts(step, "zeros", lambda rank: receipt(step, self.uid, rank, RANKS, zeros),
                       RANKS, digest=ZERO)

    def deep(self, step: int) -> None:
        self._receipts(step, "deep", lambda _: seal(b'{"format":1,"objects":[' + b"[" * (8 * MIB)))

    def empty_values(self, step: int) -> None:
        self._receipts(step, "values", lambda _: seal(b'{"state":[' + b"{}," * MIB + b"{}]}"))

    def many_objects(self, step: int) -> None:
        one = (b'{"bytes":10,"chunkBytes":1024,"crc32c":"AAAA","name":"blobs/%020d","root":"r"}')
        names = b",".join(one % number for number in range(100_000))
        self._receipts(step, "objects", lambda _: seal(
            b'{"format":1,"jobUid":"x","objects":[' + names + b"]}"))

    def sizes_that_are_not_true(self, step: int) -> None:
        self._receipts(step, "small", lambda _: b"x", size=30 * MIB)

    def dense_manifest(self, step: int) -> None:
        text = seal(b'{"format":1,"receipts":[' + b"{}," * (MIB // 4) + b"{}]}")
        (self.folder / f"manifests/{step:020}.jsonl").write_bytes(text)

    def beyond_the_budget(self, step: int) -> None:
        """No damage: a receipt larger than what is read for a look."""
        self._receipts(step, "large", lambda _: seal(b"x" * (13 * MIB)))
