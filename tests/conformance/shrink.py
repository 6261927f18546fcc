"""The shortest sequence that still shows a difference."""

import copy
from collections.abc import Callable

from mutate import at, places

RUNS_MAX = 400  # of one shrinking: each is a whole sequence on both servers


def shrunk(steps: list[dict], fails: Callable[[list[dict]], bool]) -> list[dict]:
    """First fewer steps, then smaller ones. `fails` says whether a candidate still differs."""
    budget = Budget(fails)
    steps = _fewer(steps, budget)
    for index in range(len(steps)):
        steps = _smaller(steps, index, budget)
    return _fewer(steps, budget)


class Budget:
    def __init__(self, fails):
        self._fails, self.left = fails, RUNS_MAX

    def still_fails(self, steps: list[dict]) -> bool:
        if self.left == 0 or not steps:
            return False
        self.left -= 1
        return self._fails(steps)


def _fewer(steps: list[dict], budget: Budget) -> list[dict]:
    """Delta debugging: halves, quarters, .. and at last single steps are left out."""
    size = max(len(steps) // 2, 1)
    while True:
        start = 0
        while start < len(steps):
            candidate = steps[:start] + steps[start + size:]
            if budget.still_fails(candidate):
                steps = candidate
            else:
                start += size
        if size == 1:
            return steps
        size //= 2


def _smaller(steps: list[dict], index: int, budget: Budget) -> list[dict]:
    """Leaves out parts of one step: query parameters, then whatever its body can spare."""
    for part in ("query", "body"):
        spared = {("dryRun",)}  # without it a candidate would change what later ones meet
        while True:
            path = next((p for p in _removable(steps[index].get(part)) if p not in spared), None)
            if path is None or budget.left == 0:
                break
            candidate = copy.deepcopy(steps)
            parent = at(candidate[index][part], path[:-1])
            del parent[path[-1]]
            if budget.still_fails(candidate):
                steps = candidate
            else:
                spared.add(path)
    return steps


def _removable(value) -> list[tuple]:
    """Big parts first: the top of a tree before its leaves."""
    spare = [path for path in places(value) if not str(path[-1]).startswith("$")]
    return sorted(spare, key=lambda path: (len(path), str(path)))
