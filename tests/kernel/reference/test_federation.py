"""Which endpoints of a pattern must be known before its SERVICE is called."""

from __future__ import annotations

import pytest

from weir.kernel.reference.federation import service_variables
from weir.language import parse
from weir.language.algebra.patterns import Pattern


def pattern(body: str) -> Pattern:
    return parse(f"SELECT * {{ {body} }}", "sparql").pattern


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
