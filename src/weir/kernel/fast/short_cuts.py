"""The short cuts of a query, in the order in which they are tried.

A short cut looks at some evaluation times and answers what the operators would, or gives the rows from
which the query's form makes the answers, or declines. The operators answer whatever all of them decline.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from weir.kernel.contract import Answers
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.fast.distinct_join import DistinctJoin
from weir.kernel.fast.plain_form import plain_form
from weir.kernel.fast.single_message import single_message
from weir.kernel.operators.inputs.pattern_inputs import PatternInputs
from weir.kernel.operators.inputs.window_input import WindowInput
from weir.kernel.operators.join import Join, Router
from weir.kernel.operators.operator import Operator
from weir.kernel.relations.relation import Relation
from weir.kernel.windows.evaluation_times import Clock, Evaluations
from weir.language.algebra.query import R2S, Ask, Construct, Previous, Query

_NONE = np.empty(0, np.int64)


class ShortCut(Protocol):
    """Law: an answer is what the operators answer."""

    def answer(self, evaluations: Evaluations) -> Answers | Relation | None:
        """The answers at these times, or the rows that are new at them, or None to decline."""
        ...


class NothingThere:
    """Declines unless a window without which there is no solution shows nothing at any of the times, nor at
    the time that the first of them is compared with."""

    def __init__(
        self, required: list[WindowInput], clock: Clock, columns: tuple[str, ...], *, report_empty: bool
    ) -> None:
        self.required = required
        self.clock = clock
        self.skipped = 0
        self._nothing = dict.fromkeys(columns, _NONE)
        self._silent = Answers(_NONE, self._nothing, _NONE, 1)
        self._report_empty = report_empty

    def answer(self, evaluations: Evaluations) -> Answers | None:
        """No answers, or None where there may be some."""
        times = evaluations.times
        if not self._shows_nothing(times.item(0) - 1):
            return None
        self.skipped += len(times)
        if self._report_empty or len(times) > 1:
            return Answers(_NONE, self._nothing, times if self._report_empty else _NONE, len(times))
        return self._silent

    def _shows_nothing(self, since: int) -> bool:
        """Whether one of the windows has no row that any instant from ``since`` on shows."""
        if self.clock.last is not None:
            since = min(since, self.clock.last.time)
        for each in self.required:
            if not len(each.triples.rows):
                return True
            least = each.window.least(since)
            if least is not None and each.newest() < least:
                return True
        return False


def short_cuts(
    query: Query,
    root: Operator,
    clock: Clock,
    inputs: PatternInputs,
    terms: Terms,
    router: Router,
    columns: tuple[str, ...],
    safe: frozenset[str],
) -> tuple[ShortCut, ...]:
    """Those that a query can take; ``columns`` are those of its answers, ``safe`` as in ``plain_form``."""
    semantics = query.semantics
    if clock.tuples or isinstance(query.form, Ask):
        return ()
    found: list[ShortCut] = []
    required = root.required()
    if required:
        found.append(NothingThere(required, clock, columns, report_empty=semantics.report_empty))
    form = plain_form(query, terms, safe)
    instant = semantics.r2s is R2S.ISTREAM and semantics.previous is Previous.INSTANT
    if form is None or not instant or not root.linear or semantics.report_empty:
        return tuple(found)
    single = single_message(root, form, router)
    if single is not None:
        found.append(single)
    if isinstance(query.form, Construct) and isinstance(root, Join):
        found.append(DistinctJoin(root, form, inputs))
    return tuple(found)
