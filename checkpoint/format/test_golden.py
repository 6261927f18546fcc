"""Golden files, read by a second implementation."""

import hashlib
import pathlib
import struct
import unittest

from golden_reader import record, safetensors, verify

PREFIX = pathlib.Path(__file__).parent / "testdata/golden"


def counting(count: int, first: int = 0) -> bytes:
    return bytes((first + i) % 251 for i in range(count))


class Golden(unittest.TestCase):
    def test_plain_objects_are_safetensors_files(self):
        name = "data/00000000000000000100-00112233445566aa-00000-00000.safetensors"
        tensors = safetensors((PREFIX / name).read_bytes())
        self.assertEqual(tensors["model.embed.weight"], ("F32", [40, 4], counting(640)))
        dtype, shape, data = tensors["model.norm.weight"]
        self.assertEqual((dtype, shape), ("BF16", [5]))
        widened = [struct.unpack("<f", b"\0\0" + data[i : i + 2])[0] for i in range(0, 10, 2)]
        self.assertEqual(widened[:4], [1.0, 2.0, -0.5, 0.0])
        self.assertNotEqual(widened[4], widened[4])
        other = name.replace("-00000-", "-00001-")
        tensors = safetensors((PREFIX / other).read_bytes())
        self.assertEqual(struct.unpack("<q", tensors["optimizer.step"][2]), (100,))
        self.assertEqual(tensors["model.embed.weight"][1:], ([24, 4], counting(384, 7)))

    def test_encoded_objects_have_no_dtype_of_safetensors(self):
        name = "data/00000000000000000200-ffeeddccbbaa9900-00000-00000.amdahl"
        dtypes = {dtype for dtype, _, _ in safetensors((PREFIX / name).read_bytes()).values()}
        self.assertEqual(dtypes, {"F32/xor", "BF16/bf16-planes"})

    def test_blobs_are_called_by_their_content(self):
        (blob,) = (PREFIX / "blobs").iterdir()
        self.assertEqual(blob.name, hashlib.sha256(blob.read_bytes()).hexdigest() + ".safetensors")
        self.assertEqual(safetensors(blob.read_bytes())["model.frozen.weight"][2], counting(18))

    def test_digests_and_roots_are_as_the_page_says(self):
        full = verify(PREFIX, 100)
        delta = verify(PREFIX, 200)
        text = (PREFIX / "manifests/00000000000000000100.jsonl").read_bytes()
        self.assertEqual(delta["parent"]["sha256"], hashlib.sha256(text).hexdigest())
        self.assertEqual(full["jobUid"], record((PREFIX / "owner.jsonl").read_bytes())["jobUid"])

    def test_floats_are_those_of_repr(self):
        name = "receipts/00000000000000000100-00112233445566aa-00000.jsonl"
        state = record((PREFIX / name).read_bytes())["state"]
        self.assertEqual(state["lr"], {"$float": repr(0.001)})
        self.assertEqual(state["text"], "l\u00e9o")

    def test_damage_is_noticed(self):
        data = bytearray((PREFIX / "owner.jsonl").read_bytes())
        data[20] ^= 1
        with self.assertRaises(ValueError):
            record(bytes(data))


if __name__ == "__main__":
    unittest.main()
