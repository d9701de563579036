"""From plans to operators under SPARQL's names; static parts are views, computed once."""

from __future__ import annotations

import numpy as np
import pytest

from weir.kernel.contract import Background, GraphTable, NotCovered
from weir.kernel.interval.compiler import Compiler
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.language import parse
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI

WINDOW = "FROM NAMED WINDOW <urn:w> ON STREAM <urn:s> [RANGE PT1S STEP PT1S]"
BODY = "WINDOW <urn:w> { ?x <urn:p> ?y }"


def evaluator(text: str, background: Background | None = None) -> IntervalEvaluator:
    return IntervalEvaluator(parse(text, "rspql"), background or Background(), Dictionary())


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (f"{BODY} OPTIONAL {{ ?x <urn:q> ?z }}", "LeftJoin"),
        (f"{BODY} MINUS {{ ?x <urn:q> ?z }}", "Minus"),
        (f"{{ {BODY} }} UNION {{ ?x <urn:q> ?y }}", "Union"),
        (f"{BODY} BIND(?y + 1 AS ?z)", "Extend"),
    ],
)
def test_operators_have_the_names_of_the_algebra(pattern: str, name: str) -> None:
    made = evaluator(f"SELECT * {WINDOW} WHERE {{ {pattern} }}")
    assert isinstance(made._compiler, Compiler)
    root = made._root
    while type(root).__name__ == "Project":
        root = root.inner  # type: ignore[attr-defined]
    assert type(root).__name__ == name


def test_static_joins_are_one_view() -> None:
    dictionary = Dictionary()
    p, q = (dictionary.encode(IRI(f"urn:{name}")) for name in "pq")
    table = GraphTable(np.array([11, 12, 11]), np.array([p, p, q]), np.array([13, 14, 15]))
    query = parse(f"SELECT * {WINDOW} WHERE {{ {BODY} ?x <urn:p> ?a . ?x <urn:q> ?b }}", "rspql")
    made = IntervalEvaluator(query, Background(table), dictionary)
    assert made.statistics()["views"] == {"view 1": 1}


def test_a_service_without_endpoints_is_not_covered() -> None:
    with pytest.raises(NotCovered, match="SERVICE without endpoints"):
        evaluator(f"SELECT * {WINDOW} WHERE {{ {BODY} SERVICE <urn:e> {{ ?x <urn:q> ?z }} }}")
