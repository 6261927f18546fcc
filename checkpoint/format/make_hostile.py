"""Writes testdata/hostile: golden files with one thing wrong each, sealed again so that only that
is wrong, and headers of data objects that lie. The error of each is in expected.json, which
AMDAHL_UPDATE_GOLDEN=1 checkpoint_format_test rewrites; read what it says before it is kept.

usage: python3 checkpoint/format/make_hostile.py
"""

import copy
import hashlib
import json
import pathlib
import struct

HERE = pathlib.Path(__file__).parent / "testdata"
GOLDEN = HERE / "golden"
HOSTILE = HERE / "hostile"
RECEIPT = GOLDEN / "receipts/00000000000000000100-00112233445566aa-00000.jsonl"
MANIFEST = GOLDEN / "manifests/00000000000000000200.jsonl"
MIB = 1 << 20


def canonical(value) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def seal(body: bytes, signature=None) -> bytes:
    seal_line = {"sha256": hashlib.sha256(body + b"\n").hexdigest()}
    if signature is not None:
        seal_line["signature"] = signature
    return body + b"\n" + canonical(seal_line) + b"\n"


def framed(text: bytes, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(text)) + text + data


def tensor(begin, end, shape, dtype="U8"):
    return {"data_offsets": [begin, end], "dtype": dtype, "shape": shape}


def headers() -> dict[str, bytes]:
    four = bytes(4)
    good = tensor(0, 4, [4])
    written = b'{"dtype":"U8","shape":[4],"data_offsets":[0,4]}'
    to = b'{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,%s]}}'
    return {
        "empty": b"",
        "seven-bytes": bytes(7),
        "length-beyond-end": struct.pack("<Q", 100) + b"{}",
        "length-huge": struct.pack("<Q", 2**64 - 1) + b"{}",
        "length-over-bound": struct.pack("<Q", 32 * MIB + 1) + b"{}",
        "no-json": framed(b"hello"),
        "array": framed(b"[]"),
        "leading-space": framed(b" {}"),
        "byte-order-mark": framed(b"\xef\xbb\xbf{}"),
        "text-after": framed(b"{}{}"),
        "bad-utf8": framed(b'{"\xff":' + written + b"}", four),
        "lone-surrogate": framed(b'{"\\ud800":' + written + b"}", four),
        "name-twice": framed(b'{"a":' + written + b',"a":' + written + b"}", four),
        "field-twice": framed(b'{"a":{"dtype":"I8",' + written[1:] + b"}", four),
        "deep": framed(b"[" * 10_000 + b"]" * 10_000),
        "float-offset": framed(to % b"4.0", four),
        "offset-64-bits": framed(to % b"18446744073709551615"),
        "offset-more-bits": framed(to % b"99999999999999999999"),
        "overlap": framed(canonical({"a": good, "b": tensor(2, 6, [4])}), bytes(6)),
        "same-bytes": framed(canonical({"a": good, "b": good}), four),
        "hole": framed(canonical({"a": good, "b": tensor(5, 9, [4])}), bytes(9)),
        "hole-before-first": framed(canonical({"a": tensor(1, 5, [4])}), bytes(5)),
        "bytes-after-last": framed(canonical({"a": good}), bytes(5)),
        "beyond-end": framed(canonical({"a": good}), bytes(3)),
        "backwards": framed(canonical({"a": tensor(4, 0, [4])}), four),
        "negative-offset": framed(canonical({"a": tensor(-4, 0, [4])}), four),
        "negative-shape": framed(canonical({"a": tensor(0, 4, [-2, -2])}), four),
        "shape-overflow": framed(canonical({"a": tensor(0, 4, [2**32, 2**32, 4])}), four),
        "shape-overflow-to-zero": framed(canonical({"a": tensor(0, 0, [2**62, 4])})),
        "shape-too-long": framed(canonical({"a": tensor(0, 4, [4] + [1] * 16)}), four),
        "shape-not-list": framed(canonical({"a": tensor(0, 4, 4)}), four),
        "size-does-not-fit": framed(canonical({"a": tensor(0, 4, [4], "F32")}), four),
        "unknown-dtype": framed(canonical({"a": tensor(0, 4, [4], "PICKLE")}), four),
        "dtype-not-text": framed(canonical({"a": tensor(0, 4, [4], 7)}), four),
        "encoding-plain": framed(canonical({"a": tensor(0, 4, [4], "U8/plain")}), four),
        "unknown-encoding": framed(canonical({"a": tensor(0, 4, [4], "U8/zip")}), four),
        "planes-of-u8": framed(canonical({"a": tensor(0, 4, [4], "U8/bf16-planes")}), four),
        "extra-field": framed(canonical({"a": good | {"x": 1}}), four),
        "missing-field": framed(canonical({"a": {"dtype": "U8", "shape": [4]}}), four),
        "not-an-object": framed(canonical({"a": 1})),
        "empty-name": framed(canonical({"": good}), four),
        "long-name": framed(canonical({"n" * 513: good}), four),
        "metadata-number": framed(canonical({"__metadata__": {"a": 1}})),
        "metadata-list": framed(canonical({"__metadata__": []})),
    }


