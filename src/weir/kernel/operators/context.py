"""What expressions may depend on besides rows: the evaluation time, the solution as a whole, times of
triples.

A row is first cut into pieces on which an expression is constant: at every index for ``NOW()`` and for
what depends on the solution as a whole (RAND, UUID, BNODE), where the latest time of a triple changes for
``f:timestamp``. EXISTS is cut before, by ``mark_exists``, and is a column here. The pieces are then
ordinary rows; what was added for the purpose is dropped again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from weir.errors import EvaluationError
from weir.kernel.expressions import NOW, Compiled, Solutions, Timestamp
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.functions import Context, value_or_none
from weir.kernel.functions.scalar import Draws, solution_text
from weir.kernel.operators.inputs.input import Input, Present
from weir.kernel.operators.inputs.pattern_inputs import PatternInputs
from weir.kernel.operators.scan import Triples
from weir.kernel.relations.coverage import expand, uncovered
from weir.kernel.relations.keys import codes
from weir.kernel.relations.matches import matches, merge
from weir.kernel.relations.relation import Relation, fresh, union
from weir.kernel.relations.sorted_keys import LIMIT
from weir.kernel.relations.sweep import Sweep
from weir.kernel.windows.instants import Instants
from weir.rdf.columns import Ids
from weir.rdf.ids.inline import Inline, make
from weir.rdf.terms import Term

_OCCURRENCE = ".occurrence"


_NOTHING = np.iinfo(np.int64).max


def _no_triples() -> tuple[Triples, Ids]:
    none = np.empty(0, np.int64)
    return Triples(none, none, none, none, none), none


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What expressions may depend on besides the rows.

    ``times`` are the evaluation times (µs) of the slab's indices; ``query`` names the query for the draws of
    RAND and its like; ``timed`` gives the triples of all windows with their times, for ``f:timestamp``.
    """

    times: Ids
    query: str = ""
    timed: Callable[[], tuple[Triples, Ids]] = _no_triples
    context: Context = field(default_factory=Context)


def _named(names: Sequence[str]) -> list[str]:
    return [name for name in names if not name.startswith(".")]


def each_index(relation: Relation, *, limit: int = LIMIT) -> Relation:
    """The same bag with every row visible at one index only."""
    lengths = relation.end - relation.start
    if bool((lengths == 1).all()):
        return relation
    if int(lengths.sum()) > limit:
        raise EvaluationError(
            f"an expression of the evaluation time: more than {limit:,} rows in one slab",
            hint="NOW(), RAND(), UUID() and BNODE() make a row for every evaluation time",
        )
    rows, index = expand(relation.start, relation.end)
    return relation.pieces(rows, index, index + 1)


def _cut(relation: Relation, compiled: Compiled, around: Surroundings) -> Relation:
    """Pieces on which the expression is constant, with the columns that it reads beside variables."""
    if compiled.reads_time:
        relation = each_index(relation)
        relation = relation.having(NOW, instants(around.times[relation.start]))
    for stamp in compiled.timestamps:
        relation = _stamp(relation, stamp, around, compiled.terms)
    return relation


def _stamp(relation: Relation, stamp: Timestamp, around: Surroundings, terms: Terms) -> Relation:
    """Pieces with the latest time of the triple that the arguments name, unbound where there is none."""
    keys = tuple(fresh(relation, f"{stamp.name}.{place}") for place in range(3))
    bound = np.ones(len(relation), np.bool_)
    for name, argument in zip(keys, stamp.arguments, strict=True):
        ids = argument(Solutions(relation.columns, len(relation), terms)).ids()
        bound &= ids != 0
        relation = relation.having(name, ids, optional=True)
    view = latest_times(*around.timed(), terms, (*keys, stamp.name))
    asking = relation.take(bound)
    found = matches(asking, view)
    alone = asking.pieces(*uncovered(asking.start, asking.end, found.left, found.start, found.end))
    return union(merge(asking, view, found), alone, relation.take(~bound))


def instants(times: Ids) -> Ids:
    """The ids of instants as xsd:dateTime in UTC, with 0, 3 or 6 fraction digits (inline forms)."""
    seconds, milliseconds = times // 1_000_000, times // 1_000
    return np.where(
        times == seconds * 1_000_000,
        make(Inline.DATETIME_UTC_S, seconds),
        np.where(
            times == milliseconds * 1_000,
            make(Inline.DATETIME_UTC_MS, milliseconds),
            make(Inline.DATETIME_UTC_US, times),
        ),
    )


