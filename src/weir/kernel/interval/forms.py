"""Query forms: from Γ over the instants of a slab to columns of answers (SPARQL section 16).

R2S compares solutions: SELECT's rows, the named variables of CONSTRUCT's and DESCRIBE's pattern, ASK's one
answer (record on time, 29, 30). What is left is then instantiated, a set of triples at each evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weir.kernel.functions.fresh import blank_node, solution_text
from weir.kernel.interval.describing import Descriptions
from weir.kernel.interval.expressions import Terms
from weir.kernel.interval.expressions.terms import TermClass
from weir.kernel.interval.instants import Instants
from weir.kernel.interval.keys import codes
from weir.kernel.interval.operators import clip, uncovered, unite
from weir.kernel.interval.r2s import sent
from weir.kernel.interval.relation import Relation
from weir.language.algebra import Node
from weir.language.query import Ask, Construct, Describe, Query, Select
from weir.rdf.columns import Ids, Mask
from weir.rdf.terms import BlankNode, Variable

TRIPLE = ("subject", "predicate", "object")
ANSWER = "boolean"


@dataclass(frozen=True, slots=True)
class Sent:
    """Answers by index of their instants, ascending."""

    index: Ids
    columns: Mapping[str, Ids]


class Forms:
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
        self._descriptions: Descriptions | None = None
        if isinstance(query.form, Describe):
            self._descriptions = descriptions()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the answers' columns."""
        match self.query.form:
            case Select(variables):
                return tuple(variable.name for variable in variables)
            case Ask():
                return (ANSWER,)
        return TRIPLE

    def answers(self, rows: Relation, at: Instants) -> Sent:
        """What goes out of Γ."""
        form, operator = self.query.form, self.query.semantics.r2s
        if at.void:
            # Nothing was there before the first evaluation.
            rows = clip(rows, 1, len(at))
        match form:
            case Select(variables):
                index, places = sent(rows, at, operator)
                none = np.zeros(len(places), np.int64)
                columns = {
                    v.name: rows.columns[v.name][places] if v.name in rows.columns else none
                    for v in variables
                }
                return Sent(index, columns)
            case Ask():
                truth = _truth(rows, at)
                index, places = sent(truth, at, operator)
                return Sent(index, {ANSWER: truth.columns[ANSWER][places] - 1})
            case Construct(template):
                rows = rows.keep(name for name in rows.columns if not name.startswith("."))
                index, places = sent(rows, at, operator)
                parts = [
                    self._instances(pattern, rows, places, index, at)
                    for pattern in ((t.subject, t.predicate, t.object) for t in template)
                ]
                return _set_of_triples(parts)
            case Describe(targets):
                assert self._descriptions is not None
                rows = rows.keep(name for name in rows.columns if not name.startswith("."))
                index, places = sent(rows, at, operator)
                return _set_of_triples([self._descriptions.of(targets, rows, index, places)])

    # CONSTRUCT

    def _instances(
        self, nodes: Sequence[Node], rows: Relation, places: Ids, index: Ids, at: Instants
    ) -> tuple[Ids, list[Ids]]:
        columns: list[Ids] = []
        good = np.ones(len(places), np.bool_)
        for position, node in enumerate(nodes):
            column = self._instance(node, rows, places, index, at)
            good &= column != 0
            if isinstance(node, Variable) and not node.internal and position < 2:
                good &= self._allowed(node.name, column, position)
            columns.append(column)
        if good.all():
            return index, columns
        return index[good], [column[good] for column in columns]

    def _instance(self, node: Node, rows: Relation, places: Ids, index: Ids, at: Instants) -> Ids:
        if isinstance(node, BlankNode):
            return self._blanks(node.label, rows, places, index, at)
        if not isinstance(node, Variable):
            return np.full(len(places), self.terms.encode(node), np.int64)
        if node.internal:
            return self._blanks(node.name, rows, places, index, at)
        column = rows.columns.get(node.name)
        return np.zeros(len(places), np.int64) if column is None else column[places]

    def _allowed(self, name: str, column: Ids, position: int) -> Mask | np.bool_:
        """Subjects are no literals, predicates are IRIs."""
        if position == 0 and name in self.safe:
            return np.True_
        distinct, where = np.unique(column, return_inverse=True)
        wanted = (TermClass.IRI, TermClass.BLANK) if position == 0 else (TermClass.IRI,)
        found = np.array([self.terms.classify(each) in wanted for each in distinct.tolist()], np.bool_)
        return found[where] if len(found) else np.True_

    def _blanks(self, label: str, rows: Relation, places: Ids, index: Ids, at: Instants) -> Ids:
        """New blank nodes, one per solution: named by the query, the time and the solution."""
        occurrence = _occurrences(rows, places, index)
        columns = {name: column[places].tolist() for name, column in rows.columns.items()}
        nodes: list[BlankNode] = []
        for row, time in enumerate(at.time[index].tolist()):
            solution = {name: self.terms.term(ids[row]) for name, ids in columns.items() if ids[row]}
            identity = f"{solution_text(solution)} #{occurrence[row]}"
            nodes.append(blank_node(f"{self.key} {time} {identity}", label))
        return self.terms.encode_all(nodes)


def _occurrences(rows: Relation, places: Ids, index: Ids) -> Ids:
    """The number of each sent solution among the equal ones of its instant, from 1."""
    columns = [column[places] for column in rows.columns.values()]
    numbers, _ = codes([*columns, index + 1], len(places))
    order = np.argsort(numbers, kind="stable")
    heads = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    found = np.empty(len(places), np.int64)
    found[order] = np.arange(len(order)) - np.repeat(heads, np.diff(heads, append=len(order))) + 1
    return found


def _truth(rows: Relation, at: Instants) -> Relation:
    """ASK's answer as a relation: 2 while there is a solution, 1 while there is none."""
    first, count = int(at.void), len(at)
    yes = unite(np.zeros(len(rows), np.int64), rows.start, rows.end)
    no = uncovered(np.array([first]), np.array([count]), *yes)
    start, end = np.concatenate([yes.start, no.start]), np.concatenate([yes.end, no.end])
    value = np.concatenate([np.full(len(yes.start), 2), np.full(len(no.start), 1)])
    return Relation({ANSWER: value}, start, end)


def _set_of_triples(parts: Sequence[tuple[Ids, list[Ids]]]) -> Sent:
    """All parts together, each triple once at each instant, in the order of instants."""
    index = np.concatenate([part[0] for part in parts]) if parts else np.empty(0, np.int64)
    columns = [
        np.concatenate([part[1][place] for part in parts]) if parts else np.empty(0, np.int64)
        for place in range(3)
    ]
    if len(index) > 1:
        _, firsts = codes([index + 1, *columns], len(index))
        chosen = np.sort(firsts)
        chosen = chosen[np.argsort(index[chosen], kind="stable")]
        index, columns = index[chosen], [column[chosen] for column in columns]
    return Sent(index, dict(zip(TRIPLE, columns, strict=True)))
