"""Durable logs of streams, read as jobs read them."""

from __future__ import annotations

from weir.rdf.messages import Parsed
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.sources import Reached
from weir.runtime.ingest.sources.log_source import LogFeed, read_log_part

KEY = b"k" * 16


def triple(number: int) -> bytes:
    """A statement of its own subject."""
    return f"<urn:s{number}> <urn:p> <urn:o> .\n".encode()


def texts(messages: Parsed) -> list[tuple[int, list[str]]]:
    """Each message as (ms, its subjects)."""
    subjects = messages.terms[0].texts.gather(messages.terms[0].codes).to_list()
    out: list[tuple[int, list[str]]] = [(at // 1000, []) for at in messages.messages.time.tolist()]
    for number, subject in zip(messages.messages.message.tolist(), subjects, strict=True):
        out[number][1].append(subject)
    return out


def read(parts: list[Part]) -> dict[str, list[tuple[int, list[str]]]]:
    """The messages of each lane."""
    lanes: dict[str, list[tuple[int, list[str]]]] = {}
    for part in parts:
        if part.path is not None:
            for found in read_log_part(part, KEY):
                lanes.setdefault(found.lane, []).extend(texts(found.parsed))
    return lanes


def drained(feed: LogFeed, start: Reached | None = None) -> dict[str, list[tuple[int, list[str]]]]:
    """Everything that the feed offers, batch by batch."""
    reached: Reached = start or {}
    lanes: dict[str, list[tuple[int, list[str]]]] = {}
    while (after := feed.latest(reached, False)) != reached:
        for lane, messages in read(feed.parts(reached, after)).items():
            lanes.setdefault(lane, []).extend(messages)
        reached = after
    return lanes