def changed(document: dict, change) -> bytes:
    document = copy.deepcopy(document)
    change(document)
    return seal(canonical(document))


def setter(*path_and_value):
    *path, last, value = path_and_value

    def change(document):
        for step in path:
            document = document[step]
        document[last] = value

    return change


def receipts() -> dict[str, bytes]:
    good = json.loads(RECEIPT.read_bytes().split(b"\n")[0])
    body = canonical(good)
    changes = {
        "newer-format": setter("format", 2),
        "unknown-field": setter("extra", 1),
        "null-field": setter("state", None),
        "step-negative": setter("step", -1),
        "step-too-large": setter("step", 2**53),
        "step-text": setter("step", "100"),
        "save-id-upper": setter("saveId", "00112233445566AA"),
        "rank-outside": setter("rank", 2),
        "other-rank": setter("rank", 1),
        "other-step": setter("step", 101),
        "object-foreign-name": setter("objects", 1, "name", "data/../../secret"),
        "object-twice": lambda d: d["objects"].insert(1, d["objects"][0]),
        "object-unsorted": lambda d: d["objects"].reverse(),
        "object-manifest": setter("objects", 1, "name", "manifests/00000000000000000100.jsonl"),
        "object-size": setter("objects", 1, "bytes", 844),
        "object-huge-small-chunks": lambda d: d["objects"][1].update(bytes=1 << 42, chunkBytes=512),
        "chunk-size-odd": setter("objects", 1, "chunkBytes", 513),
        "chunk-size-zero": setter("objects", 1, "chunkBytes", 0),
        "sums-not-base64": setter("objects", 1, "crc32c", "????"),
        "sums-too-few": setter("objects", 1, "crc32c", "AAAAAA=="),
        "sums-of-others": setter("objects", 1, "crc32c", "AAAAAAAAAAA="),
        "sha256-too-few": setter("objects", 1, "sha256", "AAAA"),
        "object-root-wrong": setter("objects", 1, "root", "0" * 64),
        "root-wrong": setter("root", "0" * 64),
        "tensor-unsorted": lambda d: d["tensors"].reverse(),
        "tensor-twice": lambda d: d["tensors"].append(d["tensors"][-1]),
        "tensor-object-outside": setter("tensors", 1, "object", 2),
        "tensor-beyond-object": setter("tensors", 1, "end", 10**6),
        "tensor-backwards": lambda d: d["tensors"][1].update(begin=700, end=200),
        "tensor-size": setter("tensors", 1, "end", 830),
        "tensor-shape-overflow": setter("tensors", 1, "shape", [2**50, 2**50]),
        "tensor-dtype": setter("tensors", 1, "dtype", "F31"),
        "tensor-outside-whole": setter("tensors", 1, "offset", [30, 0]),
        "tensor-whole-said-twice": setter("tensors", 1, "globalShape", [40, 4]),
        "tensor-dimensions": setter("tensors", 1, "offset", [0]),
        "tensor-offset-alone": lambda d: d["tensors"][1].pop("globalShape"),
        "tensor-encoded-in-plain": setter("tensors", 1, "encoding", "xor"),
        "tensor-plain-spelled-out": setter("tensors", 1, "encoding", "plain"),
        "tensor-named-metadata": setter("tensors", 1, "name", "__metadata__"),
        "object-without-tensor": lambda d: d["tensors"].pop(0),
        "tensors-overlap": lambda d: d["tensors"][2].update(begin=822, end=832),
        "state-float": setter("state", {"lr": 0.5}),
        "state-unknown-tag": setter("state", {"$pickle": "gASVAA=="}),
        "state-deep": setter("state", nested(70)),
    }
    files = {name: changed(good, change) for name, change in changes.items()}
    files |= {
        "one-line": body + b"\n",
        "seal-missing-line-feed": seal(body)[:-1],
        "seal-of-another": seal(body).replace(body, body.replace(b'"step":100', b'"step":101')),
        "seal-long": body + b"\n" + b"{" + b" " * 600 + b"}\n",
        "seal-extra-field": seal(body).replace(b'{"sha256"', b'{"a":1,"sha256"'),
        "signed": seal(body, {"keyId": "0" * 64, "value": "AA=="}),
        "white-space": seal(body.replace(b'"step":100', b'"step": 100')),
        "name-twice": seal(body.replace(b'"step":100', b'"step":100,"step":100')),
        "unsorted": seal(b'{"rank":0,' + body.replace(b'"rank":0,', b"")[1:]),
        "escape-not-needed": seal(body.replace(b'"jobUid"', b'"job\\u0055id"')),
        "minus-zero": seal(body.replace(b'"rank":0', b'"rank":-0')),
        "not-json": seal(b"hello"),
        "not-object": seal(b"[]"),
        "deep": seal(b"[" * 10_000 + b"]" * 10_000),
    }
    return files


