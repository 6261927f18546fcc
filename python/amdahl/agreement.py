"""One answer for all ranks of torch.distributed, at a price that training does not notice.

All ranks run the same program, so they ask the same questions in the same order and count them
alike. Rank 0 answers, and says with each answer after how many questions it answers again: about
every PERIOD_SECONDS, at most GAP_MAX questions later. In between no rank sends anything. Answers go
through the store of the process group and not through a collective: no GPU is waited for, every
backend will do, and rank 0 waits for no other rank. Without torch.distributed, or with one rank,
every process answers for itself.

A rank that fails in such a call tells the others, which raise CheckpointError with its reason. It
raises its own error.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import sys
import time
from collections.abc import Callable

from amdahl import rank_failure
from amdahl.ranks import Ranks, process_group, starting_group  # noqa: F401: for its users

PERIOD_SECONDS = 0.2
GAP_MAX = 16  # questions: how late an answer can be when steps become slow all at once
ANSWERS_MAX = 1024  # that the store keeps of one question
POLL_SECONDS_MIN, POLL_SECONDS_MAX = 0.0002, 0.05
COMPLAIN_SECONDS = 30.0
WAIT_SECONDS_MAX = 1800.0  # torch's own patience with a rank
HEARD_SECONDS_MAX = 30.0  # that rank 0 stays for the others, before it may end
FAILED = 1 << 32  # added to a count of ranks, which is always less

_numbers: dict = collections.defaultdict(itertools.count)  # by name: ranks count alike


class Question:
    """A question that all ranks ask at the same places. Thread: one.

    any_rank: the answer is yes when one rank would say so, otherwise rank 0 says it alone.
    lasting: an answer holds until the next one; otherwise it is given once, and no after that.
    Failure: TimeoutError when rank 0 does not answer for WAIT_SECONDS_MAX. CheckpointError when
    another rank has failed. A store that is gone gives the answer no: the ranks fail in their next
    collective, with a better error.
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
        self._failures = 0
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
        mine, failure = self._own_answer(ranks, number, own), None
        try:
            self._answer, failure = self._say(ranks, number, mine) if ranks.rank == 0 else \
                self._hear(ranks, number, mine)
        except (RuntimeError, ValueError) as error:
            print(f"amdahl: rank {ranks.rank}: {self._name}: {error}", file=sys.stderr, flush=True)
            self._answer, self._next = False, sys.maxsize
        if failure is not None:
            raise failure
        return self._answer

    def _own_answer(self, ranks: Ranks, number: int, own: Callable[[], bool]) -> bool:
        if ranks.rank and not self._any_rank:
            return False
        try:
            return own()
        except BaseException as error:
            with contextlib.suppress(Exception):  # the error counts, not that none can hear it
                self._tell_failure(ranks, number, error)
            raise

    def _say(self, ranks: Ranks, number: int, own: bool) -> tuple[bool, Exception | None]:
        wishes = self._store.add(f"{self._name}/wishes", 0) if self._any_rank and not own else 0
        if wishes >= FAILED:
            text = self._store.get(f"{self._name}/why")
            self._store.add(f"{self._name}/wishes", -FAILED * (wishes // FAILED))
            self._publish_failure(ranks, number, text.decode())
            return False, rank_failure.error_of(text)
        answer = own or wishes > 0
        self._gap = 1 if answer else self._next_gap(number)
        self._publish(number, f"{int(answer)} {self._gap}")
        return answer, None

    def _publish(self, number: int, text: str) -> None:
        self._next = number + self._gap
        key = f"{self._name}/{number}"
        self._store.set(key, text)
        self._store.add(f"{self._name}/said", number + 1 - self._said_before(number))
        self._kept.append(key)
        if len(self._kept) > ANSWERS_MAX:
            self._store.delete_key(self._kept.popleft())

    def _tell_failure(self, ranks: Ranks, number: int, error: BaseException) -> None:
        """Rank 0 as its answer; another rank to rank 0, which gives it as its next one."""
        text = rank_failure.text_of(self._call, ranks.rank, error)
        if ranks.rank == 0:
            self._publish_failure(ranks, number, text, stay=isinstance(error, Exception))
            return
        self._store.set(f"{self._name}/why", text)
        self._store.add(f"{self._name}/heard", 1)
        self._store.add(f"{self._name}/wishes", FAILED)

    def _publish_failure(self, ranks: Ranks, number: int, text: str, stay: bool = True) -> None:
        self._answer, self._gap, self._failures = False, 1, self._failures + 1
        self._publish(number, text)
        if stay:
            _until_heard(ranks, self._name, self._failures)

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

    def _hear(self, ranks: Ranks, number: int, wish: bool) -> tuple[bool, Exception | None]:
        if wish != self._told:
            self._store.add(f"{self._name}/wishes", 1 if wish else -1)
            self._told = wish
        self._await(number, ranks.rank)
        text = self._store.get(f"{self._name}/{number}")
        failure = rank_failure.error_of(text)
        if failure is not None:
            self._next = number + 1
            self._store.add(f"{self._name}/heard", 1)
            return False, failure
        answer, gap = text.decode().split()
        self._next = number + int(gap)
        return answer == "1", None

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
        try:
            told = value()
        except BaseException as error:
            _tell_failure(ranks, key, rank_failure.text_of(name, 0, error), error)
            raise
        _tell(ranks, key, str(told))
        if ends and told:
            _until_heard(ranks, key)
        return told
    _wait_for(ranks, f"{key}/said", 1, f"rank 0 in amdahl.checkpoint.{name}()")
    text = ranks.store.get(key)
    failure = rank_failure.error_of(text)
    if failure is not None or (ends and int(text)):
        ranks.store.add(f"{key}/heard", 1)
    if failure is not None:
        raise failure
    return int(text)


def all_say(name: str, yes: Callable[[], bool], *, ranks: Ranks | None = None) -> bool:
    """Whether yes() on all ranks, on all of them. Every rank calls it, and waits for the others,
    unless one has failed."""
    ranks = ranks or process_group()
    if ranks is None:
        return yes()
    key = f"amdahl/{name}-all/{next(_numbers[name + '-all'])}"
    try:
        own = yes()
    except BaseException as error:
        _say_failure(ranks, key, rank_failure.text_of(name, ranks.rank, error), error)
        raise
    ranks.store.add(f"{key}/no", int(not own))
    ranks.store.add(f"{key}/said", 1)
    _wait_for(ranks, f"{key}/said", ranks.size, f"all ranks in amdahl.checkpoint.{name}()")
    refusals = ranks.store.add(f"{key}/no", 0)
    if refusals < FAILED:
        return refusals == 0
    failure = rank_failure.error_of(ranks.store.get(key))
    _hear_failure(ranks, key)
    raise failure


def _tell(ranks: Ranks, key: str, text: str) -> None:
    ranks.store.set(key, text)
    ranks.store.add(f"{key}/said", 1)


def _tell_failure(ranks: Ranks, key: str, text: str, error: BaseException) -> None:
    with contextlib.suppress(Exception):  # the error counts, not that none can hear it
        _tell(ranks, key, text)
        if isinstance(error, Exception):  # an interrupt ends the process now
            _until_heard(ranks, key)


def _say_failure(ranks: Ranks, key: str, text: str, error: BaseException) -> None:
    with contextlib.suppress(Exception):
        ranks.store.set(key, text)
        ranks.store.add(f"{key}/no", FAILED)
        ranks.store.add(f"{key}/said", ranks.size)  # nobody waits for the others any more
        if ranks.rank or isinstance(error, Exception):
            _hear_failure(ranks, key)


def _hear_failure(ranks: Ranks, key: str) -> None:
    """Rank 0 stays: what the others hear may be in its process."""
    if ranks.rank == 0:
        _until_heard(ranks, key)
    else:
        ranks.store.add(f"{key}/heard", 1)


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


def _until_heard(ranks: Ranks, key: str, times: int = 1) -> None:
    began = time.monotonic()
    while ranks.store.add(f"{key}/heard", 0) < times * (ranks.size - 1):
        if time.monotonic() - began >= HEARD_SECONDS_MAX:
            return  # a rank that died hears nothing
        time.sleep(POLL_SECONDS_MAX)
