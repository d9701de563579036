"""Which of the queries that are evaluated together fails, where their evaluation does.

Each half is evaluated by itself, from the state before the batch, and of a half that fails its halves again,
so that a few among thousands are found in a few steps. Where no query fails by itself but all together do,
the one is to go with which it becomes too much, in the order of their names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weir.errors import OutOfTime
from weir.kernel.contract import FailedAt

Attempt = Callable[[Sequence[str]], BaseException | None]
"""Evaluates some of the queries; what it raised."""


def culprits(names: Sequence[str], attempt: Attempt) -> dict[str, BaseException]:
    """The queries that fail, with what they raised; ``names`` are known to fail together."""
    ordered = sorted(names)
    if len(ordered) == 1:
        error = attempt(ordered)
        return {} if error is None else {ordered[0]: error}
    found = _apart(ordered, attempt)
    return found or _one_too_many(ordered, attempt)


def _apart(names: Sequence[str], attempt: Attempt) -> dict[str, BaseException]:
    found: dict[str, BaseException] = {}
    waiting = [names[: len(names) // 2], names[len(names) // 2 :]]
    while waiting:
        some = waiting.pop()
        error = attempt(some)
        if error is None:
            continue
        if len(some) == 1:
            found[some[0]] = error
        else:
            waiting += [some[: len(some) // 2], some[len(some) // 2 :]]
    return found


def _one_too_many(names: Sequence[str], attempt: Attempt) -> dict[str, BaseException]:
    """With more of them it does not get better: the fewest of the first ones that fail."""
    fits, fails = 0, len(names)
    error: BaseException | None = None
    while fails - fits > 1:
        middle = (fits + fails) // 2
        tried = attempt(names[:middle])
        if tried is None:
            fits = middle
        else:
            fails, error = middle, tried
    return {names[fails - 1]: error or FailedAt(0, 0)}


def took_too_long(error: BaseException) -> bool:
    """Whether an evaluation was ended by the clock."""
    return isinstance(error.__cause__ if isinstance(error, FailedAt) else error, OutOfTime)
