"""What a CityBench query costs: as fast as it goes, at the pace of a clock, and beside others.

Time is processor time of the whole process where throughput is meant, so that figures are for one core
whatever the machine does beside, and time on the wall where somebody waits for an answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weir_bench.city.data import EVENTS, TICK, City
from weir_bench.city.queries import CityQuery
from weir_bench.replay import Replay

SLAB = 200
"""Seconds of event time that come together where a run goes as fast as it can."""

Messages = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Cost:
    """``triples`` read and ``rows`` written in ``cpu`` seconds of the processor."""

    triples: int
    rows: int
    cpu: float
    text: bytes = b""


def messages_of(city: City, query: CityQuery, count: int) -> dict[str, list[str]]:
    """The first messages of a query's streams, by stream IRI."""
    return {EVENTS + sensor: city.messages(sensor, count) for sensor in query.sensors}


def graphs_of(city: City, query: CityQuery) -> dict[str | None, Path]:
    """The files of a query's static graphs."""
    return {iri: city.file(name) for iri, name in query.named.items()}


def triples_of(messages: Messages) -> int:
    return sum(text.count("\n") for texts in messages.values() for text in texts)


def copies(query: CityQuery, count: int) -> dict[str, str]:
    """The same query under ``count`` names."""
    return {f"{query.name}-{number}": query.text for number in range(1, count + 1)}


def full_speed(
    city: City, query: CityQuery, messages: Messages, count: int = 1, *, keep: bool = False
) -> Cost:
    """Everything in slabs, and the end of the streams; ``count`` copies of the query run together. ``keep``
    also gives the result lines."""
    length = max(map(len, messages.values()))
    slabs = [_joined(messages, start, start + SLAB) for start in range(0, length, SLAB)]
    with Replay(copies(query, count), graphs_of(city, query), query.dialect) as replay:
        replay.batch({})
        rows, began = 0, time.process_time()
        for number, slab in enumerate([*slabs, {}]):
            replay.batch(slab, ended=number == len(slabs))
            rows += replay.rows
        cpu = time.process_time() - began
        return Cost(triples_of(messages), rows, cpu, replay.text if keep else b"")


def paced(city: City, query: CityQuery, messages: Messages, speed: float) -> list[float]:
    """Replay ``speed`` times as fast as the sensors measure; for each second of event time, how long after
    it was due its batch was answered, in seconds. What falls due during a batch comes with the next one."""
    length = max(map(len, messages.values()))
    every = TICK / 1000 / speed
    late: list[float] = []
    with Replay(copies(query, 1), graphs_of(city, query), query.dialect) as replay:
        replay.batch({})
        replay.batch(_joined(messages, 0, 4))
        done, begin = 4, time.monotonic()
        while done < length:
            wait = begin + (done - 4) * every - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            due = min(length, 5 + int((time.monotonic() - begin) / every))
            due = max(due, done + 1)
            replay.batch(_joined(messages, done, due))
            now = time.monotonic()
            late += [now - begin - (number - 4) * every for number in range(done, due)]
            done = due
    return late


def _joined(messages: Messages, start: int, end: int) -> dict[str, bytes]:
    return {stream: "".join(texts[start:end]).encode() for stream, texts in messages.items()}
