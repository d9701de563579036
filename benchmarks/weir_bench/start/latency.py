"""From a message that is pushed to its result in a listener: the conference in the direct runner."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from weir import Engine
from weir.runtime.output.sinks.base import Results, Sink
from weir_bench.conference.queries import Template
from weir_bench.data.conference import EPOCH, FLOORPLAN, LV, Conference, day, room_text
from weir_bench.data.library import author_text

STREAM = "http://deri.org/streams/rfid"
_START = datetime(1970, 1, 1, tzinfo=UTC)


class Listener(Sink):
    """Notes when the results of each evaluation time were handed over first."""

    form = "jsonl"
    promise = "at least once"

    def __init__(self) -> None:
        self.heard: dict[str, float] = {}

    def write(self, batch: int, results: Sequence[Results]) -> None:
        now = time.perf_counter()
        for each in results:
            for line in each.table["line"].to_pylist():
                self.heard.setdefault(json.loads(line)["at"], now)


def write_world(world: Conference, folder: Path) -> None:
    """The static graphs as files."""
    for name, triples in (("library", world.library.all()), ("floorplan", world.floorplan)):
        rows = triples.select(["s", "p", "o"]).rows()
        (folder / f"{name}.nt").write_text("".join(f"{s} {p} {o} .\n" for s, p, o in rows), encoding="utf-8")


def latencies(
    template: Template, world: Conference, folder: Path, *, messages: int, rate: int, warm: int
) -> list[float]:
    """Milliseconds from the push of a message to its first result, for each message that has one.

    Messages come one by one, evenly at ``rate`` a second, over a lane that promises distinct times; the
    first ``warm`` do not count. As many instances of the query run as the paper has.
    """
    engine = Engine(runner="direct")
    engine.stream(STREAM, "push:?times_distinct=true")
    engine.graph(None, folder / "library.nt")
    engine.graph(FLOORPLAN, folder / "floorplan.nt")
    for number, author in enumerate(world.notable[: template.instances]):
        engine.register(template.cqels(world.name(author)), name=f"{template.name}-{number}")
    listener = Listener()
    job = engine.start(sinks=[listener], live=True)
    writer = job.receivers.writer(STREAM)
    sent = _send(writer.submit, world, messages, rate)
    _settle(listener)
    job.stop()
    count = len(sent)
    kept = {at: when for number, (at, when) in enumerate(sent.items()) if number >= min(warm, count - 1)}
    return [(listener.heard[at] - when) * 1000 for at, when in kept.items() if at in listener.heard]


def _send(submit: object, world: Conference, messages: int, rate: int) -> dict[str, float]:
    """Push at the rate; when each was pushed, by its time as results write it."""
    assert callable(submit)
    _, authors, rooms = day(world, 0, messages, float(rate), 1)
    sent: dict[str, float] = {}
    lines = []
    for number, (author, room) in enumerate(zip(authors.tolist(), rooms.tolist(), strict=True)):
        at = _START + timedelta(microseconds=EPOCH + number * 1_000_000 // rate)
        text = at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"
        line = f"{text}\t{author_text(author)} <{LV}detectedAt> {room_text(room)} .\n"
        lines.append((text, line.encode()))
    pace = threading.Event()
    began = time.perf_counter()
    for number, (text, payload) in enumerate(lines):
        left = began + number / rate - time.perf_counter()
        if left > 0:
            pace.wait(left)
        sent[text] = time.perf_counter()
        submit(payload)
    return sent


def _settle(listener: Listener) -> None:
    """Wait until nothing more comes."""
    known = -1
    while known != len(listener.heard):
        known = len(listener.heard)
        time.sleep(0.5)


def quantiles(found: Sequence[float]) -> dict[str, float]:
    """What is reported of latencies."""
    return {
        "results": len(found),
        "p50": float(np.quantile(found, 0.5)),
        "p99": float(np.quantile(found, 0.99)),
        "max": float(np.max(found)),
    }
