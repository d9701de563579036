"""``.tnq`` stream lines, ``TIME<TAB>STATEMENT``, a buffer at a time (docs/guide/streams.md, "Stream files").

Consecutive lines of equal time form one message; lines without a readable time are set aside and do not
part what stands around them. ``TIME<TAB>`` alone is a heartbeat; blank lines and ``#`` lines are skipped.

Lines are taken apart by compiled loops (``splitting``), terms are looked at once per distinct text, and
whatever is not canonical N-Triples or N-Quads goes through the strict parser, statement by statement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa
import pyoxigraph as ox

from weir.rdf.columns import Ids, Mask
from weir.rdf.formats.canonical import BLANK, IRI, NONE, UNSURE, Forms, forms_of, object_and_graph
from weir.rdf.formats.guarded_parser import read_statements
from weir.rdf.formats.times import FIRST_TIME, LAST_TIME, read_times
from weir.rdf.formats.tnq_few import MOST, parse_few
from weir.rdf.formats.tnq_split import PADDING, Bytes, Ranges, Split, line_texts, padded, split_lines
from weir.rdf.ids.encoding import position_keys
from weir.rdf.messages import NO_GRAPH_TEXT, Parsed, Rejected, Terms, assemble

BOM = b"\xef\xbb\xbf"
"""What some editors put before a text; it is no part of it."""

LONGEST = 1 << 24
"""Bytes of a line; the strict parser takes no more."""

_NEWLINE = 10
_SHOWN = 200


def parse_lines(data: bytes | Bytes, *, scope: str, key: bytes, base: int = 0) -> Parsed:
    """The messages of ``data``, whole lines that begin at byte ``base`` of their lane; an array is ``padded``
    already.

    Lines of what is rejected count from 1 within ``data``.
    """
    room = padded(data) if isinstance(data, bytes) else data
    return _parse(room, np.zeros(1, np.int64), np.array([base], np.int64), scope, key)


def parse_pieces(
    pieces: Sequence[bytes], positions: Sequence[int] | Ids, *, scope: str, key: bytes
) -> Parsed:
    """The messages of several texts of lines, each at its own position of the lane; none spans two texts.

    What is rejected has the number of its text, from 1, as its line.
    """
    if sum(map(len, pieces)) <= MOST:
        few = parse_few(pieces, positions, key)
        if few is not None:
            return few
    whole = [piece if piece.endswith(b"\n") or not piece else piece + b"\n" for piece in pieces]
    begins = np.cumsum([0, *(len(piece) for piece in whole)])[:-1]
    messages = _parse(padded(b"".join(whole)), begins, np.asarray(positions, np.int64), scope, key)
    if not messages.rejected:
        return messages
    lines = np.cumsum([0, *(piece.count(b"\n") for piece in whole)])
    return replace(messages, rejected=tuple(_in_piece(item, lines) for item in messages.rejected))


def _in_piece(item: Rejected, lines: Ids) -> Rejected:
    number = int(np.searchsorted(lines, item.line - 1, side="right"))
    line = item.line - int(lines[number - 1])
    several = lines[number] - lines[number - 1] > 1
    return Rejected(
        number, f"line {line} of the message: {item.reason}" if several else item.reason, item.text
    )


def _parse(data: Bytes, begins: Ids, positions: Ids, scope: str, key: bytes) -> Parsed:
    """The lines of texts that begin at the bytes ``begins`` of ``data`` and at ``positions`` of the lane."""
    split, time, timed, wrong = timed_lines(data)
    starts = split.starts
    ends = np.append(starts[1:], len(data) - PADDING)

    def line(row: int) -> str:
        return _beginning(data.data, int(starts[row]), int(ends[row]), True)

    rejected = [
        Rejected(row + 1, reason, _shown(line(row)))
        for row in np.flatnonzero(~timed).tolist()
        if (reason := _untimed(line(row), wrong.get(row), int(split.tab[row]))) is not None
    ]
    rows = np.flatnonzero(timed)
    seed = int(position_keys(key)[1])
    coded = [split.field(place, seed) for place in range(3)]
    columns, good, empty, refused = _read(
        [(codes if len(rows) == len(codes) else codes[rows], texts) for codes, texts in coded],
        lambda some: line_texts(data, split.tab[rows[some]] + 1, ends[rows[some]]),
    )
    rejected += [Rejected(int(rows[row]) + 1, reason, _shown(line(rows[row]))) for row, reason in refused]

    time, starts = time[rows], starts[rows]
    parted = np.concatenate([[True], time[1:] != time[:-1]]) if len(time) else np.empty(0, np.bool_)
    if len(begins) > 1:
        parted[np.unique(np.searchsorted(starts, begins[begins <= starts[-1:].max(initial=-1)]))] = True
    run = np.cumsum(parted) - 1
    kept = np.zeros(int(parted.sum()), np.bool_)
    kept[run[good | empty]] = True
    first = np.flatnonzero(parted)[kept]
    message = (np.cumsum(kept) - 1)[run[good]]
    text = np.searchsorted(begins, starts[first], side="right") - 1
    return assemble(
        time[first],
        positions[text] + starts[first] - begins[text],
        message,
        [Terms.of(codes[good], texts, key) for codes, texts in columns],
        scope=scope,
        key=key,
        rejected=sorted(rejected, key=lambda item: item.line),
    )


def split_buffer(data: bytes) -> tuple[pl.Series, dict[int, str]]:
    """The lines with their ends, and why some are not to be read (of these only the beginning is there)."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE) + 1
    if len(data) and (not len(ends) or ends[-1] != len(data)):
        ends = np.append(ends, len(data))
    offsets = np.concatenate([[0], ends])
    wrong = _unreadable(data, offsets)
    if wrong:
        bounds = enumerate(pairwise(offsets.tolist()))
        lines = [_beginning(data, begin, end, row in wrong) for row, (begin, end) in bounds]
        return pl.Series("lines", lines, pl.String), wrong
    every = pa.LargeStringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(data))
    return pl.Series("lines", every), {}


