"""Facts that last: a data set made again from its folder is the one that was there, whatever ended it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from fragments_kit import EX, SECOND, T0
from network_peers import listens, until
from weir.errors import CheckpointError
from weir.fragments.ldes import PAGE, Member
from weir.fragments.protocol.annotation import Annotation, Fact, Labeling, Method
from weir.fragments.server import Dataset
from weir.fragments.server.fact_log import FactLog
from weir.fragments.server.facts import FactStore, Retention
from weir_bench.oxigraph import free_port

HISTORY = Retention(history=True)
TOKEN = "a token of the tests"


def fact(subject: int, value: int, start: int, seconds: int = 10) -> Fact:
    return Fact(
        f"<{EX}s{subject}>",
        f"<{EX}delay>",
        f'"{value}"',
        T0 + start * SECOND,
        T0 + (start + seconds) * SECOND,
    )


def content(store: FactStore) -> list[tuple[int, Fact]]:
    """Every fact with its number, those that were withdrawn left out."""
    rows = [
        (number, one)
        for segment in store.segments
        for number, one in zip(segment.number.tolist(), segment.facts(), strict=True)
        if one.start < one.end
    ]
    return sorted(rows)


def change(data: Dataset, draw: random.Random, second: int) -> None:
    """One of the things that can be done to facts."""
    now = T0 + second * SECOND
    facts = [
        fact(draw.randrange(6), draw.randrange(4), second, draw.randrange(1, 20))
        for _ in range(draw.randrange(4))
    ]
    if draw.random() < 0.2:
        data.end([one.triple for one in facts], now)
    else:
        data.push(facts, now, supersede=draw.random() < 0.3)


@pytest.mark.parametrize("labeling", Labeling)
@pytest.mark.parametrize("seed", range(4))
def test_a_data_set_made_again_is_the_same(tmp_path: Path, labeling: Labeling, seed: int) -> None:
    annotation = Annotation(Method.GRAPHS, labeling)
    draw = random.Random(seed)
    data = Dataset("d", annotation=annotation, folder=tmp_path)
    for second in range(60):
        change(data, draw, second)
        if draw.random() < 0.15:
            before = content(data.store), data.store.next_number, data.store.predicate_versions
            data.close()
            data = Dataset("d", annotation=annotation, folder=tmp_path)
            assert (content(data.store), data.store.next_number, data.store.predicate_versions) == before
    data.close()


def members_of(data: Dataset) -> list[Member]:
    members = data.store.members
    return [member for span in members.spans() for member in members.page(span.page) or ()]


def test_members_of_the_event_stream_come_back_with_their_numbers(tmp_path: Path) -> None:
    draw = random.Random(3)
    data = Dataset("d", folder=tmp_path, members=PAGE)
    for second in range(900):
        change(data, draw, second)
        if second % 300 == 100:
            data._log._write_out()  # type: ignore[union-attr]
        if second % 300 == 200:
            before = members_of(data), data.store.members.oldest, data.store.members.latest
            data.close()
            data = Dataset("d", folder=tmp_path, members=PAGE)
            assert (members_of(data), data.store.members.oldest, data.store.members.latest) == before
    assert data.store.members.oldest > 1
    data.close()


def test_blank_nodes_and_odd_texts_come_back(tmp_path: Path) -> None:
    data = Dataset("d", folder=tmp_path)
    data.push([Fact("_:a", f"<{EX}p>", '"tab\\t \\" é ☃"@en', T0, T0 + SECOND)], T0)
    before = content(data.store)
    data.close()
    again = Dataset("d", folder=tmp_path)
    assert content(again.store) == before != []
    again.close()


def filled(log: FactLog, begin: int, end: int) -> None:
    for second in range(begin, end):
        facts = [fact(n, second, second) for n in range(20)]
        log.push(facts, T0 + second * SECOND, True)
        log.store.supersede(facts)
        log.store.add(facts, T0 + second * SECOND)
        log.compact()


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.seg"))


def test_the_disk_holds_what_retention_keeps(tmp_path: Path) -> None:
    log = FactLog(tmp_path, Retention(history=True, facts=400), room=20_000)
    filled(log, 0, 60)
    first = size(tmp_path)
    filled(log, 60, 300)
    assert size(tmp_path) < 3 * first + 40_000, "the log grows with what was forgotten"
    before, number = content(log.store), log.store.next_number
    log.close()
    again = FactLog(tmp_path, Retention(history=True, facts=400), room=20_000)
    assert content(again.store) == before and again.store.next_number == number > 5000
    again.close()


def test_a_copy_that_was_not_finished_is_no_loss(tmp_path: Path) -> None:
    """Cut anywhere, the log makes the store of some moment, and never less than was there before the copy."""
    log = FactLog(tmp_path, HISTORY, room=2**40)
    filled(log, 0, 12)
    before = content(log.store)
    log._writer.forget = lambda mark: None  # type: ignore[method-assign, assignment]
    log._write_out()
    log.close()
    last = max(tmp_path.glob("*.seg"))
    whole = last.read_bytes()
    for cut in (*range(0, len(whole), max(1, len(whole) // 15)), len(whole)):
        last.write_bytes(whole[:cut])
        (tmp_path / "synced").write_text(f"{int(last.stem)} 0\n")
        again = FactLog(tmp_path, HISTORY)
        assert content(again.store) == before
        again.close()


def test_one_writer(tmp_path: Path) -> None:
    data = Dataset("d", folder=tmp_path)
    with pytest.raises(CheckpointError, match="another process writes"):
        Dataset("d", folder=tmp_path)
    data.close()


@contextmanager
def serving(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    (tmp_path / "d.nq").write_text(f"<{EX}a> <{EX}b> <{EX}c> .\n")
    port = free_port()
    command = [
        *(sys.executable, "-m", "weir", "serve", "--port", str(port), "--dataset", f"d={tmp_path / 'd.nq'}"),
        *("--push", "env:FACTS_TOKEN", "--labeling", "interval", "--facts", str(tmp_path / "facts")),
    ]
    with (tmp_path / "out").open("ab") as output:
        environment = {**os.environ, "FACTS_TOKEN": TOKEN}
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        until(lambda: listens(port) or process.poll() is not None, 60)
        assert process.poll() is None, (tmp_path / "out").read_text()[-2000:]
        yield process, f"http://127.0.0.1:{port}/d"
    finally:
        process.kill()
        process.wait(20)


def graphs(url: str) -> dict[str, str]:
    """The graph of each pushed fact, by its object."""
    query = {"predicate": f"{EX}delay"}
    lines = httpx.get(url, params=query, headers={"Accept": "application/n-quads"}).text.splitlines()
    found = [line.split() for line in lines if f"<{EX}delay>" in line.split()[1:2]]
    return {quad[2]: quad[3] for quad in found}


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    acknowledged: list[int] = []
    shown: dict[str, str] = {}
    for life in range(3):
        with serving(tmp_path) as (process, url):
            now = graphs(url)
            assert {f'"{n}"' for n in acknowledged} <= now.keys()
            assert shown.items() <= now.items(), "a graph has another name"
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "text/turtle"}
            for n in range(life * 10, life * 10 + 10):
                body = f'<{EX}s> <{EX}delay> "{n}" .'
                assert httpx.post(f"{url}?lifetime=1000", content=body, headers=headers).status_code == 200
                acknowledged.append(n)
            shown = graphs(url)
            os.kill(process.pid, signal.SIGKILL)
            process.wait(20)
    assert len(shown) == 30 == len(set(shown.values()))