def latest_times(triples: Triples, times: Ids, terms: Terms, names: Sequence[str]) -> Relation:
    """Subject, predicate and object of each triple while it is in a window, and its latest time there as
    ``f:timestamp`` gives it, under these names."""
    numbers, firsts = codes((triples.subject, triples.predicate, triples.object), len(triples))
    sweep = Sweep(numbers, triples.start, triples.end)
    first, last = sweep.ranges(numbers, triples.start, triples.end)
    # Greatest first: the least rank is the latest time.
    latest = sweep.least(first, last, -times, _NOTHING)
    seen = np.flatnonzero(latest != _NOTHING)
    owner, start, end = sweep.intervals(seen)
    chosen = firsts[owner]
    columns = (
        triples.subject[chosen],
        triples.predicate[chosen],
        triples.object[chosen],
        _milliseconds(-latest[seen], terms),
    )
    return Relation(dict(zip(names, columns, strict=True)), start, end)


def _milliseconds(times: Ids, terms: Terms) -> Ids:
    """Milliseconds as xsd:integer, or as xsd:decimal where microseconds show."""
    out = make(Inline.INTEGER, times // 1_000)
    odd = np.flatnonzero(times % 1_000)
    if len(odd):
        out[odd] = [terms.encode_exact(1, value, 3) for value in times[odd].tolist()]
    return out


def _identified(relation: Relation) -> Relation:
    """Every row at one index, with its number among the equal solutions there."""
    relation = each_index(relation)
    named = [relation.columns[name] for name in _named(relation.variables)]
    numbers, _ = codes((*named, relation.start), len(relation))
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    heads = np.flatnonzero(np.diff(ordered, prepend=-1))
    occurrence = np.empty(len(relation), np.int64)
    occurrence[order] = np.arange(len(order)) - np.repeat(heads, np.diff(heads, append=len(order))) + 1
    return relation.having(_OCCURRENCE, occurrence)


def _draw(relation: Relation, compiled: Compiled, base: Sequence[str], around: Surroundings) -> Ids:
    """The scalar way for every row: the draws of a solution depend on all of it, and on the time.

    ``base`` names the variables that tell solutions apart; equal ones are told apart by their occurrence,
    where that is a column.
    """
    terms, context = compiled.terms, replace(around.context)
    wanted = compiled.variables.union(base)
    columns = {name: ids.tolist() for name, ids in relation.columns.items() if name in wanted}
    occurrence = relation.columns[_OCCURRENCE].tolist() if _OCCURRENCE in relation.columns else None
    results = []
    for row, index in enumerate(relation.start.tolist()):
        solution = {name: terms.term(ids[row]) for name, ids in columns.items() if ids[row]}
        identity = solution_text({name: solution[name] for name in base if name in solution})
        if occurrence is not None:
            identity += f" #{occurrence[row]}"
        context.now = int(around.times[index])
        context.draws = Draws(f"{around.query} {context.now} {identity}", compiled.place)
        context.timestamp = partial(_time_of, around, index, terms)
        results.append(value_or_none(compiled.expression, solution, context))
    return terms.encode_all(results)


def _time_of(around: Surroundings, index: int, terms: Terms, *triple: Term) -> int | None:
    triples, times = around.timed()
    there = (triples.start <= index) & (index < triples.end)
    for column, term in zip((triples.subject, triples.predicate, triples.object), triple, strict=True):
        there &= column == terms.encode(term)
    return int(times[there].max()) if there.any() else None


class Around:
    """Gives the surroundings of the slab at hand; ``query`` seeds RAND and its like."""

    def __init__(self, present: Present, query: str) -> None:
        self.present = present
        self.query = query
        self._timed: list[Input] | None = None
        self._for: Instants | None = None
        self._made: Surroundings | None = None

    def need_timestamps(self, leaves: PatternInputs) -> None:
        """Keep the times of all triples of all windows, for ``f:timestamp``."""
        if self._timed is None:
            self._timed = leaves.timed()

    def __call__(self) -> Surroundings:
        if self._made is None or self._for is not self.present.at:
            self._for = self.present.at
            self._made = Surroundings(self.present.at.time, self.query, self._triples)
        return self._made

    def _triples(self) -> tuple[Triples, Ids]:
        parts = [each.relation() for each in self._timed or ()]
        if not parts:
            none = np.empty(0, np.int64)
            return Triples(none, none, none, none, none), none

        def column(name: str) -> Ids:
            return np.concatenate([part.columns[name] for part in parts])

        triples = Triples(
            column("subject"),
            column("predicate"),
            column("object"),
            np.concatenate([part.start for part in parts]),
            np.concatenate([part.end for part in parts]),
        )
        return triples, column("time")
