"""The match step as queries come and go: what it keeps is what a new one would keep."""

from __future__ import annotations

import random

import numpy as np

from weir.rdf.formats.tnq import parse_lines
from weir.runtime.control.catalog import Catalog
from weir.runtime.control.entries import Registration, StreamEntry
from weir.runtime.ingest.matching import MatchPlan

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
    return [plan.frame(slot, "s", "0", messages, 0).to_bytes() for slot in (0, 1)]


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
    parts, pool = dict(plan._parts), plan._pools[0, "s"][None]
    more = {
        **queries,
        "more": Registration("more", registration(0, ":s1 :p ?y", "*").text, evaluator="shared"),
    }
    plan.follow(Catalog(STREAMS, more))
    assert plan._pools[0, "s"][None] is pool
    assert all(plan._parts[name] is parts[name] for name in queries)
    (one,) = plan._parts["more"]
    assert np.array_equal(one.machines, parts["q1"][0].machines[:1])
