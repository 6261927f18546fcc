"""States as JSON and back. No library is needed."""

import json
import math
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from amdahl.checkpoint import tree  # noqa: E402
from states import equal  # noqa: E402


class Trees(unittest.TestCase):
    def test_values_come_back_as_they_were(self):
        values = {"a": [1, -1, 2**62, 2**70, True, None, "text", "\u00e9"],
                  "f": (0.1, -0.0, math.inf, -math.inf, math.nan, 1e300, 5e-324, 1.0),
                  "b": b"\x00\xff", "$odd": 1, "m": {1: "x", (2, 3): "y", None: "z", True: 0},
                  "empty": {}, "nested": {"t": ((), [[]])}}
        flat = tree.Flattener()
        text = json.dumps(flat.value(values, ""), allow_nan=False)
        self.assertTrue(equal(tree.restored(json.loads(text), {}), values))

    def test_other_types_are_refused_with_their_place(self):
        for value in ({1, 2}, object(), lambda: 0, 1j):
            with self.assertRaisesRegex(TypeError, r"a\.b\.1: a .* cannot be saved"):
                tree.Flattener().value({"a": {"b": [0, value]}}, "")

    def test_torch_is_not_imported_with_the_package(self):
        code = "import sys, amdahl.checkpoint; sys.exit('torch' in sys.modules)"
        where = pathlib.Path(__file__).resolve().parents[1]
        self.assertEqual(subprocess.run([sys.executable, "-c", code], cwd=where, check=False)
                         .returncode, 0)


if __name__ == "__main__":
    unittest.main()
