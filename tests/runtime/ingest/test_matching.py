"""The match step as queries come and go: what it keeps is what a new one would keep."""

from __future__ import annotations

import random

import numpy as np

from weir.rdf.formats.tnq import parse_lines
from weir.runtime.control.catalog import Catalog, Registration, StreamEntry
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.matching import MatchPlan
from weir.runtime.ingest.parts import LaneInput

KEY = b"weir.testing"
STREAMS = {"s": StreamEntry("s")}
LINES = "".join(
    f"{n}\t<http://e/{'abc'[n % 3]}> <http://e/{'pq'[n % 2]}> <http://e/{'xyz'[n % 5 % 3]}> .\n"
    for n in range(30)
)
BODIES = ["?x :p ?y", ":a :p ?y", "?x :q :x", "?x ?p :z", ":b ?p ?o . ?o :p ?x"]


def registration(number: int, body: str, selected: str) -> Registration:
    text = (
        f"PREFIX : <http://e/> SELECT {selected} FROM NAMED WINDOW <w> ON <s> [TRIPLES 3] "
        f"WHERE {{ WINDOW <w> {{ {body} }} }}"
    )
    return Registration(f"q{number}", text, slots=(number % 2,), evaluator="shared")


def frames(plan: MatchPlan) -> list[bytes]:
    messages = parse_lines(LINES.encode(), scope="s", key=KEY)
    return [frame.to_bytes() for _, frame in plan.frames("s", LaneInput("0", messages))]


def test_following_changes_gives_what_building_anew_gives() -> None:
    draw = random.Random(7)
    queries: dict[str, Registration] = {}
    plan = MatchPlan(Catalog(STREAMS, {}), 2, KEY)
    for number in range(40):
        made = registration(number, draw.choice(BODIES), draw.choice(["*", "?x", "?y"]))
        queries[made.name] = made
        if draw.random() < 0.5:
            del queries[draw.choice(list(queries))]
        plan.follow(Catalog(STREAMS, dict(queries)))
        assert frames(plan) == frames(MatchPlan(Catalog(STREAMS, dict(queries)), 2, KEY))
        assert plan.active == sorted({each.slots[0] for each in queries.values()})


def test_one_query_more_touches_only_its_own_states() -> None:
    queries = {f"q{n}": registration(0, f":s{n} :p ?y . ?y :q{n % 7} ?z", "*") for n in range(50)}
    queries = {name: Registration(name, each.text, evaluator="shared") for name, each in queries.items()}
    plan = MatchPlan(Catalog(STREAMS, queries), 1, KEY)
    parts, pool = dict(plan._entries), plan._pools["s", False]
    more = {
        **queries,
        "more": Registration("more", registration(0, ":s1 :p ?y", "*").text, evaluator="shared"),
    }
    plan.follow(Catalog(STREAMS, more))
    assert plan._pools["s", False] is pool
    assert all(plan._entries[name] is parts[name] for name in queries)
    (one,) = plan._entries["more"]
    assert np.array_equal(one.machines, parts["q1"][0].machines[:1])


def only(plan: MatchPlan, lines: str) -> Frame:
    """What the only slot gets."""
    ((_, frame),) = plan.frames("s", LaneInput("0", parse_lines(lines.encode(), scope="s", key=KEY)))
    return frame


QUADS = "".join(
    f"{at}\t<http://e/{s}> <http://e/{p}> <http://e/o> {graph} .\n"
    for at, s, p, graph in [
        (0, "a", "z", "<http://e/g>"),
        (0, "b", "p", "<http://e/g>"),
        (0, "c", "z", "<http://e/h>"),
        (0, "d", "z", ""),
        (1, "e", "z", "<http://e/g>"),
        (1, "f", "z", "<http://e/g>"),
    ]
)


def places(body: str, evaluator: str = "interval") -> tuple[list[tuple[int, int]], list[str]]:
    """Message and place of each triple that is kept of ``QUADS``, and the texts that go with them."""
    text = (
        "PREFIX : <http://e/> SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] "
        f"WHERE {{ WINDOW <w> {{ {body} }} }}"
    )
    plan = MatchPlan(Catalog(STREAMS, {"q": Registration("q", text, evaluator=evaluator)}), 1, KEY)
    frame = only(plan, QUADS)
    return list(zip(frame.messages.message.tolist(), frame.messages.place.tolist(), strict=True)), sorted(
        map(str, frame.texts)
    )


def test_a_triple_of_each_graph_goes_along_for_its_name() -> None:
    assert places("GRAPH ?g {}") == ([(0, 0), (0, 2), (1, 0)], ["<http://e/g>", "<http://e/h>"])
    assert places("GRAPH :h {}") == ([(0, 2)], [])
    assert places("GRAPH ?g { OPTIONAL { ?s :p :o } }")[0] == [(0, 0), (0, 1), (0, 2), (1, 0)]


def test_nothing_goes_along_where_a_triple_must_match() -> None:
    assert places("GRAPH ?g { ?s :p :o }") == ([(0, 1)], ["<http://e/b>", "<http://e/g>"])
    assert places("?s :p :o") == ([(0, 1)], ["<http://e/b>"])


def test_names_leave_with_the_query_that_asked_for_them() -> None:
    asking = "SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { GRAPH ?g {} } }"
    plan = MatchPlan(Catalog(STREAMS, {"q": Registration("q", asking)}), 1, KEY)
    other = {"r": Registration("r", asking.replace("GRAPH ?g {}", "?s <http://e/p> ?o"))}
    plan.follow(Catalog(STREAMS, other))
    frame = only(plan, QUADS)
    assert frame.messages.place.tolist() == [1]
