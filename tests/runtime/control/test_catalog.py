"""What the entries of a control log amount to."""

from __future__ import annotations

from weir.runtime.control.catalog import Catalog
from weir.runtime.control.entries import (
    Entry,
    Registration,
    ServiceEntry,
    StreamEntry,
    UpdateEntry,
    drop_entry,
    drop_stream_entry,
    entry_of,
    pause_entry,
)


def catalog(*entries: Entry) -> Catalog:
    return Catalog.of(entries)


def query(name: str, *slots: int, batch: int = 0) -> Entry:
    return entry_of(Registration(name, "", slots=slots or (0,)), batch)


def test_queries_come_pause_resume_and_go() -> None:
    """The order of the log is the order of registration; a query that comes again is a new one."""
    entries = [query("a"), query("b"), pause_entry("a", 2), query("a", batch=4), drop_entry("b", 5)]
    assert list(catalog(*entries[:2]).queries) == ["a", "b"]
    paused = catalog(*entries[:3])
    assert (list(paused.queries), list(paused.paused), list(paused.every_query)) == (["b"], ["a"], ["b", "a"])
    assert catalog(*entries[:4]).queries["a"].since == 4
    assert list(catalog(*entries).every_query) == ["a"]
    assert catalog(*entries).version == 5


def test_a_stream_of_a_name_that_was_dropped_is_another() -> None:
    entries = [entry_of(StreamEntry("s", number=0), 0), drop_stream_entry("s", 1)]
    gone = catalog(*entries)
    assert not gone.streams
    assert gone.numbered == 1


def test_services_and_updates_are_kept_in_order() -> None:
    service = ServiceEntry("http://e/", {"budget": 3})
    updates = [UpdateEntry(number, None, "i", "d", {}) for number in (1, 2)]
    found = catalog(entry_of(service, 0), *(entry_of(each, 1) for each in updates))
    assert found.services == {"http://e/": service}
    assert found.updates == tuple(updates)


def test_a_slot_is_vacated_with_its_last_query() -> None:
    entries = [query("a", 0, 1), query("b", 1), drop_entry("a", 7)]
    found = catalog(*entries)
    assert found.vacated == {0: 7}
    assert (found.leaving(6), found.leaving(7), found.leaving(20)) == ([], [0], [])
    assert catalog(*entries, query("c", 0, batch=8)).vacated == {}


def test_catalogs_with_the_same_queries_read_alike() -> None:
    service = entry_of(ServiceEntry("http://e/", {}), 0)
    assert catalog(query("a")).reads_like(catalog(query("a"), service))
    assert not catalog(query("a")).reads_like(catalog(query("b")))
