"""SERVICE as an operator: at each index, the remote rows for the left rows visible there.

A remote row is visible at the one index it was asked for: ``[k, k + 1)``. Indices are taken in order, for
what one evaluation fetches the next ones see; an index that only serves as "before" fetches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.errors import EvaluationError
from weir.kernel.contract import Lack, NotCovered
from weir.kernel.operators.filter import Filter
from weir.kernel.operators.inputs.input import Present
from weir.kernel.operators.left_join import left_join
from weir.kernel.operators.operator import Operator
from weir.kernel.relations.matches import join
from weir.kernel.relations.relation import Relation, union
from weir.kernel.service_calls import Calls
from weir.language.algebra import patterns as a
from weir.language.algebra.scope import visible
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Variable


class Service(Operator):
    """``left`` joined with a SERVICE, or left-joined where it is ``optional``.

    ``bound`` are the variables that every left row binds. A variable endpoint is taken from the left rows,
    each of which asks the endpoint it names. ``place`` tells equal SERVICEs of a query apart.
    """

    nests = False

    def __init__(
        self,
        left: Operator,
        service: a.Service,
        bound: frozenset[str],
        present: Present,
        calls: Calls,
        dictionary: Dictionary,
        *,
        place: str,
        optional: bool = False,
        check: Filter | None = None,
    ) -> None:
        self.left = left
        self.place = place
        self.service = service
        self.present = present
        self.calls = calls
        self.dictionary = dictionary
        self.bound = bound
        self.optional = optional
        self.check = check
        own = [variable.name for variable in visible(service)]
        self._own = tuple(own)
        self.variables = tuple(dict.fromkeys((*left.variables, *own)))

    def run(self) -> Relation:
        left = self.left.run()
        found = self._remote(left)
        if not self.optional:
            return join(left, found)
        return left_join(left, found, None if self.check is None else self.check.keep)

    def within(self, seed: Relation, key: str) -> Relation:
        raise NotCovered(Lack.NESTED_SERVICE)

    def _remote(self, left: Relation) -> Relation:
        at = self.present.at
        parts: list[Relation] = []
        for index in range(int(at.void), len(at)):
            here = np.flatnonzero((left.start <= index) & (left.end > index))
            time, refresh = int(at.time[index]), bool(at.emitted[index])
            for endpoint, rows in self._endpoints(left, here):
                parts.append(self._asked(endpoint, left, rows, index, time, refresh))
        parts = [part for part in parts if len(part)]
        return union(*parts) if parts else Relation.empty(self._own)

    def _endpoints(self, left: Relation, here: Ids) -> Sequence[tuple[int | None, Ids]]:
        """The left rows by the endpoint that they ask; None where the query names it."""
        name = self.service.name
        if isinstance(name, IRI):
            return [(None, here)]
        column = left.columns.get(name.name)
        if column is None or not column[here].all():
            raise EvaluationError(
                f"SERVICE {name} has no endpoint", hint="bind the variable to an IRI before SERVICE"
            )
        return [(endpoint, here[column[here] == endpoint]) for endpoint in np.unique(column[here]).tolist()]

    def _asked(
        self, endpoint: int | None, left: Relation, rows: Ids, index: int, time: int, refresh: bool
    ) -> Relation:
        name = self.service.name if endpoint is None else self.dictionary.decode(endpoint)
        if not isinstance(name, IRI):
            raise EvaluationError(f"SERVICE {self.service.name} is bound to {name}, which is no endpoint")
        call = self.calls.call(self.service, name, self.bound, place=self.place, optional=self.optional)
        bindings = {name: left.columns[name][rows] for name in call.join}
        answer = call.rows(bindings, len(rows), time, refresh=refresh)
        length = len(answer.fetched)
        columns = {name: answer.columns.get(name, np.zeros(length, np.int64)) for name in self._own}
        columns |= {name: column for name, column in answer.columns.items() if name not in columns}
        if endpoint is not None and isinstance(self.service.name, Variable):
            columns[self.service.name.name] = np.full(length, endpoint)
        optional = frozenset(name for name, column in columns.items() if not column.all())
        return Relation(columns, np.full(length, index), np.full(length, index + 1), optional)
