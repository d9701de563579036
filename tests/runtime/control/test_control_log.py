"""The control log gives back what was written, also after it was compacted, and is never taken when old."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from disk_kit import newest
from weir.errors import CheckpointError
from weir.runtime.control import control_log
from weir.runtime.control.catalog import (
    FAREWELL,
    Catalog,
    Entry,
    GraphEntry,
    Registration,
    ServiceEntry,
    StreamEntry,
    UpdateEntry,
    entry_of,
)
from weir.runtime.control.control_log import CONTROL_FILE, ControlLog, snapshot


def query(name: str, *slots: int, batch: int = 0) -> Entry:
    return entry_of(Registration(name, "", slots=slots or (0,)), batch)


def test_entries_count_from_their_batch_on(tmp_path: Path) -> None:
    writer, reader = ControlLog(tmp_path), ControlLog(tmp_path)
    first, second = entry_of(StreamEntry("s"), 0), Entry(3, "drop", {"name": "q"})
    writer.append([first])
    assert reader.entries() == [first]
    writer.append([second])
    writer.append([])
    assert reader.entries(2) == [first]
    assert reader.entries(3) == reader.entries() == [first, second]
    assert (reader.version(2), reader.version(3), reader.position) == (1, 2, 2)


def test_a_change_counts_whole_or_not_at_all(tmp_path: Path) -> None:
    """A crash in the middle of a change of three queries leaves none of them."""
    log = ControlLog(tmp_path)
    log.append([query("a")])
    log.append([query("b"), query("c"), query("d")])
    path = newest(tmp_path / CONTROL_FILE)
    path.write_bytes(path.read_bytes()[:-10])
    assert list(ControlLog(tmp_path).catalog().queries) == ["a"]


def test_the_catalog_is_the_same_object_until_something_changes(tmp_path: Path) -> None:
    log = ControlLog(tmp_path)
    log.append([query("a")])
    known = log.catalog(5)
    assert log.catalog(7) is known
    log.append([query("b", batch=6)])
    assert log.catalog(5) is known
    assert list(log.catalog(6).queries) == ["a", "b"]
    assert list(log.catalog(5).queries) == ["a"]


def test_a_look_at_a_long_log_reads_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """40,000 entries: a look afterwards parses none of them."""
    log = ControlLog(tmp_path, durable=False)
    for change in range(40):
        log.append([query(f"q{change} {number}") for number in range(1000)])
    assert len(log.catalog().queries) == 40_000
    parsed = 0
    real = Entry.of

    def counted(values: dict[str, object]) -> Entry:
        nonlocal parsed
        parsed += 1
        return real(values)

    monkeypatch.setattr(Entry, "of", counted)
    known = log.catalog()
    for _ in range(100):
        assert log.catalog() is known
    log.append([query("one more", batch=9)])
    assert len(log.catalog().queries) == 40_001
    assert parsed == 1


def changes(dice: random.Random, count: int) -> list[list[Entry]]:
    """Queries and streams that come, pause, resume and go; services and graphs."""
    batch, found, queries, streams = 0, [], set(), 0
    for number in range(count):
        batch += dice.randrange(3)
        kind = dice.randrange(8)
        name = f"q{dice.randrange(12)}"
        if kind < 3:
            found.append([query(name, dice.randrange(3), batch=batch), query(f"{name}x", 1, batch=batch)])
            queries |= {name}
        elif kind < 5:
            found.append([Entry(batch, dice.choice(["drop", "pause"]), {"name": name})])
        elif kind == 5:
            found.append([entry_of(StreamEntry(f"s{dice.randrange(4)}", number=streams), batch)])
            streams += 1
        elif kind == 6:
            found.append([Entry(batch, "drop_stream", {"iri": f"s{dice.randrange(4)}"})])
        else:
            found.append([entry_of(ServiceEntry(f"http://e/{number % 3}", {"budget": number}), batch)])
    found.append(
        [entry_of(GraphEntry(None, "/g"), batch), entry_of(UpdateEntry(1, None, "i", "d", {}), batch)]
    )
    return found


@pytest.mark.parametrize("seed", range(20))
def test_a_compacted_log_means_the_same_in_every_batch_to_come(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_log, "_SPARE", 0)
    dice = random.Random(seed)
    writer, follower = ControlLog(tmp_path, durable=False), ControlLog(tmp_path)
    every = changes(dice, 120)
    for change in every[:100]:
        writer.append(change)
        if dice.random() < 0.2:
            follower.catalog(dice.randrange(200))
    last = max(entry.batch for change in every for entry in change)
    committed = dice.randrange(last + 1)
    before = newest(tmp_path / CONTROL_FILE).stat().st_size
    shorter = writer.compact(committed)
    assert shorter == (newest(tmp_path / CONTROL_FILE).stat().st_size < before)
    for change in every[100:]:
        writer.append(change)
    plain = ControlLog(tmp_path / "plain")
    (tmp_path / "plain").mkdir()
    for change in every:
        plain.append(change)
    for batch in range(committed + 1, last + FAREWELL + 2):
        wanted = plain.catalog(batch)
        for log in (follower, ControlLog(tmp_path), writer):
            found = log.catalog(batch)
            assert (found.version, found.leaving(batch)) == (wanted.version, wanted.leaving(batch))
            for each in ("streams", "queries", "paused", "services", "graphs", "updates", "numbered"):
                assert getattr(found, each) == getattr(wanted, each), each
            assert list(found.every_query) == list(wanted.every_query)


def test_a_snapshot_leads_to_the_same_catalog() -> None:
    known = Catalog.of([query("a", 0, 1), query("b"), Entry(4, "pause", {"name": "a"})])
    again = Catalog.of(snapshot(known))
    assert (again.queries, again.paused, again.load) == (known.queries, known.paused, known.load)


def test_a_log_that_had_little_to_lose_is_left_alone(tmp_path: Path) -> None:
    log = ControlLog(tmp_path)
    for number in range(20):
        log.append([query(f"q{number}")])
    assert not log.compact(10**6)
    for number in range(20):
        for _ in range(20):
            log.append([query(f"q{number}")])
    assert log.compact(10**6)
    assert (len(log.entries()), log.position) == (21, 420)


def test_a_worker_waits_until_it_sees_what_it_was_told(tmp_path: Path) -> None:
    """Its storage shows an old log, and then the present one."""
    driver, worker = ControlLog(tmp_path), ControlLog(tmp_path)
    driver.append([query("a")])
    assert worker.position == 1
    later = threading.Timer(0.3, lambda: driver.append([query("b")]))
    later.start()
    worker.expect(2)
    assert list(worker.catalog().queries) == ["a", "b"]
    later.join()


def test_a_worker_whose_log_stays_old_is_refused(tmp_path: Path) -> None:
    log = ControlLog(tmp_path)
    log.append([query("a")])
    log.expect(1, patience=0.0)
    with pytest.raises(CheckpointError, match=r"(?s)sees 1 changes .*and there are 2.*actimeo"):
        log.expect(2, patience=0.2)


def test_a_damaged_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / CONTROL_FILE).mkdir()
    (tmp_path / CONTROL_FILE / "0.log").write_text("7\n")
    with pytest.raises(CheckpointError, match="is damaged"):
        ControlLog(tmp_path).entries()
