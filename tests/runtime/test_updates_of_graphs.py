"""Updates of static graphs between batches against the reference evaluator over the time-varying graph.

The expected answers come from terms alone: when each update counts is worked out from the times of the
messages, what a triple's intervals are from a list of what was done to it, and the answers by one run of
the reference evaluator over everything.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_kit import run
from weir.kernel.contract import Background
from weir.kernel.reference.datasets import Static, Timed
from weir.kernel.reference.windows import Message
from weir.language import parse
from weir.language.update import parse_update
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Literal, Triple
from weir.runtime.control import control_log
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.extracts import net_of
from weir.runtime.control.graph_updates import is_empty
from weir.testing import Scenario

NODES = [f"urn:{name}" for name in "abc"]
PREDICATES = ["urn:p", "urn:q"]
GRAPHS = [None, "urn:g", "urn:h"]
CLOSING = "FROM NAMED WINDOW <w> ON <s> [RANGE 4 STEP 2] WHERE { WINDOW <w> { ?x <urn:p> ?y }"
CHANGING = "FROM NAMED WINDOW <w> ON <s> [RANGE 4 REPORT CONTENT CHANGE] WHERE { WINDOW <w> { ?x <urn:p> ?y }"
STATIC = [
    "?y <urn:q> ?z }",
    "?y <urn:q> ?z . ?z <urn:p> ?u }",
    "OPTIONAL { ?y <urn:q> ?z } }",
    "MINUS { ?y <urn:q> ?z } }",
    "GRAPH ?g { ?y ?e ?z } }",
    "GRAPH <urn:g> { ?y <urn:q> ?z . ?z <urn:q> ?u } }",
    "?y <urn:q>+ ?z }",
    "FILTER NOT EXISTS { GRAPH <urn:h> { ?y <urn:q> ?z } } }",
    "{ SELECT ?y (COUNT(?z) AS ?n) { ?y <urn:q> ?z } GROUP BY ?y } }",
    "{ ?y <urn:q> ?z } UNION { GRAPH <urn:g> { ?y <urn:p> ?z } } }",
    "GRAPH ?g {} }",
    "GRAPH ?g { FILTER NOT EXISTS { ?y <urn:q> ?z } } }",
    "GRAPH <urn:h> { OPTIONAL { ?y <urn:q> ?z } } }",
]


@dataclass
class Done:
    """What was done to a triple: when it counts, in which update, and whether it was inserted."""

    at: int
    number: int
    inserted: bool


def triple(rng: Random) -> Triple:
    return IRI(rng.choice(NODES)), IRI(rng.choice(PREDICATES)), IRI(rng.choice(NODES))


def timed(each: Triple, there: bool, done: list[Done]) -> list[Timed]:
    """The intervals of a triple, an event at a time."""
    found: list[Timed] = []
    since = None
    for event in sorted(done, key=lambda d: (d.at, d.number)):
        if event.inserted and not there:
            there, since = True, event.at
        elif not event.inserted and there:
            there = False
            found.append(Timed(each, since, event.at))
    return [*found, Timed(each, since, None)] if there else found


def turtle(triples: set[Triple]) -> str:
    return "".join(f"{s} {p} {o} .\n" for s, p, o in triples)


def request(rng: Random) -> list[tuple[bool, str | None, Triple]]:
    return [(rng.random() < 0.6, rng.choice(GRAPHS), triple(rng)) for _ in range(rng.randrange(1, 4))]


def text_of(operations: list[tuple[bool, str | None, Triple]]) -> str:
    parts = []
    for inserted, graph, (s, p, o) in operations:
        data = f"{s} {p} {o}" if graph is None else f"GRAPH <{graph}> {{ {s} {p} {o} }}"
        parts.append(f"{'INSERT' if inserted else 'DELETE'} DATA {{ {data} }}")
    return " ;\n".join(parts)


def bag(lines: list[dict[str, Any]]) -> Counter[tuple[str, tuple[tuple[str, str], ...]]]:
    return Counter(
        (line["at"], tuple(sorted((name, str(term["value"])) for name, term in line["bindings"].items())))
        for line in lines
    )


def plain(term: Any) -> str:
    return str(term.lexical if isinstance(term, Literal) else term.value)


def stamp(at: int) -> str:
    return f"1970-01-01T00:00:00.{at // 1000:03d}Z"


@given(st.integers(0, 2**32), st.sampled_from(["interval", "reference"]), st.booleans())
def test_updates_between_batches_are_a_time_varying_graph(seed: int, evaluator: str, restarts: bool) -> None:
    hold(seed, evaluator, restarts)


@given(st.integers(0, 2**32), st.sampled_from(["interval", "reference"]), st.booleans())
def test_updates_that_are_put_together_mean_the_same(seed: int, evaluator: str, restarts: bool) -> None:
    """Every second one is, with all before it, and the driver starts again now and then."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(control_log, "_SPARE", 2)
        patched.setattr(Checkpoint, "committed", lambda _: 10**6)
        hold(seed, evaluator, restarts, merging=True)


