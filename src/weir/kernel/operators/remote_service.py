"""SERVICE as an operator: at each index, the remote rows for the left rows visible there.

A remote row is visible at the one index it was asked for: ``[k, k + 1)``. Indices are taken in order, for
what one evaluation fetches the next ones see; an index that only serves as "before" fetches nothing.

The endpoint is asked by what a left row binds of its variables. Rows that leave some of them unbound (after
OPTIONAL, BIND or SILENT) are asked for and joined by themselves: only those that bind none need everything.

A left row whose endpoint is no IRI fails the query; under SILENT it passes as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weir.errors import EvaluationError
from weir.kernel.contract import Lack, NotCovered
from weir.kernel.operators.filter import Filter
from weir.kernel.operators.inputs.input import Present
from weir.kernel.operators.left_join import left_join
from weir.kernel.operators.operator import Operator, Unary
from weir.kernel.relations.matches import join
from weir.kernel.relations.relation import Relation, union
from weir.kernel.service_calls import Calls
from weir.language.algebra import patterns as a
from weir.language.algebra.scope import visible
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Variable


@dataclass(eq=False)
class Service(Operator):
    """``left`` joined with a SERVICE, or left-joined where it is ``optional``.

    A variable endpoint is taken from the left rows, each of which asks the endpoint it names. ``place`` tells
    equal SERVICEs of a query apart. ``silence`` are the indices at which an endpoint has answered nothing of
    what it was asked for, now or before.
    """

    left: Operator
    service: a.Service
    present: Present
    calls: Calls
    dictionary: Dictionary
    place: str
    optional: bool = False
    check: Filter | None = None

    def __post_init__(self) -> None:
        self.nests = False
        self.silence: set[int] = set()
        self._own = tuple(variable.name for variable in visible(self.service))
        inner = (variable.name for variable in visible(self.service.pattern))
        self._shared = tuple(name for name in inner if name in self.left.variables)
        self.variables = tuple(dict.fromkeys((*self.left.variables, *self._own)))

    def run(self) -> Relation:
        self.silence.clear()
        left, passing = self._callers(self.left.run())
        met = [self._met(keys, rows) for keys, rows in self._by_keys(left)]
        if passing is not None:
            met.append(passing)
        return met[0] if len(met) == 1 else union(*met)

    def _met(self, keys: tuple[str, ...], left: Relation) -> Relation:
        found = self._remote(keys, left)
        if not self.optional:
            return join(left, found)
        return left_join(left, found, None if self.check is None else self.check.keep)

    def _by_keys(self, left: Relation) -> list[tuple[tuple[str, ...], Relation]]:
        """The left rows by which of the variables of the SERVICE they bind."""
        lacking = [name for name in self._shared if left.may_lack(name)]
        if not lacking:
            return [(self._shared, left)]
        bound = np.zeros(len(left), np.int64)
        for place, name in enumerate(lacking):
            bound |= (left.columns[name] != 0).astype(np.int64) << place
        groups = []
        for code in np.unique(bound).tolist():
            gone = {name for place, name in enumerate(lacking) if not code >> place & 1}
            keys = tuple(name for name in self._shared if name not in gone)
            groups.append((keys, left.take(bound == code)))
        return groups

    def within(self, seed: Relation, key: str) -> Relation:
        raise NotCovered(Lack.NESTED_SERVICE)

    def _callers(self, left: Relation) -> tuple[Relation, Relation | None]:
        """The left rows that name an endpoint, and those that do not but pass, None where there are none."""
        name = self.service.name
        if isinstance(name, IRI):
            return left, None
        column = left.columns.get(name.name, np.zeros(len(left), np.int64))
        ids = np.unique(column)
        good = ids[[bool(each) and isinstance(self.dictionary.decode(each), IRI) for each in ids.tolist()]]
        calls = np.isin(column, good)
        if calls.all():
            return left, None
        wrong = int(column[~calls].min())
        if not wrong or not self.service.silent:
            said = "has no endpoint"
            if wrong:
                said = f"is bound to {self.dictionary.decode(wrong)}, which is no endpoint"
            hint = "bind the variable to an IRI before SERVICE"
            raise EvaluationError(f"SERVICE {name} {said}", hint=hint)
        return left.take(calls), left.take(~calls)

    def _remote(self, keys: tuple[str, ...], left: Relation) -> Relation:
        at = self.present.at
        parts: list[Relation] = []
        for index in range(int(at.void), len(at)):
            here = np.flatnonzero((left.start <= index) & (left.end > index))
            time, refresh = int(at.time[index]), bool(at.emitted[index])
            for endpoint, rows in self._endpoints(left, here):
                parts.append(self._asked(endpoint, keys, left, rows, index, time, refresh))
        parts = [part for part in parts if len(part)]
        return union(*parts) if parts else Relation.empty(self._own)

    def _endpoints(self, left: Relation, here: Ids) -> Sequence[tuple[int | None, Ids]]:
        """The left rows by the endpoint that they ask; None where the query names it."""
        name = self.service.name
        if isinstance(name, IRI):
            return [(None, here)]
        column = left.columns.get(name.name, np.zeros(len(left), np.int64))
        return [(endpoint, here[column[here] == endpoint]) for endpoint in np.unique(column[here]).tolist()]

    def _asked(
        self,
        endpoint: int | None,
        keys: tuple[str, ...],
        left: Relation,
        rows: Ids,
        index: int,
        time: int,
        refresh: bool,
    ) -> Relation:
        name = self.service.name if endpoint is None else self.dictionary.decode(endpoint)
        assert isinstance(name, IRI)  # _callers
        place = " ".join((self.place, *sorted(keys)))
        call = self.calls.call(self.service, name, frozenset(keys), place=place, optional=self.optional)
        bindings = {name: left.columns[name][rows] for name in call.join}
        answer = call.rows(bindings, len(rows), time, refresh=refresh)
        if answer.freshness.missing and not answer.freshness.rows and not self.service.silent:
            self.silence.add(index)
        length = len(answer.fetched)
        columns = {name: answer.columns.get(name, np.zeros(length, np.int64)) for name in self._own}
        columns |= {name: column for name, column in answer.columns.items() if name not in columns}
        if endpoint is not None and isinstance(self.service.name, Variable):
            columns[self.service.name.name] = np.full(length, endpoint)
        optional = frozenset(name for name, column in columns.items() if not column.all())
        return Relation(columns, np.full(length, index), np.full(length, index + 1), optional)


class Answered(Unary):
    """An aggregate over all rows, but for where an endpoint below it has answered nothing: what is not known
    is missing, and no count of nothing."""

    def __init__(self, inner: Operator, services: Sequence[Service], present: Present) -> None:
        super().__init__(inner)
        self._services = services
        self._present = present

    def _kept(self, rows: Relation) -> Relation:
        silent = set().union(*(service.silence for service in self._services))
        if not silent:
            return rows
        pieces = []
        for index in range(len(self._present.at)):
            here = np.flatnonzero((rows.start <= index) & (rows.end > index))
            if index not in silent and len(here):
                starts = np.full(len(here), index)
                pieces.append(rows.pieces(here, starts, starts + 1))
        return union(*pieces) if pieces else Relation.empty(self.variables)
