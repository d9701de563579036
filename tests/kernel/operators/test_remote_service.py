"""SERVICE asks at each index, in order, for the rows visible there; "before" one fetches nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bags import relation_of
from weir.kernel.operators.inputs.input import Present
from weir.kernel.operators.operator import Operator
from weir.kernel.operators.remote_service import Service
from weir.kernel.relations.relation import Relation
from weir.kernel.service_calls import Calls, Freshness, ServiceRows
from weir.kernel.windows.instants import Instants
from weir.language import parse
from weir.language.algebra import patterns as a
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Variable

PATTERN = a.Service(
    IRI("urn:e"), a.BGP((a.TriplePattern(Variable("x"), IRI("urn:p"), Variable("z")),)), False
)


class Left(Operator):
    variables = ("x",)

    def run(self) -> Relation:
        return relation_of(("x",), [((1,), 0, 3), ((2,), 1, 2)])

    def within(self, seed: Relation, key: str) -> Relation:
        raise AssertionError("SERVICE asks its left side as a whole")


class Answering:
    """Answers every x with the number of rows that ask."""

    join = ("x",)

    def __init__(self) -> None:
        self.calls: list[tuple[int, list[int], bool]] = []

    def rows(self, bindings: Mapping[str, Ids], length: int, at: int, *, refresh: bool = True) -> ServiceRows:
        self.calls.append((at, bindings["x"].tolist(), refresh))
        x = bindings["x"]
        ones = np.ones(len(x), np.int64)
        return ServiceRows({"x": x, "z": ones * len(x)}, ones, ones, Freshness(at))

    def call(self, *_: Any, **__: Any) -> Answering:
        return self


def test_each_index_is_asked_for_itself() -> None:
    endpoint = Answering()
    at = Instants(np.array([10, 20, 30]), np.array([False, True, True]))
    calls = Calls(endpoint, parse("SELECT * {}", "sparql"), "q")  # type: ignore[arg-type]
    made = Service(Left(), PATTERN, Present(at), calls, Dictionary(), place="0.1")
    found = made.run()
    assert endpoint.calls == [(10, [1], False), (20, [1, 2], True), (30, [1], True)]
    rows = zip(found.start.tolist(), found.end.tolist(), found.columns["x"].tolist(), strict=True)
    assert sorted(rows) == [(0, 1, 1), (1, 2, 1), (1, 2, 2), (2, 3, 1)]
