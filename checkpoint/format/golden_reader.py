"""The format read by somebody who has only the page: Python's standard library, and no C++ of ours.
Not fast, and not the package's reader; test_golden.py holds the golden files against it."""

import base64
import hashlib
import json
import pathlib
import struct


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def safetensors(data: bytes) -> dict[str, tuple[str, list[int], bytes]]:
    """Name to dtype, shape and bytes."""
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    body = data[8 + length :]
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = (entry["dtype"], entry["shape"], body[begin:end])
    return tensors


def record(data: bytes) -> dict:
    """The body of an owner record, a receipt or a manifest, if its seal fits."""
    body, seal, rest = data.split(b"\n")
    if rest or json.loads(seal)["sha256"] != hashlib.sha256(body + b"\n").hexdigest():
        raise ValueError("damaged")
    value = json.loads(body)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if text.encode() != body:
        raise ValueError("not canonical")
    return value


def object_root(record_: dict, data: bytes) -> str:
    size = record_["chunkBytes"]
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    strong = "sha256" in record_
    root = hashlib.sha256(b"amdahl-object-1-sha256\n" if strong else b"amdahl-object-1\n")
    root.update(struct.pack("<QQ", len(data), size))
    for chunk in chunks:
        root.update(struct.pack("<I", crc32c(chunk)))
        if strong:
            root.update(hashlib.sha256(chunk).digest())
    sums = b"".join(struct.pack("<I", crc32c(chunk)) for chunk in chunks)
    if base64.b64encode(sums).decode() != record_["crc32c"]:
        raise ValueError("bad chunk")
    return root.hexdigest()


def root_of(kind: str, roots: list[str]) -> str:
    root = hashlib.sha256(f"amdahl-{kind}-1\n".encode() + struct.pack("<Q", len(roots)))
    for part in roots:
        root.update(bytes.fromhex(part))
    return root.hexdigest()


def verify(prefix: pathlib.Path, step: int) -> dict:
    """The manifest of a step, after everything it stands on was read and found right."""
    manifest = record((prefix / f"manifests/{step:020}.jsonl").read_bytes())
    roots = []
    for rank, reference in enumerate(manifest["receipts"]):
        name = f"receipts/{step:020}-{manifest['saveId']}-{rank:05}.jsonl"
        data = (prefix / name).read_bytes()
        if hashlib.sha256(data).hexdigest() != reference["sha256"]:
            raise ValueError("not the receipt")
        receipt = record(data)
        objects = [object_root(o, (prefix / o["name"]).read_bytes()) for o in receipt["objects"]]
        if objects != [o["root"] for o in receipt["objects"]]:
            raise ValueError("bad object")
        roots.append(root_of("rank", objects))
    if manifest["root"] != root_of("checkpoint", roots):
        raise ValueError("bad root")
    return manifest