def nested(depth: int):
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


def manifests() -> dict[str, bytes]:
    good = json.loads(MANIFEST.read_bytes().split(b"\n")[0])
    changes = {
        "newer-format": setter("format", 2),
        "other-step": setter("step", 201),
        "no-receipts": setter("receipts", []),
        "receipt-digest": setter("receipts", 0, "sha256", "x" * 64),
        "root-wrong": setter("root", "0" * 64),
        "receipts-swapped": lambda d: d["receipts"].reverse(),
        "parent-after": setter("parent", "step", 300),
        "parent-itself": setter("parent", "step", 200),
        "chain-too-long": setter("parent", "chain", 17),
        "chain-zero": setter("parent", "chain", 0),
        "image-not-digest": setter("imageDigest", "latest"),
        "metric-number": setter("metrics", "loss", 2),
        "metric-not-float": setter("metrics", "loss", "good"),
        "metric-name-long": setter("metrics", "n" * 64, "1.0"),
        "metrics-many": setter("metrics", {f"m{i}": "1.0" for i in range(33)}),
        "time-not-time": setter("committedAt", "yesterday"),
        "bytes-negative": setter("bytes", -1),
        "unknown-field": setter("latest", True),
    }
    return {name: changed(good, change) for name, change in changes.items()}


def owners() -> dict[str, bytes]:
    good = json.loads((GOLDEN / "owner.jsonl").read_bytes().split(b"\n")[0])
    return {
        "no-uid": changed(good, setter("jobUid", "")),
        "too-large": changed(good, setter("job", "x" * 5000)),
        "missing-uid": changed(good, lambda d: d.pop("jobUid")),
    }


def main() -> None:
    kinds = {"header": headers(), "receipt": receipts(), "manifest": manifests(), "owner": owners()}
    for kind, files in kinds.items():
        (HOSTILE / kind).mkdir(parents=True, exist_ok=True)
        for old in (HOSTILE / kind).iterdir():
            old.unlink()
        for name, data in files.items():
            (HOSTILE / kind / name).write_bytes(data)


if __name__ == "__main__":
    main()
