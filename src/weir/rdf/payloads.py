"""Messages in any RDF format, many at a time, as columns.

A payload is one message and atomic: one bad statement refuses the whole of it (in ``.tnq`` files the unit
is the line, in ``rdf.lines``). Its time is given with it, or is the object of a declared predicate. All
formats become N-Quads lines, which the vectorised reader takes at once; labels of blank nodes that the
parser drew at random are numbered in the order in which they occur, so that a replay gives the same terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pyoxigraph as ox

from weir.rdf.columns import Ids, Mask
from weir.rdf.formats import Format, format_of
from weir.rdf.guards import refusal
from weir.rdf.lines import parse_pieces, read_columns, split_buffer
from weir.rdf.lines_time import FIRST_TIME, LAST_TIME
from weir.rdf.message_times import times_of
from weir.rdf.messages import NO_GRAPH_TEXT, Messages, Rejected, Terms, assemble

Column = tuple[Ids, pl.Series]
_LINES = (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS)
_BOM = b"\xef\xbb\xbf"
_SHOWN = 200
_REASON = 300


@dataclass(slots=True)
class Statements:
    """The statements of some payloads: columns of codes and texts, the payload of each row (ascending),
    and for payloads that are refused the line in them and the reason."""

    columns: list[Column]
    payload: Ids
    bad: dict[int, tuple[int, str]] = field(default_factory=dict)

    def texts(self, place: int, rows: Ids) -> list[str]:
        codes, texts = self.columns[place]
        out: list[str] = texts.gather(codes[rows]).to_list()
        return out


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
    base: str | None = None,
) -> Messages:
    """The messages of payloads of one lane, in order; a payload without statements is a heartbeat.

    ``times`` (µs) count before the declared predicate. ``positions`` ascend; those formats whose texts hold
    many messages add the byte at which each begins. What is rejected has the number of its payload, from
    1, as its line; with ``lines``, the lines of a file at which payloads begin, it has a line of the file.
    ``base`` resolves relative IRIs.
    """
    given: list[int | None] = [None] * len(payloads) if times is None else list(times)
    if format.syntax is None:
        return _many(payloads, format, scope, key, positions, given, time_predicate, lines, base)
    found = read_payloads(payloads, format, base=base)
    time, keep = _times(found, given, time_predicate)
    rejected = [
        Rejected(
            row + 1 if lines is None else lines[row] + max(line, 1) - 1,
            reason if lines is not None or not line else f"line {line} of the message: {reason}",
            shown(payloads[row]),
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


def read_payloads(payloads: Sequence[bytes], format: Format, *, base: str | None = None) -> Statements:
    """The statements of payloads, whatever their times."""
    assert format.syntax is not None
    bad: dict[int, tuple[int, str]] = {}
    chunks = []
    for number, text in enumerate(payloads):
        chunk = _as_lines(text, format.syntax, base)
        if isinstance(chunk, tuple):
            bad[number] = chunk
            chunk = b""
        chunks.append(chunk)
    counts = [chunk.count(b"\n") for chunk in chunks]
    payload = np.repeat(np.arange(len(chunks)), counts)
    firsts = np.cumsum([0, *counts])
    _, statements, _ = split_buffer(b"".join(chunks))
    columns, good, _, refused = read_columns(statements, b"")
    for row, reason in refused:
        number = int(payload[row])
        bad.setdefault(number, (int(row - firsts[number]) + 1 if format.syntax in _LINES else 0, reason))
    if format.syntax == ox.RdfFormat.N_TRIPLES:
        codes, texts = columns[3]
        for row in np.flatnonzero(good & (texts != NO_GRAPH_TEXT).to_numpy()[codes]).tolist():
            number = int(payload[row])
            bad.setdefault(number, (int(row - firsts[number]) + 1, "a graph name in N-Triples"))
    kept = [(codes[good], texts) for codes, texts in columns]
    out = Statements(kept, payload[good], bad)
    return out if format.syntax in _LINES else numbered(out)


def _as_lines(payload: bytes, syntax: ox.RdfFormat, base: str | None) -> bytes | tuple[int, str]:
    """The payload as lines of N-Quads, each with its end, or where and why it is none."""
    payload = payload.removeprefix(_BOM)
    reason = refusal(payload, syntax)
    if reason is not None:
        return 0, reason
    if syntax in _LINES:
        try:
            payload.decode()
        except UnicodeDecodeError as error:
            return payload.count(b"\n", 0, error.start) + 1, "invalid UTF-8"
        return payload if payload.endswith(b"\n") or not payload else payload + b"\n"
    try:
        quads = ox.parse(payload, format=syntax, base_iri=base)
        return ox.serialize(quads, format=ox.RdfFormat.N_QUADS) or b""
    except SyntaxError as error:
        return error.lineno or 0, _reason(error.msg)
    except (ValueError, MemoryError) as error:
        return 0, _reason(str(error) or "longer than the parser takes")


def _reason(text: str) -> str:
    if "LoadDocumentCallback" in text:
        return "a context by its address: contexts are not fetched; write it into the message"
    head, _, rest = text.partition(": ")
    text = rest if head.startswith("Parser error at") and rest else text
    return text if len(text) <= _REASON else text[:_REASON] + "…"


def numbered(found: Statements) -> Statements:
    """The same with blank nodes named by their order in their payload."""
    marks = []
    for place in (0, 2, 3):
        codes, texts = found.columns[place]
        blank: Mask = texts.str.starts_with("_:").to_numpy()
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
    names = every.unique(["payload", "text"], maintain_order=True).with_columns(
        name=pl.lit("_:b") + pl.int_range(pl.len()).over("payload").cast(pl.String)
    )
    renamed = every.join(
        names.select("payload", "text", "name"), on=["payload", "text"], maintain_order="left"
    )
    columns = list(found.columns)
    for place in (0, 2, 3):
        mine = renamed.filter(pl.col("place") == place)
        codes, texts = columns[place]
        fresh = codes.copy()
        fresh[mine["row"].to_numpy()] = np.arange(len(texts), len(texts) + len(mine))
        columns[place] = (fresh, pl.concat([texts.rename("t"), mine["name"].rename("t")]))
    return Statements(columns, found.payload, found.bad)


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


def _many(
    payloads: Sequence[bytes],
    format: Format,
    scope: str,
    key: bytes,
    positions: Sequence[int] | Ids,
    given: Sequence[int | None],
    predicate: str | None,
    lines: Sequence[int] | None,
    base: str | None,
) -> Messages:
    """The messages of payloads that hold a message per line."""
    if format.timed:
        return parse_pieces(payloads, positions, scope=scope, key=key)
    texts: list[bytes] = []
    places, times, numbers = [], [], []
    for number, (payload, place) in enumerate(zip(payloads, positions, strict=True)):
        for line, (begin, text) in enumerate(split_lines(payload)):
            if text:
                texts.append(text)
                places.append(place + begin)
                times.append(given[number])
                numbers.append(number + 1 if lines is None else lines[number] + line)
    return parse_payloads(
        texts,
        format_of("jsonld"),
        scope=scope,
        key=key,
        positions=places,
        times=times,
        time_predicate=predicate,
        lines=numbers,
        base=base,
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
