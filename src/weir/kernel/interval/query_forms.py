"""What goes out of a relation: R2S, then the query's form (docs/semantics.md, "What is sent out").

RSTREAM lists a row at every evaluation that its interval covers. ISTREAM at index k is where the
multiplicity of a solution rises from k−1 to k, DSTREAM where it falls: what starts there less what ends
there, and the other way round. Of equal rows the earlier go. DESCRIBE gives a resource's triples, and those
of blank nodes they lead to (decision semantics-values, 13).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from weir.kernel.expressions.term_cache import TermClass, Terms
from weir.kernel.functions.scalar import blank_node, solution_text
from weir.kernel.operators.context import each_index
from weir.kernel.operators.operator import Operator
from weir.kernel.relations.coverage import expand, uncovered, unite
from weir.kernel.relations.keys import codes, firsts, occurrences, turns
from weir.kernel.relations.matches import join
from weir.kernel.relations.relation import Relation, clip, distinct, union
from weir.kernel.windows.instants import Instants
from weir.language.algebra.patterns import Node, TripleTermPattern, order_of
from weir.language.algebra.query import R2S, Ask, Construct, Describe, Query, Select
from weir.rdf.columns import Ids, Mask
from weir.rdf.terms import IRI, BlankNode, Variable, triple_term

TRIPLE = ("subject", "predicate", "object")
ANSWER = "boolean"
_NONE = np.empty(0, np.int64)


def sent(relation: Relation, at: Instants, operator: R2S, *, ranked: bool = False) -> tuple[Ids, Ids | None]:
    """Pairs (index, row) in the order of indices, and of rows within one; no rows mean all, in order.

    Where index 0 lies before everything, the relation must not show there (``relation.clip``). Rows are
    ``ranked`` where equal ones may stand at different places of an order: then those that were there before
    are the earliest (decision semantics-time, 29), whichever rows came.
    """
    if not len(relation):
        return _NONE, None
    if operator is R2S.RSTREAM:
        return _listed(relation, at.emitted)
    padded = np.zeros(len(at) + 1, np.bool_)
    padded[1:-1] = at.emitted[1:]
    start, end = relation.start, relation.end
    if ranked:
        row, index = expand(start, end)
        index, row = _by_index(index, row)
        mine, their = (index, index + 1) if operator is R2S.ISTREAM else (index + 1, index)
        sending = padded[mine].nonzero()[0]
        if not len(sending):
            return _NONE, None
        kept = sending[_surplus(relation, row[sending], mine[sending], row, their)]
        return mine[kept], row[kept]
    if operator is R2S.DSTREAM:
        start, end = end, start
    beginning, ceasing = padded[start], padded[end]
    if beginning.all():
        if not ceasing.any() and _ascends(start):
            return start, None
        rows = np.arange(len(start))
        index = start
    else:
        rows = beginning.nonzero()[0]
        if not len(rows):
            return _NONE, None
        index = start[rows]
    others = ceasing.nonzero()[0]
    if len(others):
        kept = _surplus(relation, rows, index, others, end[others])
        rows, index = rows[kept], index[kept]
    return _by_index(index, rows)


def _ascends(index: Ids) -> bool:
    return len(index) < 2 or bool((index[1:] >= index[:-1]).all())


def _by_index(index: Ids, rows: Ids) -> tuple[Ids, Ids]:
    """In the order of indices; rows of one index stay as they are."""
    if _ascends(index):
        return index, rows
    order = np.argsort(index, kind="stable")
    return index[order], rows[order]


def _listed(relation: Relation, emitted: Mask) -> tuple[Ids, Ids]:
    row, index = expand(relation.start, relation.end)
    if not emitted.all():
        shown = emitted[index]
        row, index = row[shown], index[shown]
    return _by_index(index, row)


def _surplus(relation: Relation, rows: Ids, index: Ids, others: Ids, their: Ids) -> Ids:
    """The places in ``rows`` that are left when each of ``others`` cancels an equal row at its index."""
    both = np.concatenate([rows, others])
    numbers, _ = codes([column[both] for column in relation.columns.values()], len(both))
    span = int(max(index.max(), their.max())) + 1
    keys = numbers * span + np.concatenate([index, their])
    mine, cancelling = keys[: len(rows)], np.sort(keys[len(rows) :])
    owed = np.searchsorted(cancelling, mine, side="right") - np.searchsorted(cancelling, mine)
    if not owed.any():
        return np.arange(len(rows))
    order = np.argsort(mine, kind="stable")
    kept: Ids = np.sort(order[turns(mine[order]) >= owed[order]])
    return kept


@dataclass(frozen=True, slots=True)
class Chosen:
    """The solutions that are sent: of ``rows`` those at ``places``, all where that is None, each at an
    ``index``, which ascends."""

    rows: Relation
    index: Ids
    places: Ids | None

    def column(self, name: str) -> Ids:
        """A column of what is sent, always a copy: live rows change."""
        column = self.rows.columns.get(name)
        if column is None:
            return np.zeros(len(self.index), np.int64)
        return column.copy() if self.places is None else column[self.places]

    def may_lack(self, name: str) -> bool:
        """Whether a variable may be unbound."""
        return name not in self.rows.columns or name in self.rows.optional


class Descriptions:
    """``sources`` give the triples of all graphs and windows as subject, predicate, object."""

    def __init__(self, sources: Sequence[Operator], terms: Terms) -> None:
        self.sources = tuple(sources)
        self.terms = terms

    def of(self, targets: Sequence[Variable | IRI], chosen: Chosen) -> tuple[Ids, list[Ids]]:
        """The descriptions for the solutions sent: indices, which ascend, and columns of triples."""
        index, encode = chosen.index, self.terms.encode
        resources = [
            _whole(encode(each), index) if isinstance(each, IRI) else chosen.column(each.name)
            for each in targets
        ]
        subjects = np.concatenate([_NONE, *resources])
        at = np.concatenate([_NONE, *[index] * len(resources)])
        frontier = self._nodes(subjects, at, (TermClass.IRI, TermClass.BLANK))
        graph = union(*(source.run() for source in self.sources))
        found: list[Relation] = []
        seen = frontier
        while len(frontier):
            reached = each_index(distinct(join(frontier, graph)))
            found.append(reached)
            nodes = self._nodes(reached.columns["object"], reached.start, (TermClass.BLANK,))
            frontier = _new(nodes, seen)
            seen = union(seen, frontier)
        triples = union(*found) if found else Relation.empty(TRIPLE)
        triples = triples.take(np.argsort(triples.start, kind="stable"))
        return triples.start, [triples.columns[name] for name in TRIPLE]

    def _nodes(self, ids: Ids, index: Ids, classes: Sequence[TermClass]) -> Relation:
        """The distinct resources among terms, each at one index."""
        distinct_ids, where = np.unique(ids, return_inverse=True)
        good = np.array([self.terms.classify(each) in classes for each in distinct_ids.tolist()], np.bool_)
        kept = np.flatnonzero(good[where]) if len(good) else np.empty(0, np.int64)
        return each_index(distinct(Relation({"subject": ids[kept]}, index[kept], index[kept] + 1)))


def _new(nodes: Relation, seen: Relation) -> Relation:
    """The nodes not seen before at their index."""
    both = np.concatenate([seen.columns["subject"], nodes.columns["subject"]])
    starts = np.concatenate([seen.start, nodes.start])
    numbers, _ = codes([both, starts + 1], len(both))
    known = np.isin(numbers[len(seen) :], numbers[: len(seen)])
    return nodes.take(np.flatnonzero(~known))


@dataclass(frozen=True, slots=True)
class Sent:
    """Answers by index of their instants, ascending."""

    index: Ids
    columns: Mapping[str, Ids]


@dataclass(frozen=True, slots=True)
class Blank:
    """A blank node of a template."""

    label: str


@dataclass(frozen=True, slots=True)
class Nested:
    """A triple term of a template that has variables or blank nodes in it."""

    parts: tuple[Part, ...]


Part: TypeAlias = int | str | Blank | Nested
"""A part of a template: a constant's id, a variable's name, a blank node, a triple term."""


class QueryForms:
    """``safe`` are the variables that a subject position binds: no literals."""

    def __init__(
        self,
        query: Query,
        key: str,
        terms: Terms,
        safe: frozenset[str],
        descriptions: Callable[[], Descriptions],
    ) -> None:
        self.query = query
        self.key = key
        self.terms = terms
        self.safe = safe
        template = query.form.template if isinstance(query.form, Construct) else ()
        self._template = tuple(
            tuple(self._part(node) for node in (each.subject, each.predicate, each.object))
            for each in template
        )
        self._beside = query.form.beside if isinstance(query.form, Construct) else ()
        self.columns = self._columns()
        self._ranked = _ranked(query)
        self._descriptions: Descriptions | None = None
        if isinstance(query.form, Describe):
            self._descriptions = descriptions()

    def _columns(self) -> tuple[str, ...]:
        """The names of the answers' columns."""
        match self.query.form:
            case Select(variables):
                return tuple(variable.name for variable in variables)
            case Ask():
                return (ANSWER,)
            case Construct(_, beside):
                return (*TRIPLE, *(variable.name for variable in beside))
        return TRIPLE

    def answers(self, rows: Relation, at: Instants) -> Sent:
        """What goes out of Γ."""
        form, operator = self.query.form, self.query.semantics.r2s
        if at.void:
            # Nothing was there before the first evaluation.
            rows = clip(rows, 1, len(at))
        match form:
            case Select(variables):
                chosen = Chosen(rows, *sent(rows, at, operator, ranked=self._ranked))
                return Sent(chosen.index, {v.name: chosen.column(v.name) for v in variables})
            case Ask():
                truth = _truth(rows, at)
                chosen = Chosen(truth, *sent(truth, at, operator))
                return Sent(chosen.index, {ANSWER: chosen.column(ANSWER) - 1})
        rows = _named(rows, self.columns)
        chosen = Chosen(rows, *sent(rows, at, operator))
        if not len(chosen.index):
            return Sent(_NONE, dict.fromkeys(self.columns, _NONE))
        if isinstance(form, Describe):
            assert self._descriptions is not None
            return _set_of_triples([self._descriptions.of(form.targets, chosen)], self.columns)
        return _set_of_triples([self._instances(nodes, chosen, at) for nodes in self._template], self.columns)

    # CONSTRUCT

    def _part(self, node: Node) -> Part:
        """A constant's id, the variable whose value it is, the label of a blank node, or a triple term."""
        if isinstance(node, TripleTermPattern):
            return Nested(tuple(self._part(each) for each in (node.subject, node.predicate, node.object)))
        if isinstance(node, BlankNode):
            return Blank(node.label)
        if not isinstance(node, Variable):
            return self.terms.encode(node)
        return Blank(node.name) if node.internal else node.name

    def _instances(self, nodes: Sequence[Part], chosen: Chosen, at: Instants) -> tuple[Ids, list[Ids | int]]:
        """The triples that one pattern of the template makes of the solutions."""
        columns = [self._values(node, chosen, at) for node in nodes]
        beside = [chosen.column(variable.name) for variable in self._beside]
        good: list[Mask] = []
        for position, (node, column) in enumerate(zip(nodes, columns, strict=True)):
            if isinstance(column, int) or isinstance(node, int | Blank):
                continue
            if isinstance(node, Nested) or chosen.may_lack(node):
                good.append(column != 0)
            if isinstance(node, str) and position < 2 and not (position == 0 and node in self.safe):
                good.append(self._allowed(column, position))
        mask = np.logical_and.reduce(good) if good else None
        if mask is None or mask.all():
            return chosen.index, columns + beside
        kept = [each if isinstance(each, int) else each[mask] for each in columns]
        return chosen.index[mask], kept + [each[mask] for each in beside]

    def _values(self, part: Part, chosen: Chosen, at: Instants) -> Ids | int:
        """What a part of the template stands for, one per solution; 0 where it makes no term."""
        match part:
            case int():
                return part
            case str():
                return chosen.column(part)
            case Blank(label):
                return self._blanks(label, chosen, at)
        columns = [_whole(self._values(each, chosen, at), chosen.index) for each in part.parts]
        distinct, where = np.unique(np.stack(columns), axis=1, return_inverse=True)
        made = [
            triple_term(*(self.terms.term(each) if each else None for each in three))
            for three in distinct.T.tolist()
        ]
        return self.terms.encode_all(made)[where.reshape(-1)]

    def _allowed(self, column: Ids, position: int) -> Mask:
        """Subjects are no literals, predicates are IRIs."""
        distinct, where = np.unique(column, return_inverse=True)
        wanted = (TermClass.IRI, TermClass.BLANK) if position == 0 else (TermClass.IRI,)
        found = np.array([self.terms.classify(each) in wanted for each in distinct.tolist()], np.bool_)
        return found[where]

    def _blanks(self, label: str, chosen: Chosen, at: Instants) -> Ids:
        """New blank nodes, one per solution: named by the query, the time and the solution."""
        index = chosen.index
        ids = {name: chosen.column(name) for name in chosen.rows.columns}
        occurrence = occurrences([*ids.values(), index + 1], len(index))
        columns = {name: column.tolist() for name, column in ids.items()}
        nodes: list[BlankNode] = []
        for row, time in enumerate(at.time[index].tolist()):
            solution = {name: self.terms.term(each[row]) for name, each in columns.items() if each[row]}
            identity = f"{solution_text(solution)} #{occurrence[row]}"
            nodes.append(blank_node(f"{self.key} {time} {identity}", label))
        return self.terms.encode_all(nodes)