def hold(seed: int, evaluator: str, restarts: bool, merging: bool = False) -> None:
    rng = Random(seed)
    closing = rng.random() < 0.5
    r2s = rng.choice(["RSTREAM", "ISTREAM", "DSTREAM"])
    text = f"SELECT {r2s} * {CLOSING if closing else CHANGING} {rng.choice(STATIC)}"
    graphs = {name: {triple(rng) for _ in range(rng.randrange(5))} for name in GRAPHS}
    if rng.random() < 0.4:
        del graphs["urn:h"]
    scenario = Scenario(
        text,
        graphs={name: turtle(triples) for name, triples in graphs.items()},
        evaluator=evaluator,
        restarts=restarts,
    )
    lane = scenario.lane("s")
    done: dict[tuple[str | None, Triple], list[Done]] = {}
    sent: list[Message] = []
    found: list[dict[str, Any]] = []
    time = number = 0
    reached: int | None = None
    for _ in range(rng.randrange(2, 6)):
        for _ in range(rng.randrange(3)):
            number += 1
            asked = rng.choice([None, None, rng.randrange(0, 20) * 500])
            operations = request(rng)
            scenario.update(text_of(operations), asked)
            present = None if reached is None else reached + (1 if closing else 0)
            counts = max(each for each in (asked, present, -(2**60)) if each is not None)
            for inserted, graph, each in operations:
                known = done.setdefault((graph, each), [])
                known[:] = [event for event in known if event.number != number]
                known.append(Done(counts, number, inserted))
        for _ in range(rng.randrange(4)):
            time += rng.randrange(0, 3)
            quads = tuple((*triple(rng), None) for _ in range(rng.randrange(1, 3)))
            if sent and sent[-1].time == time * 1000:
                continue
            sent.append(Message(time * 1000, quads))
            lane.put("".join(f"{time}\t{s} {p} {o} .\n" for s, p, o, _ in quads))
        if merging and rng.random() < 0.3:
            scenario.job.restart()
        found += scenario.batch()
        reached = sent[-1].time if sent else None
    if sent:
        lane.end()
        found += scenario.batch()
    made: dict[str, int] = {}
    for (name, _), events in done.items():
        for event in events:
            if name is not None and name not in graphs and event.inserted:
                made[name] = min(event.at, made.get(name, event.at))
    named = {
        name: [
            row
            for each in graphs.get(name, set()) | {t for g, t in done if g == name}
            for row in timed(each, each in graphs.get(name, set()), done.get((name, each), []))
        ]
        for name in (*graphs, *made)
    }
    static = Static(named[None], {name: rows for name, rows in named.items() if name is not None}, made)
    expected = Counter(
        (stamp(at), tuple(sorted((name, plain(term)) for name, term in row.items())))
        for at, row in run(parse(text), {"s": sent}, static)
        if isinstance(row, dict)
    )
    assert bag(found) == expected


def test_an_update_triggers_no_evaluation() -> None:
    scenario = Scenario("SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] WHERE { ?x <urn:p> ?y }")
    lane = scenario.lane("s")
    lane.put("1\t<urn:a> <urn:b> <urn:c> .")
    assert scenario.batch() == []
    scenario.update("INSERT DATA { <urn:new> <urn:p> 1 }")
    assert scenario.batch() == []
    lane.put("15\t<urn:a> <urn:b> <urn:c> .")
    assert [(line["at"], line["bindings"]["x"]["value"]) for line in scenario.batch()] == [
        ("1970-01-01T00:00:00.010Z", "urn:new")
    ]


@pytest.mark.parametrize("asked, first", [(None, 20), (25_000, 30), (5_000, 20)])
def test_an_update_counts_from_the_later_of_the_time_asked_for_and_the_present(
    asked: int | None, first: int
) -> None:
    # closes:       10        20        30        40
    # messages:   1       12 │               (T = 12 when the update comes)          41
    scenario = Scenario("SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] WHERE { ?x <urn:p> ?y }")
    lane = scenario.lane("s")
    lane.put("1\t<urn:a> <urn:b> <urn:c> .\n12\t<urn:a> <urn:b> <urn:c> .")
    assert scenario.batch() == []
    scenario.update("INSERT DATA { <urn:new> <urn:p> 1 }", asked)
    lane.put("41\t<urn:a> <urn:b> <urn:c> .")
    assert [line["at"] for line in scenario.batch()] == [
        f"1970-01-01T00:00:00.0{close}Z" for close in (20, 30, 40) if close >= first
    ]


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_an_evaluator_goes_on_with_its_plan_and_its_windows(evaluator: str) -> None:
    """messages  1 2 | 3 ;  an update between the batches"""
    query = f"REGISTER RSTREAM <q> AS SELECT ?y ?z {CLOSING} ?y <urn:q> ?z }}"
    scenario = Scenario(query, graphs={None: "<urn:a> <urn:q> 1 ."}, evaluator=evaluator)
    scenario.lane("s").put("1\t<urn:x> <urn:p> <urn:a> .\n3\t<urn:x> <urn:p> <urn:b> .\n")
    scenario.batch()
    before = scenario.group.members["query"].evaluator
    scenario.update("INSERT DATA { <urn:b> <urn:q> 2 }")
    scenario.lane("s").end()
    found = scenario.batch()
    assert scenario.group.members["query"].evaluator is before
    assert ("urn:b", "2") in [tuple(term["value"] for term in line["bindings"].values()) for line in found]


def test_a_request_is_what_it_changes_in_the_end() -> None:
    dictionary = Dictionary()
    request = "INSERT DATA { <urn:a> <urn:p> 1, 2 } ; DELETE DATA { <urn:a> <urn:p> 1 }"
    inserted, deleted = net_of(parse_update(request), dictionary, "u1")
    assert [len(each.default.subject) for each in (inserted, deleted)] == [1, 1]
    assert not is_empty(inserted)
    assert is_empty(Background())
