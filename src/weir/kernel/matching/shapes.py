"""Queries of one shape, evaluated as one: a template, and the table of the constants of those it answers for.

A query that joins adds a row to the table, one that leaves takes it along; the template, what it keeps of the
streams and the others' rows stay. The static graphs of a template are what its queries need of them, put
together: all of it is true, and each query's constants are joined with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from weir.kernel.contract import Background, GraphTable, Slab
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.matching.answers import TRIPLE, Header, Listed, SetAnswers
from weir.language.algebra.query import Select
from weir.plan.analysis.templates import NUMBER, Instance, Shape, template
from weir.plan.analysis.ticks import looking
from weir.plan.parameters import ParameterTable
from weir.plan.planner import plan_query
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.ids.inline import payloads
from weir.rdf.terms import XSD, Literal, Term


class Template:
    """The queries of a shape that see the same messages, from batch ``since`` on.

    ``queries`` are given with the static graphs of each. Raises ``NotCovered`` where the evaluator of
    intervals does not cover the shape.
    """

    def __init__(
        self,
        shape: Shape,
        since: int,
        queries: Mapping[str, tuple[Instance, Background]],
        dictionary: Dictionary,
        streams: Sequence[str] = (),
    ) -> None:
        self.shape = shape
        self.since = since
        self.queries: dict[str, tuple[Instance, Background]] = {}
        self.numbers: dict[tuple[Term, ...], int] = {}
        self._dictionary = dictionary
        self._free: list[int] = []
        self._users: dict[int, int] = {}
        self._graphs = United()
        self._table = ParameterTable(len(shape.parameters))
        self._take(queries)
        query = template(shape, self._table)
        # It is looked at when each of its queries would be.
        plan = replace(plan_query(query, streams), looking=looking(shape.query))
        self.evaluator = IntervalEvaluator(
            query, self._graphs.whole, dictionary, streams=streams, plan=plan, name="template"
        )
        self._stale = False
        self._headers: dict[str, Header] | None = None

    def __len__(self) -> int:
        return len(self.queries)

    def add(self, queries: Mapping[str, tuple[Instance, Background]]) -> None:
        """Answer for more queries from the next slab on, which must be entitled to all that is kept."""
        self._take(queries)
        self._stale, self._headers = True, None

    def _take(self, queries: Mapping[str, tuple[Instance, Background]]) -> None:
        rows = []
        for name, (found, background) in queries.items():
            number = self.numbers.get(found.constants)
            if number is None:
                number = self._free.pop() if self._free else len(self.numbers)
                self.numbers[found.constants] = number
                terms = (Literal(str(number), XSD + "integer"), *found.constants)
                rows.append([self._dictionary.encode(term) for term in terms])
            self._users[number] = self._users.get(number, 0) + 1
            self.queries[name] = found, background
            self._graphs.add(background)
        self._table.add(rows)

    def drop(self, names: Iterable[str]) -> None:
        """Answer for some queries no longer."""
        gone = []
        for name in names:
            constants = self.queries.pop(name)[0].constants
            number = self.numbers[constants]
            self._users[number] -= 1
            if not self._users[number]:
                del self._users[number], self.numbers[constants]
                self._free.append(number)
                gone.append(self._dictionary.encode(Literal(str(number), XSD + "integer")))
        self._table.remove(gone)
        self._stale, self._headers = True, None

    def renew(self, backgrounds: Mapping[str, Background]) -> None:
        """Some queries have other static graphs from the next slab on."""
        for name in backgrounds.keys() & self.queries.keys():
            self.queries[name] = self.queries[name][0], backgrounds[name]
            self._stale = True
        if self._stale:
            self._graphs = United()
            for _, background in self.queries.values():
                self._graphs.add(background)

    def advance(self, slab: Slab) -> SetAnswers:
        """What all of them answer."""
        if self._stale:
            self.evaluator.renew(self._graphs.whole)
            self._stale = False
        answers = self.evaluator.advance(slab)
        form = self.shape.query.form
        columns = tuple(v.name for v in form.variables) if isinstance(form, Select) else TRIPLE
        if self._headers is None:
            self._headers = self._made_headers(columns)
        members = np.zeros(max(self._users, default=-1) + 1, np.int64)
        members[list(self._users)] = list(self._users.values())
        parts = []
        if len(answers.at):
            channel = np.zeros(len(answers.at), np.int64)
            if self.shape.parameters:
                channel = payloads(answers.columns[NUMBER.name])
            values = np.array([answers.columns[name] for name in columns], np.int64)
            parts = [Listed(channel, answers.at, values.reshape(len(columns), len(channel)))]
        return SetAnswers(
            self._headers, members, parts, answers.evaluations, makes_triples=not isinstance(form, Select)
        )

    def _made_headers(self, columns: Sequence[str]) -> dict[str, Header]:
        places = {column: place for place, column in enumerate(columns)}
        itself = tuple((column, column) for column in columns)
        return {
            name: Header(
                self.numbers[found.constants], {own: places[column] for column, own in found.names or itself}
            )
            for name, (found, _) in self.queries.items()
        }

    def alike(self, younger: Template) -> bool:
        """Whether both show the same from here on."""
        return self.evaluator.alike(younger.evaluator)

    def ids(self) -> Ids:
        """Every id whose text may still be needed."""
        return np.concatenate([self.evaluator.live_ids(), self._table.ids()])


def put_together(templates: Sequence[Template], settled: int) -> list[Template]:
    """The templates of a shape, the eldest first, after every younger one that shows the same as the eldest
    from here on has left its queries to it. Only those that began with batch ``settled`` or before can:
    messages of earlier batches may still come, which later ones must not see."""
    kept: list[Template] = []
    for each in templates:
        if kept and each.since <= settled and kept[0].alike(each):
            kept[0].add(each.queries)
        else:
            kept.append(each)
    return kept


class United:
    """The graphs of several queries as one: of equal triples the first counts, as it is valid there."""

    def __init__(self) -> None:
        self._seen: dict[int, Background] = {}
        self._new: list[Background] = []

    def add(self, background: Background) -> None:
        """Put the graphs of one more query to the others."""
        if id(background) not in self._seen:
            self._seen[id(background)] = background
            self._new.append(background)

    @property
    def whole(self) -> Background:
        """All of them."""
        if len(self._new) != 1:
            self._new = [_united(self._new)]
        return self._new[0]


def _united(parts: Sequence[Background]) -> Background:
    named = {
        name: _first([each.named[name] for each in parts if name in each.named])
        for name in dict.fromkeys(name for each in parts for name in each.named)
    }
    made: dict[str, tuple[int, ...]] = {}
    for each in reversed(parts):
        made |= each.made
    return Background(_first([each.default for each in parts]), named, made)


def _first(tables: Sequence[GraphTable]) -> GraphTable:
    """Tables of one graph as one: the rows of a triple are those of the first table that has it."""
    filled = [table for table in tables if len(table.subject)]
    if len(filled) < 2:
        return filled[0] if filled else GraphTable.empty()
    places = [
        np.concatenate([getattr(t, name) for t in filled]) for name in ("subject", "predicate", "object")
    ]
    owner = np.repeat(np.arange(len(filled)), [len(table.subject) for table in filled])
    _, triple = np.unique(np.stack(places), axis=1, return_inverse=True)
    triple = triple.reshape(-1)
    first = np.full(int(triple.max()) + 1, len(filled))
    np.minimum.at(first, triple, owner)
    kept = np.flatnonzero(owner == first[triple])
    columns = [column[kept] for column in places]
    if any(table.start is not None for table in filled):
        bounds = [
            np.concatenate([_bound(table, name, value) for table in filled])[kept]
            for name, value in (("start", _OPEN), ("end", _CLOSE))
        ]
        columns += bounds
    return GraphTable(*columns)


_OPEN, _CLOSE = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def _bound(table: GraphTable, name: str, value: int) -> Ids:
    found = getattr(table, name)
    return np.full(len(table.subject), value, np.int64) if found is None else found