def _beginning(data: bytes | memoryview, begin: int, end: int, wrong: bool) -> str:
    return bytes(data[begin : min(end, begin + 2 * _SHOWN) if wrong else end]).decode(errors="replace")


def _unreadable(data: bytes | memoryview, offsets: Ids) -> dict[int, str]:
    """Why some lines are not to be read: they are not UTF-8, or so long that the strict parser would not take
    them."""
    wrong = dict.fromkeys(
        np.flatnonzero(np.diff(offsets) > LONGEST).tolist(), f"longer than {LONGEST >> 20} MiB"
    )
    if not _is_utf8(data):
        for row, (begin, end) in enumerate(pairwise(offsets.tolist())):
            if row not in wrong:
                try:
                    bytes(data[begin:end]).decode()
                except UnicodeDecodeError:
                    wrong[row] = "invalid UTF-8"
    return wrong


def _is_utf8(data: bytes | memoryview) -> bool:
    """Whether the whole is; lines cut at newlines then are too, and checking each costs far more."""
    whole = pa.py_buffer(np.array([0, len(data)], np.int64))
    try:
        pa.LargeStringArray.from_buffers(1, whole, pa.py_buffer(data)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def timed_lines(data: Bytes) -> tuple[Split, Ids, Mask, Mapping[int, str]]:
    """The lines of ``data``, which is ``padded``, the time of each in microseconds, which have one, and why
    some are not to be read at all."""
    split = split_lines(data)
    size = len(data) - PADDING
    wrong = _unreadable(data.data[:size], np.append(split.starts, size))
    split.leave_out(list(wrong))
    milliseconds = split.time
    timed = split.plain & (milliseconds >= FIRST_TIME // 1000) & (milliseconds <= LAST_TIME // 1000)
    time = np.where(timed, milliseconds, 0) * 1000
    others = np.flatnonzero((split.tab >= 0) & ~split.plain)
    if len(others):
        time[others], timed[others] = read_times(line_texts(data, split.starts[others], split.tab[others]))
    return split, time, timed, wrong


def _untimed(text: str, wrong: str | None, tab: int) -> str | None:
    """Why a line has no time; None where it need not."""
    if wrong is not None:
        return wrong
    if not text.strip() or text.startswith("#"):
        return None
    if tab < 0:
        return "no tab between time and statement"
    return "the time is neither milliseconds nor an xsd:dateTime of the years 1 to 9999"


def _shown(text: str) -> str:
    text = text.rstrip("\r\n")
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def read_columns(
    statement: pl.Series,
) -> tuple[list[tuple[Ids, pl.Series]], Mask, Mask, list[tuple[int, str]]]:
    """Statements without a time, as in graph files, read the same way."""
    fields = statement.str.splitn(" ", 3).struct.unnest().get_columns()
    columns, good, empty, refused = _read([_distinct(column) for column in fields], statement.gather)
    return [(codes, pl.Series(texts)) for codes, texts in columns], good, empty, refused


def _read(
    coded: Sequence[tuple[Ids, Ranges]], statements: Callable[[Ids], pl.Series]
) -> tuple[list[tuple[Ids, pa.LargeStringArray]], Mask, Mask, list[tuple[int, str]]]:
    """Columns (codes, texts) of all statements, which rows are good, which are empty, which are refused.

    ``coded`` are subjects, predicates and what follows; ``statements`` are the texts of some rows.
    """
    (subjects, subject_texts), (predicates, predicate_texts), (rests, rest_texts) = coded
    object_texts, graph_texts, whole = _objects(rest_texts)
    subject_forms, predicate_forms = _forms(subject_texts), _forms(predicate_texts)
    whole &= _forms(object_texts) != NONE
    resource = (subject_forms == IRI) | (subject_forms == BLANK)
    good = resource[subjects] & (predicate_forms == IRI)[predicates]
    graphs = (np.zeros(len(rests), np.int64), pa.array([NO_GRAPH_TEXT], pa.large_string()))
    if graph_texts is not None:
        forms = _forms(graph_texts)
        whole &= (forms == IRI) | (forms == BLANK) | (graph_texts.begin == graph_texts.end)
        graphs = (rests, graph_texts.texts())
    good &= whole[rests]
    columns = [
        (subjects, subject_texts.texts()),
        (predicates, predicate_texts.texts()),
        (rests, object_texts.texts()),
        graphs,
    ]
    empty = np.zeros(len(good), np.bool_)
    doubtful = np.flatnonzero(~good)
    if not len(doubtful):
        return columns, good, empty, []
    bodies = statements(doubtful).str.strip_chars(" \t\r\n").to_list()
    blank = np.array([not body or body.startswith("#") for body in bodies])
    empty[doubtful[blank]] = True
    doubtful = doubtful[~blank]
    found = read_statements([body for body in bodies if body and not body.startswith("#")])
    answers = list(zip(doubtful.tolist(), found, strict=True))
    mended = {row: answer for row, answer in answers if not isinstance(answer, str)}
    good[list(mended)] = True
    if mended:
        columns = [
            _with_rows(codes, texts, list(mended), [quad[place] for quad in mended.values()])
            for place, (codes, texts) in enumerate(columns)
        ]
    return columns, good, empty, [(row, why) for row, why in answers if isinstance(why, str)]


def _distinct(column: pl.Series) -> tuple[Ids, Ranges]:
    """Codes and distinct texts; a null, where a line has too few fields, is a text that no term has."""
    encoded = column.fill_null(" ").to_arrow().dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, Ranges.of(encoded.dictionary.cast(pa.large_string()))


def _with_rows(
    codes: Ids, texts: pa.LargeStringArray, rows: list[int], new: list[str]
) -> tuple[Ids, pa.LargeStringArray]:
    out = codes.copy()
    out[rows] = np.arange(len(texts), len(texts) + len(rows))
    return out, pa.concat_arrays([texts, pa.array(new, pa.large_string())])


def _objects(rests: Ranges) -> tuple[Ranges, Ranges | None, Mask]:
    """Object and graph texts of what follows the predicate, None where no graph is named, and which are ended
    by a full stop."""
    ends, begins, stops, whole = object_and_graph(rests.data, rests.begin, rests.end)
    named = bool((stops > begins).any())
    graphs = Ranges(rests.data, begins, stops) if named else None
    return Ranges(rests.data, rests.begin, ends), graphs, whole


def _forms(texts: Ranges) -> Forms:
    """The form of each text; the rare characters of IRIs are judged by the real parser."""
    found = forms_of(texts.data, texts.begin, texts.end)
    for row in np.flatnonzero(found == UNSURE).tolist():
        text = bytes(texts.data[texts.begin[row] + 1 : texts.end[row] - 1]).decode()
        try:
            ox.NamedNode(text)
        except ValueError:
            found[row] = NONE
        else:
            found[row] = IRI
    return found
