"""That a query failed: at which evaluation time, why, and what of its batch counts all the same.

A failure is found by the group that evaluates the query, in one of its slots. The driver writes it to the
control log before the batch is committed, so that a batch that is repeated ends the query where it ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from weir.errors import WeirError

_LONGEST = 2_000
"""Characters of a reason: what a library says may be as long as the data."""


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What a query may take: ``seconds`` of work in one batch, and ``rows`` that it keeps after one in a
    slot; with these, it may give 16,777,216 answers there in one. None is no limit. One that takes more
    fails."""

    seconds: float | None = None
    rows: int | None = None


UNLIMITED = QueryLimits()


@dataclass(frozen=True, slots=True)
class Failure:
    """The query ``name``, as registered from batch ``since`` on, failed in ``slot``, at the evaluation time
    ``at`` (µs), None where it was at none.

    ``before`` is how many evaluations of the batch came before it there: only those count. None is for a
    query that can be evaluated in this batch and no further: all counts, or, where ``at`` is known, what is
    older. ``delay`` is its EMIT AFTER: by so much later are its results stamped. ``spent`` is what it asked
    of endpoints in evaluations that do not count: ledger, query, evaluation time, requests.
    """

    name: str
    since: int
    reason: str
    at: int | None = None
    before: int | None = 0
    slot: int = 0
    delay: int = 0
    spent: Sequence[tuple[str, str, int, int]] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain values, of which ``Failure(**…)`` makes it again."""
        return asdict(self)


def reason_of(error: BaseException) -> str:
    """What an error says, for people: Weir's own as they are, others with their kind."""
    try:
        said = str(error) if isinstance(error, WeirError) else f"{type(error).__name__}: {error}"
    except BaseException:
        said = type(error).__name__
    said = said.strip().removesuffix(":")
    cut = said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"
    return cut.encode("utf-8", "backslashreplace").decode("utf-8")


def earliest(failures: Iterable[Failure]) -> dict[str, Failure]:
    """One failure for each query: that of the earliest evaluation time, whichever slot found it."""
    found: dict[str, Failure] = {}
    for each in failures:
        known = found.get(each.name)
        if known is None or known.since != each.since:
            found[each.name] = each
        elif known.at is None or (each.at is not None and each.at < known.at):
            found[each.name] = replace(each, at=known.at if each.at is None else each.at)
    return found
