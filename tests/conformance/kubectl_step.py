"""One command of a kubectl session."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Step:
    line: str  # the words of a command; {ns} is the session's namespace
    has: str = ""  # in the output
    stdin: str = ""
    code: int = 0
    editor: str = ""  # KUBE_EDITOR


def step(line: str, has: str = "", **kwargs) -> Step:
    return Step(line, has, **kwargs)
