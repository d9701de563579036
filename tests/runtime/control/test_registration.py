"""Queries that ask to be registered: their names, their places, and whether they fit a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weir
from weir.errors import CheckpointError, SyntaxError, UsageError
from weir.plan.analysis.chain import parsed
from weir.runtime.control.catalog import (
    Catalog,
    Entry,
    Registration,
    ServiceEntry,
    StreamEntry,
    entry_of,
)
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.control_log import CONTROL_FILE
from weir.runtime.control.registration import offer, refuse_changes, registrations_of
from weir.runtime.ingest.sources import FileSource

COUNT = """PREFIX : <http://e/>
REGISTER RSTREAM <{name}> AS SELECT (COUNT(*) AS ?n)
FROM NAMED WINDOW <w> ON <s> [RANGE {range} STEP 10] WHERE {{ WINDOW <w> {{ ?x :p ?y }} }}"""


def count(name: str = "a", range: int = 10) -> str:
    return COUNT.format(name=name, range=range)


def refused(*parts: str) -> Any:
    """A refusal whose text has all ``parts``, one of them what to do."""
    return pytest.raises(CheckpointError, match="(?s)" + ".*".join(["", *parts, "hint: ", ""]))


def test_a_name_is_that_of_register_or_one_that_is_free() -> None:
    unnamed = "SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?x ?p ?y } }"
    assert offer(count("a"), {}, name="other").name == "a"
    assert offer(unnamed, {}, name="mine").name == "mine"
    assert offer(unnamed, {"query2": 0}).name == "query3"
    with pytest.raises(UsageError, match="two queries are named 'a'"):
        offer(count("a"), {"a": 0})


def test_a_query_keeps_the_routing_that_is_asked_for() -> None:
    made = offer(count("a"), {}, routing="cardinality")
    (registration,) = registrations_of([made], Catalog(), ("s",), 2, None)
    assert registration.routing == "cardinality" and offer(count("b"), {}).routing == "cost"
    with pytest.raises(UsageError, match="unknown routing 'luck'"):
        offer(count("a"), {}, routing="luck")
    with pytest.raises(UsageError, match="unknown routing 'luck'"):
        weir.Engine(routing="luck").register(count("a"))


def test_a_syntax_error_names_the_file() -> None:
    with pytest.raises(SyntaxError, match=r"bad\.rq"):
        offer("SELECT", {}, file="bad.rq")


def test_a_query_is_parsed_once() -> None:
    text = count("parsed-once")
    before = parsed.cache_info().misses
    made = offer(text, {}, file="q.rq")
    (registration,) = registrations_of([made], Catalog(), ("s",), 2, None)
    assert parsed(registration.text, registration.dialect) is made.query
    assert parsed.cache_info().misses == before + 1


def test_queries_are_spread_over_the_slots() -> None:
    offers = [offer(count(name, range), {}) for name, range in (("a", 10), ("b", 20), ("c", 30))]
    found = registrations_of([*offers], Catalog(), ("s",), 2, None)
    assert [(each.name, each.evaluator, each.reads) for each in found] == [
        (name, "interval", ("s",)) for name in "abc"
    ]
    assert [each.slots[0] for each in found] == [0, 1, 0]


def test_queries_under_a_budget_share_a_slot_with_those_whose_endpoint_a_variable_names() -> None:
    def calling(endpoint: str) -> str:
        return (
            "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 2s STEP 1s] "
            f"{{ WINDOW <w> {{ ?x ?p ?e }} SERVICE {endpoint} {{ ?x <v> ?y }} }}"
        )

    texts = {
        "hinted": calling("<http://one.example/#weir:budget=2>"),
        "free": calling("<http://two.example/>"),
        "declared": calling("<http://three.example/>"),
        "named": calling("?e"),
    }
    catalog = Catalog()
    catalog.services["http://three.example/"] = ServiceEntry("http://three.example/", {"budget": 3})
    offers = [offer(text, {}, name=name) for name, text in texts.items()]
    slots = {each.name: each.slots for each in registrations_of(offers, catalog, ("s",), 4, None)}
    assert slots["hinted"] == slots["declared"] == slots["named"]
    assert slots["free"] != slots["named"]


def entries(*more: Entry) -> Catalog:
    source = FileSource("/s").as_json()
    known = Registration("a", count(), "auto", "interval")
    return Catalog.of([entry_of(StreamEntry("s", source=source), 0), entry_of(known, 0), *more])


def check(catalog: Catalog, *texts: str, streams: str = "s", frames: str = "", resume: bool = False) -> None:
    offers = {made.name: made for made in (offer(text, {}) for text in texts)}
    refuse_changes(catalog, offers, list(streams), list(frames), resume)


@pytest.mark.parametrize("resume", [False, True])
def test_the_same_query_set_goes_on(resume: bool) -> None:
    check(entries(), count(), resume=resume)
    check(entries(), count(), count("b"), resume=resume)
    check(entries(Entry(3, "drop", {"name": "a"})), resume=resume)


DIFFERENT: list[tuple[Callable[..., None], str]] = [
    (lambda: check(entries()), "runs a query 'a' that is not given"),
    (lambda: check(entries(), count(range=20)), "runs another query under the name 'a'"),
    (
        lambda: check(entries(Entry(3, "pause", {"name": "a"})), count()),
        "the query 'a' is paused in the checkpoint",
    ),
    (lambda: check(entries(), count(), streams=""), "reads the stream <s>, which is not given"),
    (lambda: check(entries(), count(), streams="", frames="s"), "from a source of Weir's, and a DataFrame"),
    (
        lambda: check(entries(entry_of(StreamEntry("d"), 0)), count(), resume=True),
        "reads the stream <d> from a DataFrame, which is not given",
    ),
]


@pytest.mark.parametrize(("run", "said"), DIFFERENT, ids=[said for _, said in DIFFERENT])
def test_another_query_set_is_refused(run: Callable[..., None], said: str) -> None:
    with refused(said):
        run()


def test_what_is_missing_may_be_resumed() -> None:
    check(entries(), streams="", resume=True)
    check(entries(Entry(3, "pause", {"name": "a"})), count(), resume=True)
    with refused("runs another query under the name 'a'"):
        check(entries(), count(range=20), resume=True)


def test_an_engine_refuses_before_it_touches_the_checkpoint(tmp_path: Path) -> None:
    checkpoint = Checkpoint.open(tmp_path / "c", version="1", slots=2)
    log = checkpoint.own / CONTROL_FILE
    known = Registration("a", count(), "auto", "interval")
    checkpoint.control().append([entry_of(known, 0)])
    before = {path: path.read_bytes() for path in log.iterdir()}
    engine = weir.Engine(checkpoint=tmp_path / "c")
    engine.register(count("b"))
    with refused("runs a query 'a' that is not given"):
        engine._enrol(checkpoint, 2, False, False)
    assert {path: path.read_bytes() for path in log.iterdir()} == before
