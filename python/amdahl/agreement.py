"""One answer for all ranks of torch.distributed, at a price that training does not notice.

All ranks run the same program, so they ask the same questions in the same order and count them
alike. Rank 0 answers, and says with each answer after how many questions it answers again: about
every PERIOD_SECONDS, at most GAP_MAX questions later. In between no rank sends anything. Answers go
through the store of the process group and not through a collective: no GPU is waited for, every
backend will do, and rank 0 waits for no other rank. Without torch.distributed, or with one rank,
every process answers for itself.
"""

from __future__ import annotations

import collections
import itertools
import os
import sys
import time
from collections.abc import Callable

PERIOD_SECONDS = 0.2
GAP_MAX = 16  # questions: how late an answer can be when steps become slow all at once
ANSWERS_MAX = 1024  # that the store keeps of one question
POLL_SECONDS_MIN, POLL_SECONDS_MAX = 0.0002, 0.05
COMPLAIN_SECONDS = 30.0
WAIT_SECONDS_MAX = 1800.0  # torch's own patience with a rank
HEARD_SECONDS_MAX = 30.0  # that rank 0 stays for the others, before it may end

_numbers: dict = collections.defaultdict(itertools.count)  # by name: ranks count alike


class Question:
    """A question that all ranks ask at the same places. Thread: one.

    any_rank: the answer is yes when one rank would say so, otherwise rank 0 says it alone.
    lasting: an answer holds until the next one; otherwise it is given once, and no after that.
    Failure: TimeoutError when rank 0 does not answer for WAIT_SECONDS_MAX. A store that is gone
    gives the answer no: the ranks fail in their next collective, with a better error.
    """

    def __init__(self, name: str, *, any_rank: bool = False, lasting: bool = False,
                 clock=time.monotonic, sleep=time.sleep) -> None:
        self._call = name
        self._name = f"amdahl/{name}/{next(_numbers[name])}"
        self._any_rank, self._lasting = any_rank, lasting
        self._clock, self._sleep = clock, sleep
        self._begin(None)

    def _begin(self, store) -> None:
        self._store = store
        self._asked = self._next = 0
        self._gap, self._answered_at = 0, self._clock()
        self._answer = self._told = False
        self._kept: collections.deque = collections.deque()

    def ask(self, own: Callable[[], bool]) -> bool:
        """own(): what this process would answer; called when it counts, and not in between."""
        ranks = process_group()
        if ranks is None:
            return own()
        if ranks.store is not self._store:  # a new process group: all ranks begin again
            self._begin(ranks.store)
        number, self._asked = self._asked, self._asked + 1
        if number < self._next:
            return self._answer and self._lasting
        try:
            self._answer = self._say(number, own()) if ranks.rank == 0 else \
                self._hear(number, ranks.rank, own)
        except (RuntimeError, ValueError) as error:
            print(f"amdahl: rank {ranks.rank}: {self._name}: {error}", file=sys.stderr, flush=True)
            self._answer, self._next = False, sys.maxsize
        return self._answer

    def _say(self, number: int, own: bool) -> bool:
        answer = own or (self._any_rank and self._store.add(f"{self._name}/wishes", 0) > 0)
        self._gap = 1 if answer else self._next_gap(number)
        self._next = number + self._gap
        key = f"{self._name}/{number}"
        self._store.set(key, f"{int(answer)} {self._gap}")
        self._store.add(f"{self._name}/said", number + 1 - self._said_before(number))
        self._kept.append(key)
        if len(self._kept) > ANSWERS_MAX:
            self._store.delete_key(self._kept.popleft())
        return answer

    def _said_before(self, number: int) -> int:
        return int(self._kept[-1].rpartition("/")[2]) + 1 if self._kept else 0

    def _next_gap(self, number: int) -> int:
        """As many questions as PERIOD_SECONDS hold, at most twice as many as last time."""
        now = self._clock()
        seconds, self._answered_at = now - self._answered_at, now
        if number == 0:
            return 1
        fitting = int(self._gap * PERIOD_SECONDS / max(seconds, 1e-6))
        return max(1, min(fitting, 2 * self._gap, GAP_MAX))

    def _hear(self, number: int, rank: int, own: Callable[[], bool]) -> bool:
        if self._any_rank:
            wish = own()
            if wish != self._told:
                self._store.add(f"{self._name}/wishes", 1 if wish else -1)
                self._told = wish
        self._await(number, rank)
        answer, gap = self._store.get(f"{self._name}/{number}").decode().split()
        self._next = number + int(gap)
        return answer == "1"

    def _await(self, number: int, rank: int) -> None:
        """Asks the store again and again: a blocking call would keep other threads from it."""
        began, pause, complain = self._clock(), POLL_SECONDS_MIN, COMPLAIN_SECONDS
        while self._store.add(f"{self._name}/said", 0) <= number:
            self._sleep(pause)
            pause = min(2 * pause, POLL_SECONDS_MAX)
            waited = self._clock() - began
            if waited < complain:
                continue
            text = f"rank {rank} has waited {waited:.0f} s for rank 0 in {self._call}(): rank 0 " \
                   "stands still, or does not call it at every step as all ranks must"
            if waited >= WAIT_SECONDS_MAX:
                raise TimeoutError(text)
            print(f"amdahl: {text}", file=sys.stderr, flush=True)
            complain = min(2 * complain, WAIT_SECONDS_MAX)


