"""Messages in any RDF format, many at a time, as columns.

A payload is one message and atomic: one bad statement refuses the whole of it (in ``.tnq`` files the unit
is the line). Its time is given with it, or is the object of a declared predicate. All
formats become N-Quads lines, which the vectorised reader takes at once; labels of blank nodes that the
parser drew at random are numbered in the order in which they occur, so that a replay gives the same terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import polars as pl
import pyoxigraph as ox

from weir.rdf.columns import Ids, Mask
from weir.rdf.formats.guarded_parser import Unparsable, as_nquads
from weir.rdf.formats.media import Format, format_of
from weir.rdf.formats.times import FIRST_TIME, LAST_TIME, times_of
from weir.rdf.formats.tnq import BOM, parse_pieces, read_columns, split_buffer
from weir.rdf.messages import NO_GRAPH_TEXT, Parsed, Rejected, Terms, assemble
from weir.rdf.terms import BLANK_NODES, blank_labels, relabelled_text

Column: TypeAlias = "tuple[Ids, pl.Series]"
_LINES = (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS)
_SHOWN = 200


@dataclass(slots=True)
class Statements:
    """The statements of some payloads: columns of codes and texts, and for each row its payload (ascending)
    and the line in it, 0 where there are none.

    ``refused`` lists lines that are no statements, as (payload, line, reason, text); ``bad`` has the line
    and the reason for payloads that are refused as a whole.
    """

    columns: list[Column]
    payload: Ids
    line: Ids
    bad: dict[int, tuple[int, str]] = field(default_factory=dict)
    refused: list[tuple[int, int, str, str]] = field(default_factory=list)


def parse_payloads(
    payloads: Sequence[bytes],
    format: Format,
    *,
    scope: str,
    key: bytes,
    positions: Sequence[int] | Ids,
    times: Sequence[int | None] | None = None,
    time_predicate: str | None = None,
    lines: Sequence[int] | None = None,
) -> Parsed:
    """The messages of payloads of one lane, in order; a payload without statements is a heartbeat.

    ``times`` (µs) count before the declared predicate. ``positions`` ascend; those formats whose texts hold
    many messages add the byte at which each begins. What is rejected has the number of its payload, from
    1, as its line; with ``lines``, the lines of a file at which payloads begin, it has a line of the file.
    """
    if format.timed:
        return parse_pieces(payloads, positions, scope=scope, key=key)
    if format.syntax is None:
        payloads, positions, times, lines = _lines_of(payloads, positions, times, lines)
        format = format_of("jsonld")
    found = whole(read_payloads(payloads, format))
    return messages_of(
        found,
        lambda row: shown(payloads[row]),
        scope=scope,
        key=key,
        positions=positions,
        times=times,
        time_predicate=time_predicate,
        lines=lines,
    )


def messages_of(
    found: Statements,
    name: Callable[[int], str],
    *,
    scope: str,
    key: bytes,
    positions: Sequence[int] | Ids,
    times: Sequence[int | None] | None = None,
    time_predicate: str | None = None,
    lines: Sequence[int] | None = None,
) -> Parsed:
    """The messages of statements, one for each payload with a time; ``name`` shows one that is refused."""
    given: list[int | None] = [None] * len(positions) if times is None else list(times)
    time, keep = _times(found, given, time_predicate)
    rejected = [
        Rejected(
            row + 1 if lines is None else lines[row] + max(line, 1) - 1,
            reason if lines is not None or not line else f"line {line} of the message: {reason}",
            name(row),
            row,
        )
        for row, (line, reason) in sorted(found.bad.items())
    ]
    chosen = keep[found.payload] if len(found.payload) else np.empty(0, np.bool_)
    number = np.cumsum(keep) - 1
    return assemble(
        time[keep],
        np.asarray(positions, np.int64)[keep],
        number[found.payload[chosen]],
        [Terms.of(codes[chosen], texts, key) for codes, texts in found.columns],
        scope=scope,
        key=key,
        rejected=rejected,
    )


def whole(found: Statements) -> Statements:
    """The same with payloads refused that have a line that is no statement."""
    for payload, line, reason, _ in found.refused:
        found.bad.setdefault(payload, (line, reason))
    return found


def read_payloads(
    payloads: Sequence[bytes], format: Format, bases: Sequence[str | None] | None = None
) -> Statements:
    """The statements of payloads, whatever their times; ``bases`` resolve relative IRIs in them."""
    assert format.syntax is not None
    bad: dict[int, tuple[int, str]] = {}
    chunks = []
    for number, text in enumerate(payloads):
        chunk = _as_lines(text, format.syntax, bases[number] if bases else None)
        if isinstance(chunk, tuple):
            bad[number] = chunk
            chunk = b""
        chunks.append(chunk)
    counts = [chunk.count(b"\n") for chunk in chunks]
    payload = np.repeat(np.arange(len(chunks)), counts)
    firsts = np.cumsum([0, *counts])
    lines, unread = split_buffer(b"".join(chunks))
    columns, good, _, wrong = read_columns(lines)
    wrong += _graphs_in_triples(columns, good, format)
    if unread:
        wrong = [*unread.items(), *(item for item in wrong if item[0] not in unread)]
        good[list(unread)] = False
    by_lines = format.syntax in _LINES
    line = (np.arange(len(payload)) - firsts[payload] + 1) * by_lines
    refused = [
        (int(payload[row]), int(line[row]), reason, shown(lines[row].encode()))
        for row, reason in sorted(wrong)
    ]
    kept = [(codes[good], texts) for codes, texts in columns]
    out = Statements(kept, payload[good], line[good], bad, refused)
    return out if by_lines else numbered(out)


def _graphs_in_triples(columns: Sequence[Column], good: Mask, format: Format) -> list[tuple[int, str]]:
    """Rows of N-Triples that have a graph; they are good no more."""
    if format.syntax != ox.RdfFormat.N_TRIPLES:
        return []
    codes, texts = columns[3]
    rows = np.flatnonzero(good & (texts != NO_GRAPH_TEXT).to_numpy()[codes])
    good[rows] = False
    return [(int(row), "a graph name in N-Triples") for row in rows]


def _as_lines(payload: bytes, syntax: ox.RdfFormat, base: str | None) -> bytes | tuple[int, str]:
    """The payload as lines of N-Quads, each with its end, or where and why it is none."""
    payload = payload.removeprefix(BOM)
    if syntax in _LINES:
        return payload if payload.endswith(b"\n") or not payload else payload + b"\n"
    try:
        return as_nquads(payload, syntax, base)
    except Unparsable as error:
        return error.line, error.reason


def numbered(found: Statements) -> Statements:
    """The same with blank nodes named by their order in their payload."""
    marks = []
    for place in (0, 2, 3):
        codes, texts = found.columns[place]
        blank: Mask = texts.str.contains(BLANK_NODES).to_numpy()
        rows = np.flatnonzero(blank[codes]) if len(texts) else np.empty(0, np.int64)
        marks.append(
            pl.DataFrame(
                {
                    "row": rows,
                    "place": np.full(len(rows), place),
                    "payload": found.payload[rows],
                    "text": texts.gather(codes[rows]),
                }
            )
        )
    every = pl.concat(marks).sort("row", "place")
    if not len(every):
        return found
    nested = every["text"].str.starts_with("<<(")
    labels = (
        every.with_columns(text=_labels(every["text"], nested)).explode("text") if nested.any() else every
    )
    names = labels.unique(["payload", "text"], maintain_order=True).with_columns(
        name=pl.lit("_:b") + pl.int_range(pl.len()).over("payload").cast(pl.String)
    )
    renamed = every.join(
        names.select("payload", "text", "name"), on=["payload", "text"], how="left", maintain_order="left"
    )
    if nested.any():
        renamed = _renamed_within(renamed, names)
    columns = list(found.columns)
    for place in (0, 2, 3):
        mine = renamed.filter(pl.col("place") == place)
        codes, texts = columns[place]
        fresh = codes.copy()
        fresh[mine["row"].to_numpy()] = np.arange(len(texts), len(texts) + len(mine))
        columns[place] = (fresh, pl.concat([texts.rename("t"), mine["name"].rename("t")]))
    return replace(found, columns=columns)


def _labels(texts: pl.Series, nested: pl.Series) -> pl.Series:
    """The blank nodes in each text, of which some are triple terms."""
    found = [
        [f"_:{label}" for label in blank_labels(text)] if inner else [text]
        for text, inner in zip(texts.to_list(), nested.to_list(), strict=True)
    ]
    return pl.Series(found, dtype=pl.List(pl.String))


def _renamed_within(renamed: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """Triple terms, which have no name of their own, with the names of the blank nodes in them."""
    known: dict[int, dict[str, str]] = {}
    for payload, text, name in names.select("payload", "text", "name").rows():
        known.setdefault(payload, {})[text[2:]] = name[2:]
    found = [
        name if name is not None else relabelled_text(text, known[payload].__getitem__)
        for payload, text, name in renamed.select("payload", "text", "name").rows()
    ]
    return renamed.with_columns(name=pl.Series(found, dtype=pl.String))


def _times(found: Statements, given: list[int | None], predicate: str | None) -> tuple[Ids, Mask]:
    """The time of each payload, and which are good; the reasons of the others go to ``found.bad``."""
    time = np.zeros(len(given), np.int64)
    wanted = [number for number, at in enumerate(given) if at is None and number not in found.bad]
    if wanted and predicate is None:
        found.bad.update(dict.fromkeys(wanted, (0, "no time is given, and no predicate declared")))
    elif wanted and predicate is not None:
        told = times_of(found.columns, found.payload, wanted, predicate)
        for number, answer in told.items():
            if isinstance(answer, str):
                found.bad[number] = (0, answer)
            else:
                time[number] = answer
    for number, at in enumerate(given):
        if at is None or number in found.bad:
            continue
        if FIRST_TIME <= at <= LAST_TIME:
            time[number] = at
        else:
            found.bad[number] = (0, "the time is outside the years 1 to 9999")
    keep = np.ones(len(given), np.bool_)
    keep[list(found.bad)] = False
    return time, keep


def _lines_of(
    payloads: Sequence[bytes],
    positions: Sequence[int] | Ids,
    times: Sequence[int | None] | None,
    lines: Sequence[int] | None,
) -> tuple[list[bytes], list[int], list[int | None], list[int]]:
    """Payloads that hold a message per line, as payloads of their own."""
    cut = [
        (number, line, begin, text)
        for number, payload in enumerate(payloads)
        for line, (begin, text) in enumerate(split_lines(payload))
        if text
    ]
    return (
        [text for *_, text in cut],
        [int(positions[number]) + begin for number, _, begin, _ in cut],
        [None if times is None else times[number] for number, *_ in cut],
        [number + 1 if lines is None else lines[number] + line for number, line, *_ in cut],
    )


def split_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Where each line begins, and the line without what surrounds it."""
    begin = 0
    for line in data.split(b"\n"):
        yield begin, line.strip()
        begin += len(line) + 1


def shown(payload: bytes) -> str:
    """How a payload begins."""
    text = payload[: 4 * _SHOWN].decode(errors="replace").rstrip("\r\n")
    return text if len(text) <= _SHOWN and len(payload) <= 4 * _SHOWN else text[:_SHOWN] + "…"
