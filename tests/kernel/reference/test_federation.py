"""What is known of a pattern before its SERVICE is called."""

from __future__ import annotations

import pytest

from weir.kernel.reference.federation import certain, service_variables
from weir.language import parse
from weir.language.algebra.patterns import Pattern


def pattern(body: str) -> Pattern:
    return parse(f"SELECT * {{ {body} }}", "sparql").pattern


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("?a <p> ?b", "a b"),
        ("?a <p> ?b OPTIONAL { ?b <q> ?c }", "a b"),
        ("{ ?a <p> ?b } UNION { ?a <q> ?c }", "a"),
        ("?a <p> ?b MINUS { ?b <q> ?c }", "a b"),
        ("GRAPH ?g { ?a <p> ?b }", "a b g"),
        ("VALUES (?a ?b) { (1 2) (3 UNDEF) }", "a"),
        ("?a <p> ?b BIND(?a AS ?c)", "a b"),
        ("SERVICE <e> { ?a <p> ?b }", "a b"),
        ("SERVICE SILENT <e> { ?a <p> ?b }", ""),
        ("{ SELECT ?a { ?a <p> ?b } GROUP BY ?a }", "a"),
    ],
)
def test_the_variables_that_every_solution_binds(body: str, names: str) -> None:
    assert certain(pattern(body)) == set(names.split())


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("SERVICE ?e { ?a <p> ?b }", "e"),
        ("SERVICE <e> { ?a <p> ?b }", ""),
        ("?a <at> ?e SERVICE ?e { ?a <p> ?b }", ""),
        ("?a <p> ?b OPTIONAL { SERVICE ?e { ?a <p> ?b } }", "e"),
        ("{ SELECT ?a { SERVICE ?e { ?a <p> ?b } } }", ""),
        ("{ SELECT ?e { SERVICE ?e { ?a <p> ?b } } }", "e"),
    ],
)
def test_the_endpoints_that_must_be_bound_from_outside(body: str, names: str) -> None:
    assert service_variables(pattern(body)) == set(names.split())
