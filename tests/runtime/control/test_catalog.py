"""The control log gives back what was written to it, and what that amounts to."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from weir.errors import CheckpointError
from weir.runtime.control.catalog import (
    Catalog,
    Entry,
    Registration,
    ServiceEntry,
    StreamEntry,
    UpdateEntry,
    entry_of,
    failed,
)
from weir.runtime.control.failure import Failure


def catalog(*entries: Entry) -> Catalog:
    return Catalog.of(entries)


def query(name: str, *slots: int, batch: int = 0) -> Entry:
    return entry_of(Registration(name, "", slots=slots or (0,)), batch)


def test_queries_come_pause_resume_and_go() -> None:
    """The order of the log is the order of registration; a query that comes again is a new one."""
    entries = [
        query("a"),
        query("b"),
        Entry(2, "pause", {"name": "a"}),
        query("a", batch=4),
        Entry(5, "drop", {"name": "b"}),
    ]
    assert list(catalog(*entries[:2]).queries) == ["a", "b"]
    paused = catalog(*entries[:3])
    assert (list(paused.queries), list(paused.paused), list(paused.every_query)) == (["b"], ["a"], ["b", "a"])
    assert catalog(*entries[:4]).queries["a"].since == 4
    assert list(catalog(*entries).every_query) == ["a"]
    assert catalog(*entries).version == 5


def test_a_stream_of_a_name_that_was_dropped_is_another() -> None:
    entries = [entry_of(StreamEntry("s", number=0), 0), Entry(1, "drop_stream", {"iri": "s"})]
    gone = catalog(*entries)
    assert not gone.streams
    assert gone.numbered == 1


def test_services_and_updates_are_kept_in_order() -> None:
    service = ServiceEntry("http://e/", {"budget": 3})
    updates = [UpdateEntry(number, None, "i", "d", {}) for number in (1, 2)]
    found = catalog(entry_of(service, 0), *(entry_of(each, 1) for each in updates))
    assert found.services == {"http://e/": service}
    assert found.updates == updates


def test_a_slot_is_vacated_with_its_last_query() -> None:
    entries = [query("a", 0, 1), query("b", 1), Entry(7, "drop", {"name": "a"})]
    found = catalog(*entries)
    assert found.vacated == {0: 7}
    assert (found.leaving(6), found.leaving(7), found.leaving(20)) == ([], [0], [])
    assert catalog(*entries, query("c", 0, batch=8)).vacated == {}


def test_an_entry_is_plain_values() -> None:
    entry = entry_of(Registration("q", "SELECT", slots=(1, 2), since=9), 7)
    assert Entry.of(entry.as_json()) == entry
    assert (entry.batch, entry.operation) == (7, "register")
    assert "since" not in entry.values


def test_an_entry_without_a_batch_is_refused() -> None:
    with pytest.raises(CheckpointError, match="the control log is damaged"):
        Entry.of({"op": "drop"})


def test_a_catalog_is_left_alone_by_what_comes_after(tmp_path: Path) -> None:
    before = catalog(query("a"), query("b", 1))
    after = before.after([[Entry(2, "drop", {"name": "a"})], [query("c", 1, batch=3)]])
    assert (list(before.queries), before.version, before.vacated) == (["a", "b"], 2, {})
    assert (list(after.queries), after.version, after.vacated) == (["b", "c"], 4, {0: 2})


def test_a_variable_ranges_over_the_streams_that_a_query_reads() -> None:
    assert Registration("q", "").over(["a", "b"]) == ("a", "b")
    assert Registration("q", "", reads=("b", "c")).over(["a", "b"]) == ("b",)
    assert not Registration("q", "", slots=(0, 1), share=2).by_time
    assert Registration("q", "", slots=(0, 1)).by_time


@pytest.mark.parametrize("seed", range(5))
def test_what_is_counted_is_what_there_is(seed: int) -> None:
    """Whatever comes, leaves, fails and comes back: streams that are made and read, twins, shapes."""
    rng, found = Random(seed), Catalog()
    for batch in range(200):
        name = rng.choice("abcdef")
        known = found.every_query.get(name)
        told = {"mark": rng.choice(["", "m"]), "shape": rng.choice(["", "s"]), "reads": (rng.choice("xy"),)}
        coming = Registration(name, "", makes=rng.choice([None, f"o{name}"]), **told)
        leaving = [Entry(batch, operation, {"name": name}) for operation in ("drop", "pause")]
        since = batch if known is None else known.since
        failing = failed(Failure(name, since, "it broke", 1, None, 0), batch)
        entry = rng.choice([*(entry_of(coming, batch) for _ in range(2)), *leaving, failing])
        found = found.after([[entry]])
        running, there = list(found.queries.values()), list(found.makers.values())
        assert +found.made == Counter(each.makes for each in there if each.makes)
        assert +found.read == Counter(stream for each in there for stream in each.reads)
        assert +found.shapes == Counter(each.shape for each in running if each.shape)
        marked = sum(each.mark == "m" for each in running)
        assert found.twins == ({"m": (0, marked)} if marked else {})
