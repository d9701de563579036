"""Expressions on rows, to filter and to bind, and what they may depend on besides: the evaluation time, the
solution as a whole, times of triples.

A row is first cut into pieces on which an expression is constant: at every index for ``NOW()`` and for
what depends on the solution as a whole (RAND, UUID, BNODE), where the latest time of a triple changes for
``f:timestamp``. EXISTS is cut before, by ``mark_exists``, and is a column here. The pieces are then
ordinary rows; what was added for the purpose is dropped again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from weir.errors import EvaluationError
from weir.kernel.expressions import NOW, Compiled, Solutions, Timestamp
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.expressions.vector import TRUE, effective
from weir.kernel.functions import Context, value_or_none
from weir.kernel.functions.scalar import Draws, solution_text
from weir.kernel.operators.inputs.input import Input, Present
from weir.kernel.relations.coverage import Sweep, expand, uncovered
from weir.kernel.relations.keys import LIMIT, codes, occurrences
from weir.kernel.relations.matches import matches, merge
from weir.kernel.relations.relation import Relation, fresh, union
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.inline import Inline, make
from weir.rdf.terms import Term

_OCCURRENCE = ".occurrence"
_TRIPLE = ("subject", "predicate", "object")
_NOTHING = np.iinfo(np.int64).max


@dataclass(slots=True)
class Surroundings:
    """What expressions may depend on besides the rows of the slab at hand: its evaluation times, the name of
    the ``query``, which seeds RAND and its like, and the triples of windows with their times, which the
    inputs ``timed`` list where ``f:timestamp`` needs them."""

    present: Present
    query: str = ""
    timed: Sequence[Input] = ()

    @property
    def times(self) -> Ids:
        """The evaluation times (µs) of the slab's indices."""
        return self.present.at.time

    def triples(self) -> Relation:
        """The triples of all windows: subject, predicate, object and time."""
        return union(Relation.empty((*_TRIPLE, "time")), *(each.relation() for each in self.timed))


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
    view = latest_times(around.triples(), terms, (*keys, stamp.name))
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


def latest_times(triples: Relation, terms: Terms, names: Sequence[str]) -> Relation:
    """Subject, predicate and object of each triple while it is in a window, and its latest time there as
    ``f:timestamp`` gives it, under these names."""
    if not len(triples):
        return Relation.empty(tuple(names))
    columns = [triples.columns[name] for name in _TRIPLE]
    numbers, firsts = codes(columns, len(triples))
    sweep = Sweep(numbers, triples.start, triples.end)
    first, last = sweep.ranges(numbers, triples.start, triples.end)
    # Greatest first: the least rank is the latest time.
    latest = sweep.least(first, last, -triples.columns["time"], _NOTHING)
    seen = np.flatnonzero(latest != _NOTHING)
    owner, start, end = sweep.intervals(seen)
    found = [*(column[firsts[owner]] for column in columns), _milliseconds(-latest[seen], terms)]
    return Relation(dict(zip(names, found, strict=True)), start, end)


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
    return relation.having(_OCCURRENCE, occurrences((*named, relation.start), len(relation)))


def _draw(relation: Relation, compiled: Compiled, base: Sequence[str], around: Surroundings) -> Ids:
    """The scalar way for every row: the draws of a solution depend on all of it, and on the time.

    ``base`` names the variables that tell solutions apart; equal ones are told apart by their occurrence,
    where that is a column.
    """
    terms, context = compiled.terms, Context()
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
    triples = around.triples()
    there = (triples.start <= index) & (index < triples.end)
    for name, term in zip(_TRIPLE, triple, strict=True):
        there &= triples.columns[name] == terms.encode(term)
    return int(triples.columns["time"][there].max()) if there.any() else None


def filter_by(
    relation: Relation, condition: Compiled, around: Surroundings, *, anonymous: bool = False
) -> Relation:
    """The rows, or pieces of them, for which the condition is true.

    ``anonymous`` is for the condition of OPTIONAL: equal solutions draw alike.
    """
    if condition.plain:
        return _where(relation, condition.mask(relation))
    names = relation.variables
    if condition.volatile:
        relation = each_index(relation) if anonymous else _identified(relation)
        ids = _draw(relation, condition, _named(names), around)
        return _where(relation, effective(ids, condition.terms) == TRUE).keep(names)
    relation = _cut(relation, condition, around)
    return _where(relation, condition.mask(relation)).keep(names)


def _where(relation: Relation, mask: Mask) -> Relation:
    """The rows where the condition is true; errors count as false."""
    return relation if mask.all() else relation.take(np.flatnonzero(mask))


def extend(relation: Relation, name: str, ids: Ids) -> Relation:
    """Each solution with ``name`` bound to its id, unbound where it is 0."""
    if name in relation.columns and relation.columns[name].any():
        raise EvaluationError(f"extend: ?{name} is already bound")
    return relation.having(name, ids, optional=not ids.all())


def extend_by(
    relation: Relation,
    bindings: Sequence[tuple[str, Compiled]],
    around: Surroundings,
    *,
    anonymous: bool = False,
) -> Relation:
    """A run of BINDs, in order: each solution with each variable bound to its value, unbound on error.

    The run matters to RAND and its like: all of it draws for the solution as it was before; ``anonymous``
    is for the keys of ORDER BY, where equal solutions draw alike.
    """
    names = relation.variables
    base = _named(names)
    if any(compiled.volatile for _, compiled in bindings):
        relation = each_index(relation) if anonymous else _identified(relation)
    for name, compiled in bindings:
        if compiled.volatile:
            ids = _draw(relation, compiled, base, around)
        elif compiled.plain:
            ids = compiled.ids(relation)
        else:
            relation = _cut(relation, compiled, around)
            ids = compiled.ids(relation)
            relation = relation.keep((*names, _OCCURRENCE))
        relation = extend(relation, name, ids)
        names = (*names, name)
    return relation.keep(names)
