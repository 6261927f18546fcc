"""Values in the lines between this process and its launcher.

The lines are described in runtime/launch/helper_message.hpp. Failure: none; what cannot be read is
left out, what JSON has no number for is sent as text.
"""

from __future__ import annotations

import json
import math
import os

TEXT_MAX = 1024
INTERVAL_SECONDS_MAX = 30 * 24 * 3600.0  # what a spec may say


def rank(variable: str) -> int:
    text = os.environ.get(variable, "0")
    return int(text) if text.isdecimal() else 0


def seconds(line: bytes) -> float | None:
    try:
        value = float(json.loads(line)["seconds"])
    except (ValueError, TypeError, KeyError):
        return None
    return value if 0 < value <= INTERVAL_SECONDS_MAX else None


def number(value: object) -> object:
    """A number, or its text when JSON has none for it (nan, inf, a tensor)."""
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, RuntimeError):
        return str(value)[:TEXT_MAX]
    return found if math.isfinite(found) else str(found)