class Ranks:
    """This process among others, and the store that they share."""

    def __init__(self, rank: int, store, size: int) -> None:
        self.rank, self.store, self.size = rank, store, size


def process_group() -> Ranks | None:
    """This process among the ranks of torch.distributed; None when there is no other."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or \
            not distributed.is_initialized() or distributed.get_world_size() == 1:
        return None
    store = distributed.distributed_c10d._get_default_store()  # noqa: SLF001: nothing public has it
    return Ranks(distributed.get_rank(), store, distributed.get_world_size())


def starting_group(size: int) -> Ranks | None:
    """process_group(), or the ranks that torchrun has started and that will form one.

    For what all ranks do before the framework starts torch.distributed, as Lightning does late.
    size: how many ranks there are; nothing without a place to meet (MASTER_ADDR), or alone.
    """
    global _meeting  # noqa: PLW0603
    ranks, torch = process_group(), sys.modules.get("torch")
    env = os.environ
    if ranks is not None or torch is None or size < 2 or env.get("WORLD_SIZE") != str(size) or \
            not {"RANK", "MASTER_ADDR", "MASTER_PORT"} <= env.keys():
        return ranks
    if not torch.distributed.is_available() or torch.distributed.is_initialized():
        return None
    if _meeting is None:  # kept: without torchrun its server is in the process of rank 0
        store, rank, size = next(torch.distributed.rendezvous("env://"))
        _meeting = Ranks(rank, torch.distributed.PrefixStore("amdahl", store), size)
    return _meeting


_meeting: Ranks | None = None


def tell_all(name: str, value: Callable[[], int], *, ends: bool = False,
             ranks: Ranks | None = None) -> int:
    """What value() gives on rank 0, on all ranks. Every rank calls it; the others wait.

    ranks: those of torch.distributed, unless given. ends: the ranks may end when it is not 0, so
    rank 0 stays until the others have heard it: the store is part of its process unless torchrun
    holds it.
    """
    ranks = ranks or process_group()
    if ranks is None:
        return value()
    key = f"amdahl/{name}/{next(_numbers[name])}"
    if ranks.rank == 0:
        told = value()
        ranks.store.set(key, str(told))
        ranks.store.add(f"{key}/said", 1)
        if ends and told:
            _until_heard(ranks, key)
        return told
    _wait_for(ranks, f"{key}/said", 1, f"rank 0 to call amdahl.checkpoint.{name}()")
    told = int(ranks.store.get(key))
    if ends and told:
        ranks.store.add(f"{key}/heard", 1)
    return told


def all_say(name: str, yes: bool, *, ranks: Ranks | None = None) -> bool:
    """Whether all ranks say yes, on all of them. Every rank calls it, and waits for the others."""
    ranks = ranks or process_group()
    if ranks is None:
        return yes
    key = f"amdahl/{name}-all/{next(_numbers[name + '-all'])}"
    ranks.store.add(f"{key}/no", int(not yes))
    ranks.store.add(f"{key}/said", 1)
    _wait_for(ranks, f"{key}/said", ranks.size, f"all ranks in amdahl.checkpoint.{name}()")
    return ranks.store.add(f"{key}/no", 0) == 0


def _wait_for(ranks: Ranks, key: str, count: int, what: str) -> None:
    began, complained = time.monotonic(), False
    while ranks.store.add(key, 0) < count:
        time.sleep(POLL_SECONDS_MAX)
        waited = time.monotonic() - began
        if waited >= WAIT_SECONDS_MAX:
            raise TimeoutError(f"rank {ranks.rank} has waited {WAIT_SECONDS_MAX:.0f} s for {what}")
        if waited >= COMPLAIN_SECONDS and not complained:
            complained = True  # a script that asks on some ranks only would hang without a word
            print(f"amdahl: rank {ranks.rank} waits for {what}; every rank must make this call",
                  file=sys.stderr, flush=True)


def _until_heard(ranks: Ranks, key: str) -> None:
    began = time.monotonic()
    while ranks.store.add(f"{key}/heard", 0) < ranks.size - 1:
        if time.monotonic() - began >= HEARD_SECONDS_MAX:
            return  # a rank that died hears nothing
        time.sleep(POLL_SECONDS_MAX)
