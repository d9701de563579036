"""The scalar way: a function of ``kernel.functions``, once per distinct combination of its arguments' ids.

Outcomes are remembered between calls, within bounds and while the dictionary keeps their texts: a
function that comes here depends on nothing but its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.expressions.term_cache import Terms
from weir.kernel.functions import Context, holds, value_or_none
from weir.kernel.relations.keys import codes
from weir.kernel.relations.relation import Relation
from weir.language.algebra.expressions import Expression
from weir.language.algebra.scope import mentioned
from weir.rdf.columns import Ids, Mask
from weir.rdf.terms import Term

_REMEMBERED = 1 << 16
_FEW = 16


class Scalar:
    """``template`` is an expression over the variables ``names``, which stand for the arguments.

    Where it is ``strict``, an argument in error is an error of the whole.
    """

    def __init__(
        self, template: Expression, names: Sequence[str], terms: Terms, context: Context, *, strict: bool
    ) -> None:
        self._template = template
        self._names = tuple(names)
        self._terms = terms
        self._context = context
        self._strict = strict
        self._known: dict[tuple[int, ...], int] = {}
        self._generation = terms.refresh()

    def __call__(self, arguments: Sequence[Ids], length: int) -> Ids:
        """The outcome's id for each row, 0 on error."""
        if length <= _FEW or not arguments:
            rows = list(zip(*(ids.tolist() for ids in arguments), strict=True)) if arguments else [()]
            found = self.values(rows)
            return np.array(found, np.int64) if arguments else np.full(length, found[0])
        numbers, firsts = codes(arguments, length)
        distinct = list(zip(*(ids[firsts].tolist() for ids in arguments), strict=True))
        return np.array(self.values(distinct), np.int64)[numbers]

    def values(self, combinations: Sequence[tuple[int, ...]]) -> list[int]:
        """The outcome's id for each combination of the arguments' ids."""
        generation = self._terms.refresh()
        if self._generation != generation:
            self._generation = generation
            self._known.clear()
        known = self._known
        try:
            return [known[ids] for ids in combinations]
        except KeyError:
            pass
        new = [ids for ids in dict.fromkeys(combinations) if ids not in known]
        if len(known) + len(new) > _REMEMBERED:
            known = self._known = {ids: known[ids] for ids in combinations if ids in known}
        if len(new) == 1:
            known[new[0]] = self._terms.encode(self._value(new[0]))
        else:
            outcomes = self._terms.encode_all([self._value(ids) for ids in new])
            known.update(zip(new, outcomes.tolist(), strict=True))
        return [known[ids] for ids in combinations]

    def _value(self, ids: tuple[int, ...]) -> Term | None:
        if self._strict and not all(ids):
            return None
        solution = {name: self._terms.term(each) for name, each in zip(self._names, ids, strict=True) if each}
        return value_or_none(self._template, solution, self._context)


class RowByRow:
    """A whole expression row by row, for the few rows of a slab of one message; outcomes are remembered."""

    def __init__(self, expression: Expression, terms: Terms, context: Context) -> None:
        self._expression = expression
        self._terms = terms
        self._context = context
        self._names = tuple(sorted({variable.name for variable in mentioned(expression)}))
        self._holds: dict[tuple[int, ...], bool] = {}
        self._scalar = Scalar(expression, self._names, terms, context, strict=False)

    def ids(self, relation: Relation) -> Ids:
        """The value's id for each row, 0 on error."""
        return np.array(self._scalar.values(self._rows(relation)), np.int64)

    def mask(self, relation: Relation) -> Mask:
        """Where the effective boolean value is true."""
        self._terms.refresh()
        return np.array([self._true(row) for row in self._rows(relation)], np.bool_)

    def _rows(self, relation: Relation) -> list[tuple[int, ...]]:
        """The ids of the expression's variables in each row."""
        length = len(relation)
        if not self._names:
            return [()] * length
        columns = [
            relation.columns[name].tolist() if name in relation.columns else [0] * length
            for name in self._names
        ]
        return list(zip(*columns, strict=True))

    def _true(self, row: tuple[int, ...]) -> bool:
        try:
            return self._holds[row]
        except KeyError:
            pass
        if len(self._holds) >= _REMEMBERED:
            self._holds.clear()
        term = self._terms.term
        solution = {name: term(each) for name, each in zip(self._names, row, strict=True) if each}
        found = self._holds[row] = holds(self._expression, solution, self._context)
        return found
