"""The scalar way: a function of ``kernel.functions``, once per distinct combination of its arguments' ids.

Outcomes are remembered between calls, within bounds: a function that comes here depends on nothing but
its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.functions import Context, value_or_none
from weir.kernel.interval.expressions.terms import Terms
from weir.kernel.interval.keys import codes
from weir.language.expressions import Expression
from weir.rdf.columns import Ids
from weir.rdf.terms import Term

_REMEMBERED = 1 << 16
_FEW = 16


class Scalar:
    """``template`` is an expression over variables named "0", "1", … that stand for the arguments; an
    argument in error is an error of the whole."""

    def __init__(self, template: Expression, terms: Terms, context: Context) -> None:
        self._template = template
        self._terms = terms
        self._context = context
        self._known: dict[tuple[int, ...], int] = {}

    def __call__(self, arguments: Sequence[Ids], length: int) -> Ids:
        """The outcome's id for each row, 0 on error."""
        if length <= _FEW or not arguments:
            rows = list(zip(*(ids.tolist() for ids in arguments), strict=True)) if arguments else [()]
            found = self._values(rows)
            return np.array(found, np.int64) if arguments else np.full(length, found[0])
        numbers, firsts = codes(arguments, length)
        distinct = list(zip(*(ids[firsts].tolist() for ids in arguments), strict=True))
        return np.array(self._values(distinct), np.int64)[numbers]

    def _values(self, combinations: Sequence[tuple[int, ...]]) -> list[int]:
        known = self._known
        new = [ids for ids in dict.fromkeys(combinations) if ids not in known]
        if new:
            if len(known) + len(new) > _REMEMBERED:
                known = self._known = {ids: known[ids] for ids in combinations if ids in known}
            outcomes = self._terms.encode_all([self._value(ids) for ids in new])
            known.update(zip(new, outcomes.tolist(), strict=True))
        return [known[ids] for ids in combinations]

    def _value(self, ids: tuple[int, ...]) -> Term | None:
        if not all(ids):
            return None
        solution = {str(place): self._terms.term(each) for place, each in enumerate(ids)}
        return value_or_none(self._template, solution, self._context)
