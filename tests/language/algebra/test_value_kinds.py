"""What a query's text tells of its answers' kinds, and that their values are of those kinds."""

from __future__ import annotations

import pytest

from weir.language import parse
from weir.language.algebra.value_kinds import value_kinds


def kinds(selected: str, where: str = "?x :shows ?y", rest: str = "") -> dict[str, str]:
    query = parse(
        "PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
        f"SELECT {selected} FROM NAMED WINDOW <w> ON <s> [NOW] WHERE {{ WINDOW <w> {{ {where} }} }} {rest}"
    )
    return value_kinds(query.pattern)


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("STRLEN(STR(?y)) + 1", "long"),
        ("STRLEN(STR(?y)) / 2", "decimal"),
        ("?y * 2", "double"),
        ("-?y", "double"),
        ("ABS(STRLEN(?y))", "long"),
        ("?y > 2", "boolean"),
        ("NOW()", "timestamp"),
        ("xsd:dateTime(?y)", "timestamp"),
        ("xsd:float(?y)", "double"),
        ("IF(?y > 2, 1, 2.5)", "decimal"),
        ("IF(?y > 2, 1, true)", None),
        ("COALESCE(?y, 1)", None),
        ("COALESCE(YEAR(?y), 1)", "long"),
        ("STR(?y)", None),
        ("?y", None),
    ],
)
def test_kinds_of_expressions(expression: str, kind: str | None) -> None:
    assert kinds(f"({expression} AS ?z)").get("z") == kind


def test_kinds_of_aggregates() -> None:
    selected = "?x (COUNT(?y) AS ?n) (SUM(?y) AS ?s) (AVG(STRLEN(?y)) AS ?a) (MAX(?y) AS ?m)"
    assert kinds(selected, rest="GROUP BY ?x") == {"n": "long", "s": "double", "a": "decimal"}


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ("?x :shows ?y FILTER(?y > 20 && BOUND(?x))", "double"),
        ("?x :shows ?y FILTER(20 <= ?y)", "double"),
        ("?x :shows ?y FILTER(?y != 20)", None),
        ("?x :shows ?y FILTER(?y > 20 || ?x = :a)", None),
        ("{ ?x :shows ?y FILTER(?y > 20) } UNION { ?x :says ?y }", None),
        ("{ ?x :shows ?y FILTER(?y > 20) } UNION { ?x :says ?z }", "double"),
        ("VALUES ?y { 1 2.5 UNDEF }", "decimal"),
        ("VALUES ?y { 1 :a }", None),
    ],
)
def test_kinds_of_what_patterns_bind(where: str, kind: str | None) -> None:
    assert kinds("?y", where).get("y") == kind
