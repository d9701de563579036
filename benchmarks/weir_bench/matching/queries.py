"""Random-walk conjunctive queries over the energy stream (CTP-automata, section 3.1 and Table 2).

A walk starts at a random triple of the data graph and follows random edges; its triples become the
query's patterns. Nodes where two triples of the walk meet are variables, and so are readings, values and
times, which never come again; most other nodes stay constant. Equal seeds give equal queries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weir.language.algebra.patterns import BGP, Node, Project, TriplePattern, Window
from weir.language.algebra.query import R2S, Dataset, Query, Select, Semantics
from weir.language.algebra.windows import Content, Report, Triples, WindowDeclaration, WindowSemantics
from weir.rdf.terms import IRI, Variable, parse_term
from weir_bench.data.energy import STREAM, Energy

WINDOW = "http://energy.example/window"
_SAMPLE = 20_000
_VARIABLE_PREDICATE = 0.02


@dataclass(frozen=True, slots=True)
class Workload:
    """Table 2 with its defaults: ``patterns`` is the *maximum* number of triple patterns in a query.

    The paper does not say how often a walk goes against an edge (which joins readings that have something
    in common, so that results grow with a power of the window), nor how many nodes stay constant.
    """

    queries: int = 1000
    patterns: int = 3
    window: int = 100
    seed: int = 3
    backward: float = 0.05
    constant: float = 0.7


def walks(data: Energy, workload: Workload) -> list[tuple[TriplePattern, ...]]:
    """The patterns of each query."""
    random = np.random.default_rng(workload.seed)
    graph = _Graph(data, workload)
    return [
        graph.walk(random, int(random.integers(1, workload.patterns + 1))) for _ in range(workload.queries)
    ]


def query(patterns: tuple[TriplePattern, ...], window: int) -> Query:
    """ISTREAM over the latest ``window`` triples, evaluated at every triple, each occurrence a candidate."""
    nodes = [node for t in patterns for node in (t.subject, t.predicate, t.object)]
    variables = tuple(dict.fromkeys(node for node in nodes if isinstance(node, Variable)))
    semantics = WindowSemantics(report=Report(content_change=True), content=Content.BAG)
    return Query(
        form=Select(variables),
        pattern=Project(Window(IRI(WINDOW), BGP(patterns)), variables),
        dataset=Dataset(windows=(WindowDeclaration(WINDOW, STREAM, Triples(window), semantics),)),
        semantics=Semantics(r2s=R2S.ISTREAM),
    )


def text(patterns: tuple[TriplePattern, ...], window: int, name: str) -> str:
    """The same query in RSP-QL."""
    body = " . ".join(f"{t.subject} {t.predicate} {t.object}" for t in patterns)
    return (
        f"REGISTER ISTREAM <{name}> AS SELECT * FROM NAMED WINDOW <{WINDOW}> ON STREAM <{STREAM}> "
        f"[TRIPLES {window} CONTENT BAG] WHERE {{ WINDOW <{WINDOW}> {{ {body} }} }}"
    )


class _Graph:
    """The data graph of the first readings: the triples out of each node and into it."""

    def __init__(self, data: Energy, workload: Workload) -> None:
        size = min(len(data), _SAMPLE)
        self._workload = workload
        self._data = data
        self._ends = data.subject[:size], data.object[:size]
        self._order = tuple(np.argsort(end, kind="stable") for end in self._ends)
        self._sorted = tuple(end[order] for end, order in zip(self._ends, self._order, strict=True))

    def walk(self, random: np.random.Generator, length: int) -> tuple[TriplePattern, ...]:
        """A walk of distinct triples, shorter than ``length`` only where it cannot go on."""
        rows = [int(random.integers(0, len(self._ends[0])))]
        for _ in range(20 * length):
            if len(rows) == length:
                break
            last = rows[int(random.integers(0, len(rows)))]
            node = int(self._ends[int(random.random() < 0.5)][last])
            following = self._step(random, node, int(random.random() < self._workload.backward))
            if following is not None and self._triple(following) not in map(self._triple, rows):
                rows.append(following)
        return self._patterns(random, rows)

    def _triple(self, row: int) -> tuple[int, int, int]:
        return int(self._ends[0][row]), int(self._data.predicate[row]), int(self._ends[1][row])

    def _step(self, random: np.random.Generator, node: int, side: int) -> int | None:
        low, high = np.searchsorted(self._sorted[side], (node, node + 1))
        return int(self._order[side][random.integers(low, high)]) if high > low else None

    def _patterns(self, random: np.random.Generator, rows: list[int]) -> tuple[TriplePattern, ...]:
        met = [end[row] for row in rows for end in self._ends]
        nodes: dict[int, Node] = {}
        for code in map(int, met):
            if code in nodes:
                continue
            passing = code >= self._data.vocabulary or met.count(code) > 1
            if passing or random.random() >= self._workload.constant:
                nodes[code] = Variable(f"v{len(nodes)}")
            else:
                nodes[code] = parse_term(str(self._data.terms[code]))
        predicates: dict[int, Node] = {}
        for code in map(int, self._data.predicate[rows]):
            if code not in predicates:
                free = random.random() < _VARIABLE_PREDICATE
                predicates[code] = (
                    Variable(f"p{len(predicates)}") if free else parse_term(str(self._data.terms[code]))
                )
        subject, object_ = self._ends
        return tuple(
            TriplePattern(
                nodes[int(subject[row])], predicates[int(self._data.predicate[row])], nodes[int(object_[row])]
            )
            for row in rows
        )
