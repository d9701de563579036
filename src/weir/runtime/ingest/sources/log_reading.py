"""Reading a range of a log in a worker: payloads of one format are parsed at once, then parted by lanes."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np

from weir.rdf.columns import Ids, Mask
from weir.rdf.formats.media import format_of
from weir.rdf.formats.payloads import parse_payloads
from weir.rdf.messages import Messages, Rejected, Terms
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.sources.segments import SHIFT, Block, blocks


@dataclass(frozen=True, slots=True)
class Record:
    """A payload at a position of the log."""

    lane: str
    form: str
    predicate: str | None
    time: int | None
    position: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class LaneMessages:
    """What a part of a log holds of one lane, with what was set aside in it."""

    lane: str
    messages: Messages


def read_log_part(part: Part, key: bytes) -> list[LaneMessages]:
    """The messages of each lane; several items of one lane are in order.

    Blank nodes are told apart by the position of their payload, so labels do not depend on how the log is
    cut.
    """
    data = log_bytes(part)
    found = list(blocks(data, 0, len(data)))
    every = list(records(data, found, (part.number << SHIFT) + part.start))
    out: list[LaneMessages] = []
    for _, group in groupby(every, key=lambda record: (record.form, record.predicate)):
        out += _parsed(list(group), f"{part.stream} log", key)
    for block in found:
        for dead in block.header.dead:
            refused = Rejected(0, dead.reason, dead.text)
            out.append(LaneMessages(dead.lane, replace(_nothing(key), rejected=(refused,))))
    return out


def log_bytes(part: Part) -> bytes:
    """The bytes of a part of a segment."""
    assert part.path is not None and part.end is not None
    with open(Path(part.path), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as log:
        return log[part.start : part.end]


def records(data: bytes, found: Sequence[Block], base: int) -> Iterator[Record]:
    """The records of some blocks, in the order of the log."""
    for block in found:
        header = block.header
        place = block.body
        kinds = ((lane, form) for lane, form, count in header.runs for _ in range(count))
        for (lane, form), length, time in zip(kinds, header.records, header.times, strict=True):
            yield Record(lane, form, header.predicate, time, base + place, data[place : place + length])
            place += length


def _parsed(group: Sequence[Record], scope: str, key: bytes) -> list[LaneMessages]:
    """The messages of payloads of one format."""
    messages = parse_payloads(
        [record.payload for record in group],
        format_of(group[0].form),
        scope=scope,
        key=key,
        positions=[record.position for record in group],
        times=[record.time for record in group],
        time_predicate=group[0].predicate,
    )
    wrong: dict[str, list[Rejected]] = {}
    for item in messages.rejected:
        wrong.setdefault(group[item.line - 1].lane, []).append(item)
    numbers = {lane: number for number, lane in enumerate(dict.fromkeys(record.lane for record in group))}
    if len(numbers) == 1:
        return [LaneMessages(group[0].lane, messages)]
    positions = np.array([record.position for record in group])
    lanes = np.array([numbers[record.lane] for record in group])
    lane = lanes[np.searchsorted(positions, messages.position, side="right") - 1]
    return [
        LaneMessages(name, replace(_only(messages, lane == number), rejected=tuple(wrong.get(name, ()))))
        for name, number in numbers.items()
    ]


def _nothing(key: bytes) -> Messages:
    return parse_payloads([], format_of("tnq"), scope="", key=key, positions=[])


def _only(messages: Messages, keep: Mask) -> Messages:
    """Some of the messages, with only the texts that they use."""
    rows = np.flatnonzero(keep[messages.message])
    subject, predicate, target, graph = (_used(terms, rows) for terms in messages.columns)
    return Messages(
        messages.time[keep],
        messages.position[keep],
        messages.triples[keep],
        (np.cumsum(keep) - 1)[messages.message[rows]],
        messages.place[rows],
        subject,
        predicate,
        target,
        graph,
    )


def _used(terms: Terms, rows: Ids) -> Terms:
    used, codes = np.unique(terms.codes[rows], return_inverse=True)
    return Terms(codes.reshape(-1), terms.texts.gather(used), terms.ids[used])
