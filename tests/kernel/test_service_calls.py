"""What a query tells of its SERVICEs: which there are, and how long rows of its windows live."""

from __future__ import annotations

from weir.kernel.service_calls import Calls, Freshness, span_of
from weir.language import parse
from weir.language.algebra.fold import walk
from weir.language.algebra.patterns import Service

SECOND = 1_000_000
QUERY = parse(
    """SELECT ?x FROM NAMED WINDOW <urn:w> ON STREAM <urn:s> [RANGE PT10S STEP PT5S]
    FROM NAMED WINDOW <urn:v> ON STREAM <urn:s> [RANGE PT20S STEP PT20S]
    WHERE { WINDOW <urn:w> { ?x <urn:p> ?y }
            SERVICE <urn:e> { ?x <urn:q> ?z } SERVICE <urn:e> { ?x <urn:q> ?z } }""",
    "rspql",
)


def test_equal_services_at_different_places_have_different_numbers() -> None:
    calls = Calls(None, QUERY, "q")  # type: ignore[arg-type]
    services = [node for node in walk(QUERY.pattern) if isinstance(node, Service)]
    assert sorted(map(calls.place, services)) == [0, 1]


def test_the_longest_range_and_the_shortest_step() -> None:
    assert span_of(QUERY) == (20 * SECOND, 5 * SECOND)


def test_the_share_of_fresh_rows_counts_those_that_are_missing() -> None:
    assert Freshness(0, rows=6, fresh=3, missing=6).share == 0.25
    assert Freshness(0).share == 1.0
