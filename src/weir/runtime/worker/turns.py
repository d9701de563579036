"""Queries that call SERVICE take turns: their evaluations are made in the order of time, whatever the batch.

At one evaluation time all that are due come together, so that an endpoint's budget for that time is shared by
those that need it. Law: the order in which endpoints are asked is that of evaluation times, then of names,
and does not depend on how the input is cut into batches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from weir.kernel.contract import Answers, Steps
from weir.language.algebra.fold import walk
from weir.language.algebra.patterns import BGP, Service
from weir.language.algebra.query import Query


def calls_services(query: Query) -> bool:
    """Whether a query has a SERVICE anywhere, also inside of an expression."""
    parts = (query.form, query.pattern)
    return any(isinstance(node, Service) for node in walk(parts, closed=(BGP,)))


def levels(order: Sequence[str], queries: Mapping[str, Query]) -> dict[str, tuple[int, bool]]:
    """For each query how many queries that call SERVICE its input goes through one after the other, and
    whether it calls one itself; ``order`` has makers before readers.

    All queries of a level can be advanced together once those of lower levels have been, first those that
    call no SERVICE.
    """
    makers = {query.output: name for name, query in queries.items() if query.output is not None}
    found: dict[str, tuple[int, bool]] = {}
    for name in order:
        before = [found[makers[s]] for s in queries[name].streams if isinstance(s, str) and s in makers]
        level = max((level + calls for level, calls in before), default=0)
        found[name] = level, calls_services(queries[name])
    return found


def in_order_of_time(
    steps: Mapping[str, Steps],
    together: Callable[[int, Sequence[str]], None],
    work: Callable[[str, Callable[[], None]], None],
) -> dict[str, Answers]:
    """Make the evaluations of several queries in the order of time; gives the answers of those that end.

    ``together`` hears which queries are due at a time before any of them is evaluated. ``work`` does the
    work on a query and says what becomes of its errors: one that failed and did not raise is left out.
    """
    due: dict[str, int] = {}
    answers: dict[str, Answers] = {}

    def step(name: str) -> None:
        try:
            due[name] = next(steps[name])
        except StopIteration as done:
            answers[name] = done.value

    for name in sorted(steps):
        work(name, partial(step, name))
    while due:
        at = min(due.values())
        names = [name for name in sorted(due) if due[name] == at]
        together(at, names)
        for name in names:
            del due[name]
            work(name, partial(step, name))
    return answers
