"""Wherever keys can be known the endpoint is asked by them, never for everything."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote_plus

import pytest

from service_servers import MoodyServer
from weir.testing import Scenario

pytestmark = pytest.mark.network

E = "http://e/"
DATA = " ".join(
    f"<{E}k{n}> <{E}value> {n} . <{E}k{n}> <{E}next> <{E}k{n + 1}> . <{E}k{n}> <{E}name> 'k{n}' ."
    for n in range(40)
)
LINES = [f"{1000 * n + 500}\t<{E}k{n}> <{E}seen> <{E}x{n}> .\n" for n in range(3)]


def run(server: MoodyServer, where: str, evaluator: str) -> list[dict[str, Any]]:
    text = f"""PREFIX : <{E}> REGISTER RSTREAM <out> AS SELECT *
    FROM NAMED WINDOW <w> ON <s> [RANGE 1s STEP 1s]
    WHERE {{ WINDOW <w> {{ ?k :seen ?x }} {where.replace("<e>", f"<{server.endpoint}>")} }}"""
    return Scenario(text, evaluator=evaluator).run(LINES, "s")


def names(found: list[dict[str, Any]], name: str) -> list[str]:
    return sorted(line["bindings"].get(name, {"value": "-"})["value"].removeprefix(E) for line in found)


CASES = {
    "FILTER": ("SERVICE <e> { ?k :next ?m FILTER(?m != :k9) } SERVICE <e> { ?m :value ?v }", ["1", "2", "3"]),
    "outer FILTER": (
        "SERVICE <e> { ?k :next ?m } FILTER(?m != :k2) SERVICE <e> { ?m :value ?v }",
        ["1", "3"],
    ),
    "SILENT": ("SERVICE SILENT <e> { ?k :next ?m } SERVICE <e> { ?m :value ?v }", ["1", "2", "3"]),
    "OPTIONAL": ("OPTIONAL { SERVICE <e> { ?k :next ?m } } SERVICE <e> { ?m :value ?v }", ["1", "2", "3"]),
    "BIND": ("BIND(IRI(CONCAT(STR(?k), '0')) AS ?m) SERVICE <e> { ?m :value ?v }", ["10", "20"]),
    "UNION": (
        "{ SERVICE <e> { ?k :value ?v } } UNION { SERVICE <e> { ?k :next ?m } SERVICE <e> { ?m :value ?v } }",
        ["0", "1", "1", "2", "2", "3"],
    ),
    "MINUS": ("MINUS { SERVICE <e> { ?k :value 1 } } SERVICE <e> { ?k :value ?v }", ["0", "2"]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_endpoint_is_asked_by_keys(server: MoodyServer, case: str) -> None:
    where, expected = CASES[case]
    assert names(run(server, where, "interval"), "v") == expected
    asked = [unquote_plus(body.decode()) for body in server.bodies]
    assert asked and all("VALUES" in text for text in asked)


@pytest.mark.parametrize("case", CASES)
def test_the_plain_evaluator_gives_the_same(server: MoodyServer, case: str) -> None:
    where, expected = CASES[case]
    assert names(run(server, where, "reference"), "v") == expected


def test_not_exists_asks_by_keys(server: MoodyServer) -> None:
    where = "FILTER NOT EXISTS { SERVICE <e> { ?k :value 1 } } SERVICE <e> { ?k :value ?v }"
    assert names(run(server, where, "auto"), "v") == ["0", "2"]
    assert all("VALUES" in unquote_plus(body.decode()) for body in server.bodies)


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_rows_with_and_without_a_key_are_asked_for_apart(server: MoodyServer, evaluator: str) -> None:
    """Only k1 has a key of its own; the others meet all forty, and no row is there twice."""
    where = "OPTIONAL { SERVICE <e> { ?k :next ?m FILTER(?m = :k2) } } SERVICE <e> { ?m :value ?v }"
    found = run(server, where, evaluator)
    assert names([line for line in found if line["bindings"]["k"]["value"] == f"{E}k1"], "v") == ["2"]
    assert len(found) == 81