def _ranked(query: Query) -> bool:
    """Whether equal answers may stand at different places: ORDER BY looks at more than what is selected."""
    shown = query.form.variables if isinstance(query.form, Select) else ()
    order = order_of(query.pattern)
    return order is not None and any(key.expression not in shown for key in order.keys)


def _truth(rows: Relation, at: Instants) -> Relation:
    """ASK's answer as a relation: 2 while there is a solution, 1 while there is none."""
    first, count = int(at.void), len(at)
    yes = unite(np.zeros(len(rows), np.int64), rows.start, rows.end)
    no = uncovered(np.array([first]), np.array([count]), *yes)
    start, end = np.concatenate([yes.start, no.start]), np.concatenate([yes.end, no.end])
    value = np.concatenate([np.full(len(yes.start), 2), np.full(len(no.start), 1)])
    return Relation({ANSWER: value}, start, end)


def _set_of_triples(parts: Sequence[tuple[Ids, Sequence[Ids | int]]], names: Sequence[str]) -> Sent:
    """All parts together, each triple once at each instant, in the order of instants.

    A column may be one id for all rows: it tells nothing apart.
    """
    if len(parts) == 1:
        index, columns = parts[0]
    else:
        index = np.concatenate([part[0] for part in parts])
        columns = [
            np.concatenate([_whole(part[1][place], part[0]) for part in parts]) for place in range(len(names))
        ]
    if len(index) > 1:
        telling = [column for column in columns if not isinstance(column, int)]
        chosen = firsts([index, *telling], len(index))
        if len(parts) > 1:
            chosen = chosen[np.argsort(index[chosen], kind="stable")]
        if len(chosen) < len(index) or len(parts) > 1:
            index = index[chosen]
            columns = [column if isinstance(column, int) else column[chosen] for column in columns]
    return Sent(index, {name: _whole(column, index) for name, column in zip(names, columns, strict=True)})


def _whole(column: Ids | int, index: Ids) -> Ids:
    return np.full(len(index), column, np.int64) if isinstance(column, int) else column


def _named(rows: Relation, asked: Sequence[str]) -> Relation:
    """Without internal variables, which do not belong to a solution unless they are asked for."""
    if any(name.startswith(".") for name in rows.columns):
        return rows.keep(name for name in rows.columns if not name.startswith(".") or name in asked)
    return rows
