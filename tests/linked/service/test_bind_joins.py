"""Wherever keys can be known the endpoint is asked by them, never for everything."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote_plus

import pytest

from service_servers import MoodyServer
from weir.testing import Scenario
from weir_bench.oxigraph import Oxigraph

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


@pytest.mark.parametrize("most", [2, 7, 39, 40])
def test_an_answer_that_the_endpoint_cuts_is_read_in_pages(server: MoodyServer, most: int) -> None:
    """Nothing binds ?m, so all forty are asked for, and the endpoint gives a few at a time."""
    server.most = most
    found = run(server, "SERVICE <e> { ?m :value ?v }", "interval")
    assert sorted(int(each) for each in names(found, "v")) == sorted([*range(40)] * 3)


def test_of_many_keys_that_are_cut_half_are_asked_for(server: MoodyServer) -> None:
    server.most = 2
    lines = ["".join(f"500\t<{E}k{n}> <{E}seen> <{E}x> .\n" for n in range(9))]
    text = f"""PREFIX : <{E}> REGISTER RSTREAM <out> AS SELECT *
    FROM NAMED WINDOW <w> ON <s> [RANGE 1s STEP 1s]
    WHERE {{ WINDOW <w> {{ ?k :seen ?x }} SERVICE <{server.endpoint}> {{ ?k :value ?v }} }}"""
    assert names(Scenario(text).run(lines, "s"), "v") == [str(n) for n in range(9)]
    asked = [unquote_plus(body.decode()) for body in server.bodies]
    assert sum("LIMIT" in text for text in asked) == 0 < len(asked)


def test_pages_are_requests_of_the_budget(server: MoodyServer) -> None:
    """Two requests an evaluation: the whole answer is there at the third, once, and not before."""
    server.most = 12
    lines = [f"{1000 * n + 500}\t<{E}k{n}> <{E}seen> <{E}x{n}> .\n" for n in range(9)]
    text = f"""PREFIX : <{E}> REGISTER RSTREAM <out> AS SELECT *
    FROM NAMED WINDOW <w> ON <s> [RANGE 1s STEP 1s]
    WHERE {{ WINDOW <w> {{ ?k :seen ?x }}
      SERVICE <{server.endpoint}#weir:budget=2&interval=1h> {{ ?m :value ?v }} }}"""
    scenario = Scenario(text)
    counts, before = [], 0
    for line in lines:
        scenario.lane("s").put(line)
        found = scenario.batch()
        assert server.requests - before <= 2
        before = server.requests
        counts.append(len(found))
    assert set(counts) <= {0, 40} and counts[-1] == 40
    assert counts == sorted(counts)


def test_pages_leave_others_what_the_budget_has_left(server: MoodyServer) -> None:
    """One request an evaluation for two queries, of which one reads pages and the other asks for new keys all
    the time: a page that was not charged would be the second."""
    server.most = 12
    lines = [f"{1000 * n + 500}\t<{E}k{n}> <{E}seen> <{E}x{n}> .\n" for n in range(16)]
    text = f"""PREFIX : <{E}> REGISTER RSTREAM <OUT> AS SELECT *
    FROM NAMED WINDOW <w> ON <s> [RANGE 1s STEP 1s]
    WHERE {{ WINDOW <w> {{ ?k :seen ?x }}
      SERVICE <{server.endpoint}#weir:budget=1&interval=1h> {{ BODY }} }}"""
    bodies = {"paged": "?m :value ?v", "keyed": "?k :name ?n"}
    scenario = Scenario({n: text.replace("OUT", n).replace("BODY", body) for n, body in bodies.items()})
    before, answered = 0, set()
    for line in lines:
        scenario.lane("s").put(line)
        answered |= {each["query"] for each in scenario.batch()}
        assert server.requests - before <= 1
        before = server.requests
    asked = [unquote_plus(body.decode()) for body in server.bodies]
    assert sum("LIMIT" in each for each in asked) >= 4 and any("VALUES" in each for each in asked)
    assert answered == {"paged", "keyed"}


def test_a_change_between_two_pages_is_noticed(server: MoodyServer, store: Oxigraph) -> None:
    """The first row goes while the pages are read: the answer is none, and a later one is whole."""
    server.most = 12
    text = f"""PREFIX : <{E}> REGISTER RSTREAM <out> AS SELECT *
    FROM NAMED WINDOW <w> ON <s> [RANGE 1s STEP 1s]
    WHERE {{ WINDOW <w> {{ ?k :seen ?x }}
      SERVICE <{server.endpoint}#weir:budget=1&interval=1h> {{ ?m :value ?v }} }}"""
    scenario, counts = Scenario(text), []
    for n in range(12):
        scenario.lane("s").put(f"{1000 * n + 500}\t<{E}k{n}> <{E}seen> <{E}x{n}> .\n")
        counts.append(len(scenario.batch()))
        if server.requests == 3:
            store.update(f"DELETE DATA {{ <{E}k0> <{E}value> 0 }}")
    store.update(f"INSERT DATA {{ <{E}k0> <{E}value> 0 }}")
    assert set(counts) <= {0, 39} and counts[-1] == 39 and counts[5] == 0


def test_halves_are_requests_of_the_budget(server: MoodyServer) -> None:
    """One request an evaluation, two rows an answer: sixteen keys are there after many, none is lost."""
    server.most = 2
    text = f"""PREFIX : <{E}> REGISTER RSTREAM <out> AS SELECT *
    FROM NAMED WINDOW <w> ON <s> [RANGE 1s STEP 1s]
    WHERE {{ WINDOW <w> {{ ?k :seen ?x }}
      SERVICE <{server.endpoint}#weir:budget=1&interval=1h> {{ ?k :value ?v }} }}"""
    scenario, found = Scenario(text), []
    for step in range(40):
        seen = "".join(f"{1000 * step + 500}\t<{E}k{n}> <{E}seen> <{E}x> .\n" for n in range(16))
        scenario.lane("s").put(seen)
        before = server.requests
        found = scenario.batch() or found
        assert server.requests - before <= 1
    assert names(found, "v") == sorted(str(n) for n in range(16))
