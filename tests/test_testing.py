"""CQELS Table 1 and cut-invariance without Spark: the scripted source through the real frames and groups."""

from __future__ import annotations

import pytest

from weir.testing import Scenario

FLOOR = "@prefix : <http://example.org/> . :r1 :conn :r2, :r3 . :r2 :conn :r1 . :r3 :conn :r1 ."
REACHES = """
PREFIX : <http://example.org/>
REGISTER ISTREAM <reaches> AS
CONSTRUCT { ?p2 :reaches ?p1 }
FROM NAMED <floorplan>
FROM NAMED WINDOW <now> ON <rfid> [NOW]
FROM NAMED WINDOW <recent> ON <rfid> [RANGE 2 STEP 1 REPORT CONTENT CHANGE, NON EMPTY CONTENT BAG]
PREVIOUS INSTANT
WHERE {
  WINDOW <now> { ?p1 :detectedAt ?l1 }
  WINDOW <recent> { ?p2 :detectedAt ?l2 }
  GRAPH <floorplan> { ?l1 :conn ?l2 }
}
"""
LINES = [
    f"{t}\t<http://example.org/m{t}> <http://example.org/detectedAt> <http://example.org/r{1 + t % 2}> .\n"
    for t in range(4)
]


def reaches(source: int, target: int) -> str:
    prefix = "http://example.org/"
    return f"<{prefix}m{source}> <{prefix}reaches> <{prefix}m{target}> ."


@pytest.mark.parametrize("evaluator", ["reference", "interval"])
@pytest.mark.parametrize("cut", [[4], [1, 3], [1, 1, 1, 1], [2, 0, 2]])
@pytest.mark.parametrize("workers", [0, 1, 2])
def test_table_1_of_cqels_row_by_row(evaluator: str, cut: list[int], workers: int) -> None:
    scenario = Scenario(
        REACHES,
        graphs={"floorplan": FLOOR},
        evaluator=evaluator,
        restarts=not workers,
        workers=workers or 1,
    )
    batches, place = [], 0
    for size in cut:
        batches.append("".join(LINES[place : place + size]))
        place += size
    found = scenario.run(batches, "rfid")
    assert [(line["at"], line["op"], line["triples"]) for line in found] == [
        ("1970-01-01T00:00:00.001Z", "I", [reaches(0, 1)]),
        ("1970-01-01T00:00:00.002Z", "I", [reaches(1, 2)]),
        ("1970-01-01T00:00:00.003Z", "I", [reaches(2, 3)]),
    ]


@pytest.mark.parametrize("evaluator", ["reference", "interval"])
@pytest.mark.parametrize("restarts", [False, True])
def test_the_end_after_a_heartbeat_reports_the_window_that_is_open(evaluator: str, restarts: bool) -> None:
    """Messages at 1 s and 2 s, a heartbeat just after, then the end: [2 s, 3 s) is still to be reported."""
    query = """REGISTER RSTREAM <q> AS SELECT ?s FROM NAMED WINDOW <w> ON <s> [RANGE PT1S STEP PT1S]
    WHERE { WINDOW <w> { ?s <urn:p> ?o } }"""
    scenario = Scenario(query, evaluator=evaluator, restarts=restarts)
    lane = scenario.lane("s")
    lane.put("1000\t<urn:1> <urn:p> <urn:o> .\n2000\t<urn:2> <urn:p> <urn:o> .\n2001\t\n")
    found = scenario.batch()
    lane.end()
    found += scenario.batch()
    assert [line["bindings"]["s"]["value"] for line in found] == ["urn:1", "urn:2"]


@pytest.mark.parametrize("evaluator", ["reference", "interval"])
@pytest.mark.parametrize("restarts", [False, True])
def test_blank_nodes_are_those_of_their_message(evaluator: str, restarts: bool) -> None:
    query = """PREFIX : <http://e/>
    REGISTER RSTREAM <q> AS SELECT ?y ?z FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10]
    WHERE { WINDOW <w> { ?x :p ?y . ?x :q ?z } }"""
    lines = [
        "1\t_:b <http://e/p> <http://e/1> .\n",
        "2\t_:b <http://e/q> <http://e/2> .\n",
        "3\t_:b <http://e/p> <http://e/3> .\n3\t_:b <http://e/q> <http://e/4> .\n",
    ]
    found = Scenario(query, evaluator=evaluator, restarts=restarts).run(lines, "s")
    values = [[term["value"] for term in line["bindings"].values()] for line in found]
    assert values == [["http://e/3", "http://e/4"]]


def test_a_line_ends_at_a_newline_alone() -> None:
    query = "SELECT ?o FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?x <urn:p> ?o } }"
    found = Scenario(query).run(['1\t<urn:x> <urn:p> "a\u2028b\x85c\x0bd" .\n'], "s")
    assert [line["bindings"]["o"]["value"] for line in found] == ["a\u2028b\x85c\x0bd"]


def test_what_is_set_aside_is_shown() -> None:
    query = "SELECT ?x FROM NAMED WINDOW <w> ON <s> [NOW AHEAD PT1S] WHERE { WINDOW <w> { ?x <urn:p> ?o } }"
    scenario = Scenario(query)
    lines = "5\t<urn:x> <urn:p> 1 .\n6\trubbish\nno time\n5000\t<urn:far> <urn:p> <urn:o> .\n"
    scenario.run(["5\t<urn:x> <urn:p> <urn:o> .\n", lines, "1\t<urn:late> <urn:p> <urn:o> .\n"], "s")
    reasons = [each["reason"] for each in scenario.dropped]
    assert len(reasons) == 5
    assert "no tab between time and statement" in reasons
    assert reasons[-2:] == ["further ahead of its lane than AHEAD allows", "late"]


def test_times_have_microseconds_where_there_are_any() -> None:
    query = "SELECT ?x FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?x <urn:p> ?o } }"
    times = ("1970-01-01T00:00:01.000001Z", "1970-01-01T00:00:01.000002Z", "1970-01-01T00:00:02Z")
    found = Scenario(query).run([f"{time}\t<urn:x> <urn:p> <urn:o> .\n" for time in times], "s")
    assert [line["at"] for line in found] == [*times[:2], "1970-01-01T00:00:02.000Z"]
