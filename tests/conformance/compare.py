"""Where two normalised values differ."""

import dataclasses
import json
import re


@dataclasses.dataclass(frozen=True)
class Difference:
    step: dict  # the step whose answers differ
    path: str  # "body.metadata.labels.app", "status", "events[2].type"
    real: object
    ours: object
    began: dict | None = None  # the list of which this one is a later page

    def group(self) -> str:
        """Differences with the same text have most likely one cause."""
        path = re.sub(r"\[\d+\]", "[]", self.path)
        return (f"{self.step['verb']} {self.step['kind']} {path}: "
                f"real {_short(self.real)}, ours {_short(self.ours)}")


ABSENT = "<absent>"


def differences(step: dict, real: dict, ours: dict, began: dict | None = None) -> list[Difference]:
    return [Difference(step, path, a, b, began) for path, a, b in _walk("", real, ours)]


def _walk(path: str, real, ours):
    if isinstance(real, dict) and isinstance(ours, dict):
        for key in sorted(real.keys() | ours.keys()):
            inside = f"{path}.{key}" if path else key
            yield from _walk(inside, real.get(key, ABSENT), ours.get(key, ABSENT))
    elif isinstance(real, list) and isinstance(ours, list):
        for at in range(max(len(real), len(ours))):
            a = real[at] if at < len(real) else ABSENT
            b = ours[at] if at < len(ours) else ABSENT
            yield from _walk(f"{path}[{at}]", a, b)
    elif type(real) is not type(ours) or real != ours:
        yield path, real, ours


def _short(value) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    text = re.sub(r"\bc[0-9a-z]+-\d+\b", "NS", text)
    return text if len(text) <= 300 else text[:297] + "..."
