"""What short cuts have in common, and the simplest of them.

A short cut looks at some evaluation times and answers what the operators would, or gives the rows from
which the query's form makes the answers, or declines. The operators answer whatever all of them decline.
Some make answers straight from columns of solutions, where nothing has to be compared or looked up for them:
of SELECT, and of CONSTRUCT of one triple without blank nodes whose subject cannot be a literal.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from weir.kernel.contract import Answers
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.operators.inputs.window_input import WindowInput
from weir.kernel.relations.relation import Relation
from weir.kernel.windows.evaluation_times import Clock, Evaluations
from weir.language.algebra.patterns import TripleTermPattern
from weir.language.algebra.query import Construct, Query, Select
from weir.rdf.columns import Ids
from weir.rdf.terms import BlankNode, Variable

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


Column: TypeAlias = "int | array[int]"
"""The values of a variable: one for all solutions, or one for each."""

_TRIPLE = ("subject", "predicate", "object")


class PlainForm:
    """``wanted`` are the variables that make an answer; ``template`` the ids and variables of CONSTRUCT's
    triple, nothing for SELECT."""

    def __init__(self, wanted: tuple[str, ...], template: tuple[int | str, ...] = ()) -> None:
        self.wanted = wanted
        self.columns = _TRIPLE if template else wanted
        self._template = template
        self._constants: dict[int, Ids] = {}

    def answers(self, columns: Sequence[Column], count: int) -> dict[str, Ids]:
        """The answers of ``count`` solutions at one instant, all of them sent, given as wanted columns."""
        if not self._template:
            return {name: _filled(each, count) for name, each in zip(self.wanted, columns, strict=True)}
        listed = [column for column in columns if not isinstance(column, int)]
        values: Iterator[Ids] = iter(())
        if len(listed) == 1:
            distinct = _distinct(np.array(listed[0]))
            values, count = iter((distinct,)), len(distinct)
        elif listed:
            rows = dict.fromkeys(zip(*listed, strict=True))
            values, count = iter(np.array(list(rows), np.int64).T), len(rows)
        else:
            count = 1
        made = [_filled(column, count) if isinstance(column, int) else next(values) for column in columns]
        return self.triples(dict(zip(self.wanted, made, strict=True)), count)

    def triples(self, values: Mapping[str, Ids], count: int) -> dict[str, Ids]:
        """The ``count`` triples of CONSTRUCT with these values for its variables."""
        made = [
            values[part] if isinstance(part, str) else self._constant(part, count) for part in self._template
        ]
        return dict(zip(_TRIPLE, made, strict=True))

    def _constant(self, id: int, count: int) -> Ids:
        """A column of one value; answers share it, as nobody changes them."""
        column = self._constants.get(id)
        if column is None or len(column) < count:
            column = self._constants[id] = np.full(2 * count + 64, id, np.int64)
            column.flags.writeable = False
        return column[:count]


def plain_form(query: Query, terms: Terms, safe: frozenset[str]) -> PlainForm | None:
    """The query's form, if it is a plain one; ``safe`` are the variables that are never literals."""
    match query.form:
        case Select(variables):
            return PlainForm(tuple(variable.name for variable in variables))
        case Construct((triple,), ()):
            template: list[int | str] = []
            for node in (triple.subject, triple.predicate, triple.object):
                if isinstance(node, BlankNode | TripleTermPattern):
                    return None
                if isinstance(node, Variable) and node.internal:
                    return None
                template.append(node.name if isinstance(node, Variable) else terms.encode(node))
            subject, predicate, _ = template
            if isinstance(predicate, str) or (isinstance(subject, str) and subject not in safe):
                return None
            names = dict.fromkeys(part for part in template if isinstance(part, str))
            return PlainForm(tuple(names), tuple(template))
    return None


def _filled(values: Column, count: int) -> Ids:
    if isinstance(values, int):
        filled = np.empty(count, np.int64)
        filled.fill(values)
        return filled
    return np.array(values)


def _distinct(values: Ids) -> Ids:
    """Each value once; the array is used up."""
    values.sort()
    new = np.empty(len(values), np.bool_)
    new[:1] = True
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return values[new]
